import type { CommandField } from "./command.ts";

/** Fields that several commands have. */

export const user: CommandField = {
  ...{ argument: "userId", label: "User", kind: "user", isRequired: true },
  hint: "The id, the handle or the e-mail address.",
};
export const market: CommandField = {
  ...{ argument: "marketId", label: "Id of the market", kind: "uuid", isRequired: true },
};
export const event: CommandField = {
  ...{ argument: "eventId", label: "Id of the event", kind: "uuid", isRequired: true },
};
export const member: CommandField = {
  ...{ argument: "staffId", label: "Id of the member", kind: "uuid", isRequired: true },
};
export const reason: CommandField = {
  ...{ argument: "reason", label: "Reason", kind: "text", isRequired: true },
  hint: "It stays in the audit.",
};
export const amount: CommandField = {
  ...{ argument: "amountCents", label: "Amount in euros", kind: "cents", isRequired: true },
  isPositive: true,
};
export const reference: CommandField = {
  ...{ argument: "reference", label: "Reference", kind: "text", isRequired: true },
  hint: "Names this movement. With the same reference it happens only once.",
};
export const outcome: CommandField = {
  ...{ argument: "outcome", label: "Outcome", kind: "choice", isRequired: true },
  options: [
    ["yes", "YES"],
    ["no", "NO"],
    ["custom", "Custom: partly YES, partly NO"],
  ],
};
export const payout: CommandField = {
  ...{ argument: "yesPayoutCents", label: "Cents for a YES share", kind: "number" },
  hint: "From 0 to 100, and only if the outcome is custom.",
  neededIf: {
    ...{ argument: "outcome", is: "custom" },
    words: "A custom outcome needs the cents for a YES share.",
  },
};
export const roles: CommandField = {
  ...{ argument: "roles", label: "Roles", kind: "list", isRequired: true },
  hint: "Of audit, cash, incidents, markets, staff and users, with commas between them.",
};

export function required(argument: string, label: string, hint?: string): CommandField {
  return {
    ...{ argument, label, kind: "text", isRequired: true },
    ...(hint !== undefined && { hint }),
  };
}

export function optional(argument: string, label: string, hint?: string): CommandField {
  return { argument, label, kind: "text", ...(hint !== undefined && { hint }) };
}

export function number(argument: string, label: string, isRequired = false): CommandField {
  return { argument, label, kind: "number", isRequired };
}

export function time(argument: string, label: string, hint?: string): CommandField {
  return { argument, label, kind: "time", ...(hint !== undefined && { hint }) };
}

export function flag(argument: string, label: string, initial = ""): CommandField {
  return { argument, label, kind: "flag", initial };
}

export function day(argument: string, label: string): CommandField {
  return { argument, label, kind: "day", isRequired: true, hint: "In UTC, as 2026-11-24." };
}

/** One of some values, each with itself as its label. */
export function choice(argument: string, label: string, values: readonly string[]): CommandField {
  return {
    ...{ argument, label, kind: "choice", isRequired: true },
    options: values.map((one) => [one, one]),
  };
}
