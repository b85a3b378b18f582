import { minimumAge, signUp } from "../views/control.ts";
import type { Command, CommandField } from "./command.ts";
import { choice, flag, number, optional, reason, required, time, user } from "./parts.ts";

/** Of users and their access. */

const role = "users" as const;
const key: CommandField = {
  ...{ argument: "keyId", label: "Id of the key", kind: "uuid", isRequired: true },
};

export const freezeUser: Command = {
  ...{ name: "freeze_user", role, title: "Freeze the account", action: "Freeze" },
  fields: [
    user,
    reason,
    flag("cancelOrders", "Cancel the open orders", "yes"),
    flag("keepSessions", "Leave the sessions open"),
  ],
  ...{ returns: "value", result: "Cancelled orders" },
  confirm: ({ cancelOrders, keepSessions }) =>
    "The user can no longer trade. " +
    (keepSessions === true
      ? "The sessions stay open."
      : "All sessions end: every browser of the user is signed out. The user may sign in again. API keys stay.") +
    (cancelOrders === true ? " Cancelled orders do not come back." : " Open orders stay."),
};

export const unfreezeUser: Command = {
  ...{ name: "unfreeze_user", role, title: "End the freeze", action: "End the freeze" },
  fields: [user, reason],
  returns: "nothing",
};

export const endSessions: Command = {
  ...{ name: "end_sessions", role, title: "End all sessions", action: "End the sessions" },
  fields: [user],
  ...{ returns: "value", result: "Ended sessions" },
  confirm: "All browsers of the user are signed out. API keys stay.",
};

export const selfExclude: Command = {
  ...{ name: "self_exclude", role, title: "Exclude at the user's request", action: "Exclude" },
  fields: [user, time("until", "Until (UTC)", "Empty: for good.")],
  ...{ returns: "value", result: "Cancelled orders" },
  confirm: "Nobody can shorten it, but for a mistake and with the approval of a colleague.",
};

export const endSelfExclusion: Command = {
  ...{ name: "end_self_exclusion", role, title: "End the self-exclusion", action: "End it" },
  fields: [user, { ...reason, hint: "What the mistake was. Another member must approve it." }],
  returns: "nothing",
};

const limit = (argument: string, label: string): CommandField => ({
  ...{ argument, label, kind: "cents", isNullable: true },
});

export const setLossLimits: Command = {
  ...{ name: "set_loss_limits", role, title: "Loss limits", action: "Set the limits" },
  fields: [
    user,
    limit("dayCents", "Of a day, in euros"),
    limit("weekCents", "Of 7 days, in euros"),
    { ...limit("monthCents", "Of 30 days, in euros"), hint: "An empty field is no limit." },
    flag("immediate", "Raises hold at once and do not wait 24 hours"),
  ],
  returns: "nothing",
};

export const setRatePolicy: Command = {
  ...{ name: "set_rate_policy", role, title: "Rate policy", action: "Set the policy" },
  fields: [
    user,
    choice("tier", "Policy", ["standard", "elevated", "custom"]),
    number("requestsPerMinute", "Requests a minute, if custom"),
    number("burstCapacity", "Requests back to back, if custom"),
    time("expiresAt", "Until (UTC)"),
  ],
  returns: "nothing",
};

export const setProfile: Command = {
  ...{ name: "set_profile", role, title: "Profile", action: "Save" },
  keepsRest: true,
  fields: [
    user,
    optional("displayName", "Name"),
    {
      ...optional("avatarUrl", "Address of the picture", "It begins with https://. Empty: none."),
      emptied: { avatarUrl: "" },
    },
    flag("private", "The profile is private"),
    flag("leaderboardOptOut", "In no leaderboard"),
  ],
  returns: "nothing",
};

export const recoverAccount: Command = {
  ...{ name: "recover_account", role, title: "Recover the account", action: "Recover" },
  fields: [user, required("email", "E-mail", "The address that is proved to be the user's.")],
  returns: "nothing",
  confirm: "All access ends, and a link to set a password goes to this address.",
};

