import { approvalRules, rateLimits, streamCaps } from "../views/control.ts";
import type { Command } from "./command.ts";
import { pauseWords } from "./confirm.ts";
import {
  choice,
  market,
  member,
  number,
  optional,
  reason,
  required,
  roles,
  user,
} from "./parts.ts";

/** Of incidents, staff and approvals. */

export const setTradingPause: Command = {
  ...{ name: "set_trading_pause", role: "incidents", title: "Pause of the whole exchange" },
  action: "Set it",
  // Nothing is chosen before: in an incident the form waits for no query, and knows no state.
  fields: [
    {
      ...{
        argument: "paused",
        label: "Trading",
        kind: "choice",
        isRequired: true,
        isBoolean: true,
      },
      options: [
        ["true", "is paused"],
        ["false", "goes on"],
      ],
    },
    optional("reason", "Reason of the pause", "Traders read it."),
  ],
  returns: "nothing",
  confirm: pauseWords,
};

export const cancelOrders: Command = {
  ...{ name: "cancel_orders", role: "incidents", title: "Cancel the orders of a user" },
  action: "Cancel the orders",
  fields: [user, { ...market, isRequired: false, label: "Only in this market (id)" }],
  ...{ returns: "value", result: "Cancelled orders" },
  confirm: "Cancelled orders do not come back.",
};

export const runDue: Command = {
  ...{ name: "run_due", role: "incidents", title: "Do what is due", action: "Do it" },
  fields: [],
  ...{ returns: "value", result: "Done" },
};

export const refreshLeaderboard: Command = {
  ...{ name: "refresh_leaderboard", role: "incidents", title: "Refresh the leaderboard" },
  ...{ action: "Refresh", fields: [], returns: "value", result: "Time of the snapshot" },
};

export const setRateLimit: Command = {
  ...{ name: "set_rate_limit", role: "incidents", title: "Rate limit", action: "Set the limit" },
  fields: [
    required("bucket", "Limit"),
    number("maxRequests", "Requests", true),
    number("windowSeconds", "In seconds", true),
  ],
  sets: { view: rateLimits, by: "bucket" },
  returns: "nothing",
};

export const setStreamCap: Command = {
  ...{ name: "set_stream_cap", role: "incidents", title: "Cap of streams", action: "Set the cap" },
  fields: [
    choice("holder", "For each", ["address", "user"]),
    number("maxStreams", "Streams at most", true),
  ],
  sets: { view: streamCaps, by: "holder" },
  returns: "nothing",
};

export const createStaff: Command = {
  ...{ name: "create_staff", role: "staff", title: "New member of staff", action: "Invite" },
  fields: [
    required("email", "E-mail"),
    required("name", "Name"),
    roles,
    optional("login", "Login of the database"),
  ],
  ...{ returns: "value", result: "The invitation is in the mail. Id of the member" },
};

export const inviteStaff: Command = {
  ...{ name: "invite_staff", role: "staff", title: "Invite again", action: "Invite again" },
  fields: [member],
  returns: "nothing",
  confirm: "Password, passkeys and sessions of the member end, and a new invitation is mailed.",
};

export const setStaffRoles: Command = {
  ...{ name: "set_staff_roles", role: "staff", title: "Roles", action: "Set the roles" },
  fields: [member, roles],
  returns: "nothing",
};

export const removeStaff: Command = {
  ...{ name: "remove_staff", role: "staff", title: "Remove", action: "Remove" },
  fields: [member],
  returns: "nothing",
  confirm: "All access of the member ends at once and for good.",
};

export const removeStaffPasskey: Command = {
  ...{ name: "remove_staff_passkey", role: "staff", title: "Remove a passkey", action: "Remove" },
  fields: [{ argument: "passkeyId", label: "Id of the passkey", kind: "uuid", isRequired: true }],
  returns: "nothing",
  confirm: "Nobody signs in by it again, and the sessions of the member end.",
};

export const createStaffKey: Command = {
  ...{ name: "create_staff_key", role: "staff", title: "New key for programs" },
  action: "Make a key",
  fields: [required("name", "Name"), choice("role", "Of an", ["analyst", "operator"])],
  ...{ returns: "secret", result: "The key" },
};

export const revokeStaffKey: Command = {
  ...{ name: "revoke_staff_key", role: "staff", title: "Revoke a key", action: "Revoke" },
  fields: [{ argument: "keyId", label: "Id of the key", kind: "uuid", isRequired: true }],
  returns: "nothing",
  confirm: "The key is invalid at once and for good.",
};

export const setApprovalRule: Command = {
  ...{ name: "set_approval_rule", role: "staff", title: "Set a rule", action: "Set the rule" },
  fields: [
    required("command", "Command", "As the audit names it, such as resolve_market."),
    choice("role", "Role of who approves", [
      ...["audit", "cash", "incidents", "markets", "staff", "users"],
    ]),
    {
      ...{ argument: "fromCents", label: "From this amount on, in euros", kind: "cents" },
      hint: "Empty: every call.",
    },
  ],
  sets: { view: approvalRules, by: "command" },
  returns: "nothing",
};

export const removeApprovalRule: Command = {
  ...{ name: "remove_approval_rule", role: "staff", title: "Remove a rule" },
  action: "Remove the rule",
  fields: [required("command", "Command")],
  returns: "nothing",
  confirm: "Calls of this command then need no other member of staff.",
};

export const approve: Command = {
  ...{ name: "approve", role: null, title: "Approve", action: "Approve and carry out" },
  fields: [{ argument: "proposalId", label: "Id of the proposal", kind: "uuid", isRequired: true }],
  returns: "value",
  result: "Done",
  confirm: "The command is carried out at once.",
};

export const reject: Command = {
  ...{ name: "reject", role: null, title: "Reject", action: "Reject" },
  fields: [
    { argument: "proposalId", label: "Id of the proposal", kind: "uuid", isRequired: true },
    reason,
  ],
  returns: "nothing",
};
