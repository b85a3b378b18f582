import type { Condition } from "../views/view.ts";

/** Conditions that several pages ask about. */

/** The time for questions about what is due: it changes once a minute, and so do these. */
export function thisMinute(now = new Date()): string {
  return `${now.toISOString().slice(0, 16)}:00Z`;
}

/** Markets that wait for their outcome. */
export const closed: Condition = { status: { equalTo: "closed" } };

/** Markets past their close time that nobody has closed: a worker would. */
export function overdue(now = thisMinute()): Condition {
  return { status: { in: ["open", "paused"] }, closeTime: { lessThan: now } };
}

/** Closed, or past the close time, and not resolved. */
export function due(now = thisMinute()): Condition {
  return { or: [closed, overdue(now)] };
}

/** Not resolved, and of an exclusive event that leaves one outcome. */
export const decided: Condition = { proposedOutcome: { isNull: false } };

export const open: Condition = { status: { equalTo: "open" } };
export const waiting: Condition = { status: { equalTo: "waiting" } };
/** Disputes of resolutions. */
export const unanswered: Condition = { isOpen: { equalTo: true } };
export const paused: Condition = { status: { equalTo: "paused" } };
