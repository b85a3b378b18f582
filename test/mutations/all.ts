import { readMutations } from "./mutation.ts";

const themes = [
  ...["locks", "matching", "markets", "money", "history", "limits", "keys", "passkeys", "staff"],
  ...["announcements", "accounts", "commands", "outcomes", "values"],
];

/** Every way in which the exchange is broken on purpose. */
export const mutations = themes.flatMap(readMutations);

/** Those of a short run: quick ones, of each kind. */
export const shortNames = [
  "fee_rounded_down",
  "merge_keeps_fees",
  "raise_at_once",
  "expiry_a_moment_late",
  "reference_of_everybody",
];
