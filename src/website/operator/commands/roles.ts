/** What a member of staff may do, as admin.commands has it. */
export type Role = "audit" | "cash" | "incidents" | "markets" | "staff" | "users";
