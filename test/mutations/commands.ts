import type { Mutation } from "./mutation.ts";

/** Cancels of all orders, the dead man's switch, and idempotency keys of commands. */
export const commands: Mutation[] = [
  {
    name: "replacement_survives",
    breaks: "an order that replaces another escapes a cancel of all orders",
    from: "coalesce(min(c.id) <= comes_from_before.last_order_id, false)",
    to: "false",
    tests: ["db/api/cancel_all_orders"],
  },
  {
    name: "later_orders_cancelled_too",
    breaks: "a cancel of all orders takes those that come meanwhile",
    from: "b.order_id <= open_orders_until.last_order_id",
    to: "true",
    tests: ["db/api/cancel_all_orders"],
  },
  {
    name: "expired_counted_as_cancelled",
    breaks: "an order that had expired ends as cancelled by its user",
    from: "when o.expires_at <= cancel_together.at then",
    to: "when false then",
    tests: ["db/api/cancel_all_orders"],
  },
  {
    name: "switch_fires_silently",
    breaks: "a dead man's switch sends no events",
    from: "where cancel_together.announced",
    to: "where false",
    tests: ["db/api/set_dead_man"],
  },
  {
    name: "canceller_of_all_told",
    breaks: "a user who cancels all orders gets an event for each",
    from: "announced => false",
    to: "announced => true",
    tests: ["db/api/cancel_all_orders"],
  },
  {
    name: "cancelled_of_the_last_call",
    breaks: "a repeated cancel of all orders forgets what the calls before cancelled",
    from: "cancelled - cancel_all_orders.cancelled_before + coalesce((",
    to: "cancelled - cancel_all_orders.cancelled_before + 0 * coalesce((",
    tests: ["db/api/cancel_all_orders"],
  },
  {
    name: "renewed_too_late",
    breaks: "a dead man's switch is renewed after it has expired",
    from: "v_switch.fired_at is not null or v_switch.expires_at <= v_at",
    to: "v_switch.fired_at is not null",
    tests: ["db/api/set_dead_man"],
  },
  {
    name: "switch_fires_early",
    breaks: "a dead man's switch fires a moment early",
    from: "x.expires_at <= v_at",
    to: "x.expires_at <= v_at + interval '1 millisecond'",
    tests: ["db/api/set_dead_man"],
  },
  {
    name: "reply_kept_too_long",
    breaks: "the key of a command counts for longer than 24 hours",
    from: "v_at - interval '24 hours'",
    to: "v_at - interval '48 hours'",
    tests: ["db/api/set_dead_man"],
  },
  {
    name: "another_request_answered",
    breaks: "a key that another request used gets the answer of that one",
    from: "v_kept.request_fingerprint is distinct from find_reply.request_fingerprint",
    to: "false",
    tests: ["db/api/cancel_all_orders"],
  },
];
