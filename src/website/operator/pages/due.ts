import { timeNow } from "../../api/server_time.ts";
import type { Condition } from "../views/view.ts";

/** Conditions that several pages ask about. */

/**
 * Markets past their close time that nobody has closed: a worker would. The time in it, and so what
 * is asked for, changes once a minute.
 */
export function overdue(): Condition {
  const minute = `${new Date(timeNow()).toISOString().slice(0, 16)}:00Z`;
  return { status: { in: ["open", "paused"] }, closeTime: { lessThan: minute } };
}

/** Closed, or past the close time, and not resolved. */
export function due(): Condition {
  return { or: [{ status: { equalTo: "closed" } }, overdue()] };
}

/** Not resolved, and of an exclusive event that leaves one outcome. */
export const decided: Condition = { proposedOutcome: { isNull: false } };

export const open: Condition = { status: { equalTo: "open" } };
export const waiting: Condition = { status: { equalTo: "waiting" } };
/** Disputes of resolutions. */
export const unanswered: Condition = { isOpen: { equalTo: true } };
export const paused: Condition = { status: { equalTo: "paused" } };
