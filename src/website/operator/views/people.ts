import { byUser, cents, choice, count, email, flag, isSet, text, time, user } from "./parts.ts";
import type { View } from "./view.ts";

/** Users, their access, and mails. */

export const users: View = {
  ...{ title: "Users", list: "allUsers", type: "User" },
  columns: [
    { field: "userId", label: "User", kind: "user", name: ["self", "handle"] },
    text("displayName", "Name"),
    email,
    cents("balanceCents", "Cash", true),
    cents("netDepositsCents", "Net deposits", true),
    time("frozenAt", "Frozen since"),
    time("excludedUntil", "Self-excluded until"),
    time("createdAt", "Since", true),
  ],
  filters: [
    {
      ...{ name: "search", label: "Part of e-mail, name, handle or id", kind: "contains" },
      field: "searchText",
    },
    isSet("frozen", "frozenAt", "Frozen"),
    choice("rateTier", "Rate policy", ["standard", "elevated", "custom"]),
  ],
  order: "USER_KEY_DESC",
  empty: "No users.",
};

export const apiKeys: View = {
  ...{ title: "API keys", list: "allApiKeys", type: "ApiKey" },
  columns: [
    text("name", "Name"),
    user,
    { field: "scopes", label: "May", kind: "list" },
    time("createdAt", "Made", true),
    time("lastUsedAt", "Last used", true),
    text("lastUsedAddress", "From"),
    time("expiresAt", "Expires"),
    time("revokedAt", "Revoked"),
    { field: "allowedAddresses", label: "Only from", kind: "list" },
    text("keyPrefix", "Begins with"),
    { field: "keyId", label: "Key", kind: "id" },
    { field: "replaces", label: "Instead of", kind: "id" },
  ],
  filters: [
    { name: "key", label: "A key, or how it begins", kind: "keyPrefix", field: "keyPrefix" },
    byUser,
    isSet("revoked", "revokedAt", "Revoked"),
    { name: "name", label: "Name", kind: "contains", field: "name" },
  ],
  order: "KEY_ID_DESC",
  empty: "No API keys.",
};

export const mails: View = {
  ...{ title: "Mails of the last 30 days", list: "allMail", type: "Mail" },
  columns: [
    time("createdAt", "Written", true),
    text("kind", "Kind"),
    text("address", "To"),
    user,
    text("status", "Status"),
    count("attempts", "Attempts", true),
    time("dueAt", "Next attempt", true),
    time("sentAt", "Sent"),
    text("lastError", "Last error"),
  ],
  filters: [
    byUser,
    choice("status", "Status", ["waiting", "sent", "given_up"]),
    { name: "address", label: "Address", kind: "contains", field: "address" },
    { name: "kind", label: "Kind", kind: "equals", field: "kind" },
  ],
  order: "MAIL_KEY_DESC",
  empty: "No mails.",
};

export const unconfirmed: View = {
  ...{ title: "Unconfirmed addresses", list: "allUnconfirmedEmails", type: "UnconfirmedEmail" },
  columns: [
    time("createdAt", "Given", true),
    text("email", "E-mail"),
    text("handle", "Handle to be"),
    flag("isSignUp", "New account"),
    user,
  ],
  filters: [byUser, { name: "email", label: "E-mail", kind: "contains", field: "email" }],
  order: "CREATED_AT_DESC",
  empty: "All addresses are confirmed.",
};

export const staff: View = {
  ...{ title: "Staff", list: "allStaff", type: "Staff" },
  columns: [
    { field: "staffId", label: "Member", kind: "member", name: ["self", "name"] },
    text("email", "E-mail"),
    { field: "roles", label: "Roles", kind: "list" },
    text("login", "Login of the database"),
    flag("hasAccepted", "Accepted"),
    count("passkeys", "Passkeys"),
    time("lastSignInAt", "Last sign-in"),
    time("createdAt", "Since", true),
    time("removedAt", "Removed"),
  ],
  filters: [
    {
      name: "search",
      label: "Name or e-mail",
      kind: "search",
      field: ["name", "email", "staffId"],
    },
    isSet("removed", "removedAt", "Removed"),
  ],
  order: "STAFF_KEY_DESC",
  empty: "No staff.",
};

export const staffKeys: View = {
  ...{ title: "Keys of staff", list: "allStaffKeys", type: "StaffKey" },
  columns: [
    text("name", "Name"),
    text("role", "Of an"),
    time("createdAt", "Made", true),
    time("lastUsedAt", "Last used", true),
    time("revokedAt", "Revoked"),
    { field: "staffId", label: "Member", kind: "member" },
    { field: "keyId", label: "Key", kind: "id" },
  ],
  filters: [
    isSet("revoked", "revokedAt", "Revoked"),
    { name: "member", label: "Id of the member", kind: "uuid", field: "staffId" },
  ],
  order: "CREATED_AT_DESC",
  empty: "No keys.",
};

export const staffPasskeys: View = {
  ...{ title: "Passkeys of staff", list: "allStaffPasskeys", type: "StaffPasskey" },
  columns: [
    text("staffName", "Member"),
    text("name", "Name"),
    time("createdAt", "Added", true),
    time("lastUsedAt", "Last used", true),
    text("lastUsedAddress", "From"),
    { field: "passkeyId", label: "Passkey", kind: "id" },
  ],
  filters: [{ name: "member", label: "Id of the member", kind: "uuid", field: "staffId" }],
  order: "CREATED_AT_DESC",
  empty: "No passkeys.",
};

export const notes: View = {
  ...{ title: "Notes", list: "allNotes", type: "Note" },
  columns: [
    time("writtenAt", "When", true),
    { field: "userId", label: "User", kind: "user" },
    text("note", "Note"),
    text("staffName", "Member"),
    text("operator", "Login"),
  ],
  filters: [
    byUser,
    { name: "note", label: "Words of the note", kind: "contains", field: "note" },
    { name: "member", label: "Name of the member", kind: "contains", field: "staffName" },
  ],
  order: "NOTE_KEY_DESC",
  empty: "No notes.",
};
