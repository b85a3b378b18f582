import { addressAmong, uuid } from "../paths.ts";

/**
 * The paths of the pages of staff. The server answers other paths below /operator with status 404;
 * the pages choose by these what to show.
 */

/** The lists that have a page of their own, as they stand in the address. */
export const listNames = [
  "orders",
  "trades",
  "positions",
  "journals",
  "settlements",
  "resolutions",
  "voids",
  "voided-positions",
  "conversions",
  "reductions",
  "payouts",
  "receivables",
  "closed-days",
  "closed-figures",
  "reconciliations",
  "verifications",
  "mails",
  "api-keys",
  "unconfirmed",
  "fees",
  "notes",
  "processes",
  "jobs",
  "blocks",
  "escrow",
  "fee-days",
] as const;

/** One of the lists that have a page of their own. */
export type ListName = (typeof listNames)[number];

const patterns = {
  overview: /^\/operator$/,
  welcome: /^\/operator\/welcome$/,
  resolutions: /^\/operator\/resolutions$/,
  markets: /^\/operator\/markets$/,
  market: new RegExp(`^/operator/markets/(${uuid})$`),
  events: /^\/operator\/events$/,
  event: new RegExp(`^/operator/events/(${uuid})$`),
  incidents: /^\/operator\/incidents$/,
  safety: /^\/operator\/safety$/,
  surveillance: /^\/operator\/surveillance$/,
  users: /^\/operator\/users$/,
  user: new RegExp(`^/operator/users/(${uuid})$`),
  cash: /^\/operator\/cash$/,
  proposals: /^\/operator\/proposals$/,
  proposal: new RegExp(`^/operator/proposals/(${uuid})$`),
  staff: /^\/operator\/staff$/,
  audit: /^\/operator\/audit$/,
  settings: /^\/operator\/settings$/,
  list: new RegExp(`^/operator/lists/(${listNames.join("|")})$`),
} as const;

/** Which page of staff a path shows. */
export type StaffPageName = keyof typeof patterns;

/** A page of staff, and the id or the list that its path names, if it names one. */
export interface StaffPageAddress {
  name: StaffPageName;
  id: string;
}

/** The page of staff at a path; undefined for a path without one. */
export function staffPageAt(path: string): StaffPageAddress | undefined {
  return addressAmong(patterns, path);
}

/** Whether a path shows a page of staff. */
export function isStaffPath(path: string): boolean {
  return staffPageAt(path) !== undefined;
}

/** Whether a path is one of those that only pages of staff may have. */
export function isBelowOperator(path: string): boolean {
  return path === "/operator" || path.startsWith("/operator/");
}
