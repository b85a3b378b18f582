import type { RequestHandler, Response } from "express";
import type { Pool } from "pg";
import { authenticateStaffKey } from "../database/api.ts";
import type { Staff, StaffRole } from "../database/api.ts";
import { withRetries } from "../database/failures.ts";
import { ProblemError, refusal } from "../errors.ts";
import { hashApiKey, isWellFormedApiKey } from "./api_key.ts";
import { tokenOf } from "./authentication.ts";

const prefixes = { analyst: "ja_", operator: "jo_" } as const;

/**
 * Lets only those pass who bring a key of this role. The database is asked each time, so that a
 * key that was revoked is worth nothing from then on.
 */
export function requireStaff(pool: Pool, role: StaffRole): RequestHandler {
  return async (request, response, next) => {
    const key = tokenOf(request);
    const staff =
      key !== undefined && isWellFormedApiKey(key, prefixes[role])
        ? await withRetries(pool, (client) => authenticateStaffKey(client, hashApiKey(key)))
        : undefined;
    if (staff?.role !== role) throw new ProblemError(refusal("UNAUTHORIZED"));
    response.locals.staff = staff;
    next();
  };
}

/** Who calls, on a route behind {@link requireStaff}. */
export function staffOf(response: Response): Staff {
  const staff = response.locals.staff as Staff | undefined;
  if (staff === undefined) throw new Error("This route does not ask who calls");
  return staff;
}