export const signInLink: Command = {
  ...{ name: "sign_in_link", role, title: "Link to sign in", action: "Make a link" },
  fields: [user],
  ...{ returns: "secret", result: "Path of the link, good once and for 15 minutes" },
};

export const createSession: Command = {
  ...{ name: "create_session", role, title: "New session", action: "Make a session" },
  fields: [
    user,
    { argument: "validFor", label: "Valid for so many days", kind: "days" },
    flag("isHostOnly", "For a site under https", "yes"),
  ],
  ...{ returns: "secret", result: "Value of the cookie" },
  confirm: "Anybody who has the cookie acts as this user.",
};

export const createApiKey: Command = {
  ...{ name: "create_api_key", role, title: "New API key", action: "Make a key" },
  fields: [
    user,
    required("name", "Name"),
    {
      ...{ argument: "scopes", label: "What it may do", kind: "list" },
      options: [
        ["read", "Read"],
        ["trade", "Trade"],
        ["read,trade", "Both"],
      ],
    },
    time("expiresAt", "Until (UTC)", "Empty: for good."),
    {
      ...{ argument: "allowedAddresses", label: "Only from", kind: "list" },
      hint: "Addresses and networks, with commas between them.",
    },
  ],
  ...{ returns: "secret", result: "The key" },
};

export const rotateApiKey: Command = {
  ...{ name: "rotate_api_key", role, title: "Rotate an API key", action: "Rotate" },
  fields: [
    key,
    { argument: "overlap", label: "The old key stays valid for so many days", kind: "days" },
  ],
  ...{ returns: "secret", result: "The new key" },
};

export const revokeApiKey: Command = {
  ...{ name: "revoke_api_key", role, title: "Revoke an API key", action: "Revoke" },
  fields: [key],
  returns: "nothing",
  confirm: "The key is invalid at once and for good.",
};

export const exportUser: Command = {
  ...{ name: "export_user", role, title: "Export", action: "Save the file" },
  fields: [user],
  ...{ returns: "file", result: "user" },
};

export const eraseUser: Command = {
  ...{ name: "erase_user", role, title: "Erase", action: "Erase the user" },
  fields: [user, { ...reason, hint: "It stays in the audit: do not name the person." }],
  returns: "nothing",
  confirm: "Names, addresses, keys, notes and mails are gone for good, and nobody can sign in.",
};

export const createUser: Command = {
  ...{ name: "create_user", role, title: "New user", action: "Make the user" },
  fields: [
    required("email", "E-mail"),
    required("displayName", "Name"),
    required("handle", "Handle"),
  ],
  ...{ returns: "value", result: "Id of the user" },
};

export const inviteUser: Command = {
  ...{ name: "invite_user", role, title: "Invite a user", action: "Invite" },
  fields: [required("email", "E-mail")],
  ...{ returns: "secret", result: "Path of a link to sign up; another one is mailed" },
};

export const setSignUp: Command = {
  ...{ name: "set_sign_up", role, title: "Sign-up", action: "Set it" },
  fields: [
    choice("policy", "Who may sign up", ["open", "invitation", "closed"]),
    {
      ...{ argument: "playMoneyCents", label: "Play money for each new account", kind: "cents" },
      hint: "Above 0 it needs the role cash.",
    },
  ],
  sets: { view: signUp },
  returns: "nothing",
};

export const setMinimumAge: Command = {
  ...{ name: "set_minimum_age", role, title: "Minimum age", action: "Set it" },
  fields: [
    {
      ...number("years", "Years", true),
      hint: "0: users are not asked. Who has not confirmed it cannot trade.",
    },
    reason,
  ],
  sets: { view: minimumAge },
  returns: "nothing",
};

export const addNote: Command = {
  ...{ name: "add_note", role, title: "Write a note", action: "Write the note" },
  fields: [
    user,
    {
      ...{ argument: "note", label: "Note", kind: "long", isRequired: true },
      hint: "For other staff. The user does not see it.",
    },
  ],
  returns: "nothing",
};
