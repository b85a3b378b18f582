import { accounts } from "./accounts.ts";
import { announcements } from "./announcements.ts";
import { commands } from "./commands.ts";
import { history } from "./history.ts";
import { keys } from "./keys.ts";
import { limits } from "./limits.ts";
import { locks } from "./locks.ts";
import { markets } from "./markets.ts";
import { matching } from "./matching.ts";
import { money } from "./money.ts";
import type { Mutation } from "./mutation.ts";
import { outcomes } from "./outcomes.ts";
import { passkeys } from "./passkeys.ts";
import { staff } from "./staff.ts";
import { dayValues } from "./values.ts";

/** Every way in which the exchange is broken on purpose. */
export const mutations: Mutation[] = [
  ...locks,
  ...matching,
  ...markets,
  ...money,
  ...history,
  ...limits,
  ...keys,
  ...passkeys,
  ...staff,
  ...announcements,
  ...accounts,
  ...commands,
  ...outcomes,
  ...dayValues,
];

/** Those of a short run: quick ones, of each kind. */
export const shortNames = [
  "fee_rounded_down",
  "merge_keeps_fees",
  "raise_at_once",
  "expiry_a_moment_late",
  "reference_of_everybody",
];
