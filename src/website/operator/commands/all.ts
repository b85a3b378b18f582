import * as cash from "./cash.ts";
import * as control from "./control.ts";
import * as markets from "./markets.ts";
import * as users from "./users.ts";

/** Every declared command, by its name in these pages. */
export const commands = { ...cash, ...control, ...markets, ...users };

/** Commands that no form gives, and why. */
export const withoutForm: Record<string, string> = {
  list_api_keys: "the list of API keys shows more",
  list_staff_keys: "the list of keys of staff shows more",
  preview_resolution: "the page of a market asks it and shows its rows",
  propose: "every form offers it when a rule asks for an approval",
  user_access: "the page of a user asks it and shows its rows",
};
