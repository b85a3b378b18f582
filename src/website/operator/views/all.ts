import type { ListName } from "../paths.ts";
import * as cash from "./cash.ts";
import * as catalogue from "./catalogue.ts";
import * as control from "./control.ts";
import * as people from "./people.ts";
import * as surveillance from "./surveillance.ts";
import * as trading from "./trading.ts";
import type { View } from "./view.ts";

/** Every declared view, by its name in these pages. */
export const views = { ...cash, ...catalogue, ...control, ...people, ...surveillance, ...trading };

/** The lists that have a page of their own. */
export const listed: Record<ListName, View> = {
  orders: views.orders,
  trades: views.trades,
  positions: views.positions,
  journals: views.journals,
  settlements: views.settlements,
  resolutions: views.resolutions,
  voids: views.voids,
  "voided-positions": views.voidedPositions,
  conversions: views.conversions,
  reductions: views.reductions,
  payouts: views.feePayouts,
  receivables: views.receivables,
  "closed-days": views.closedDays,
  "closed-figures": views.closedFigures,
  reconciliations: views.reconciliations,
  verifications: views.verifications,
  mails: views.mails,
  "api-keys": views.apiKeys,
  unconfirmed: views.unconfirmed,
  fees: views.feeSchedules,
  notes: views.notes,
  processes: views.processes,
  jobs: views.jobs,
  blocks: views.blocks,
  escrow: views.openInterest,
  "fee-days": views.feeRevenue,
};
