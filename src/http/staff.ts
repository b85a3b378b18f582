import type { Response } from "express";
import type { Staff, StaffRole } from "../database/calls.ts";
import type { SecretPrefix } from "./api_key.ts";

/** How the keys of each role begin. */
export const staffPrefixes = { analyst: "ja_", operator: "jo_" } as const satisfies Record<
  StaffRole,
  SecretPrefix
>;

/** Notes who of the staff calls. */
export function setStaff(response: Response, staff: Staff): void {
  response.locals.staff = staff;
}

/** Who of the staff calls, on a route behind a gate that asks. */
export function staffOf(response: Response): Staff {
  const staff = response.locals.staff as Staff | undefined;
  if (staff === undefined) throw new Error("This route does not ask who calls");
  return staff;
}
