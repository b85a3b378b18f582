import { paidBy } from "../api/bonus.ts";
import type { Bonus } from "../api/bonus.ts";
import { cashCaps } from "../views/cash.ts";
import { cents, text, time as timeColumn } from "../views/parts.ts";
import type { Command, CommandField } from "./command.ts";
import {
  adjustmentWords,
  depositWords,
  feePayoutWords,
  feeWords,
  reversalWords,
  withdrawalWords,
} from "./confirm.ts";
import {
  amount,
  choice,
  day,
  market,
  number,
  optional,
  reason,
  reference,
  required,
  time,
  user,
} from "./parts.ts";

/** Of cash and fees. */

const role = "cash" as const;

function cap(argument: string, label: string): CommandField {
  return { argument, label, kind: "cents", isNullable: true, hint: "Empty: no cap." };
}

export const deposit: Command = {
  ...{ name: "deposit", role, title: "Deposit", action: "Book the deposit" },
  fields: [user, amount, reference],
  books: "deposit",
  ...{ returns: "cents", result: "The user's cash after it" },
  confirm: depositWords,
};

export const withdraw: Command = {
  ...{ name: "withdraw", role, title: "Withdraw", action: "Book the withdrawal" },
  fields: [user, amount, reference],
  books: "withdrawal",
  ...{ returns: "cents", result: "The user's cash after it" },
  confirm: withdrawalWords,
};

export const adjustBalance: Command = {
  ...{ name: "adjust_balance", role, title: "Adjust the cash", action: "Adjust it" },
  fields: [
    user,
    { ...amount, isPositive: false, hint: "With a minus sign it takes cash away." },
    reference,
    reason,
  ],
  books: "adjustment",
  ...{ returns: "cents", result: "The user's cash after it" },
  confirm: (given, about) =>
    `${adjustmentWords(given, about)} Only another adjustment makes up for it.`,
};

export const reverseDeposit: Command = {
  ...{ name: "reverse_deposit", role, title: "Reverse a deposit", action: "Reverse it" },
  fields: [
    required("reference", "Reference of the deposit"),
    reason,
    { ...user, isRequired: false, hint: "Only if several have a deposit of this reference." },
  ],
  books: "reversal",
  ...{ returns: "cents", result: "The user's cash after it" },
  confirm: (given, about) =>
    `${reversalWords(given, about)} The cash of the user may go below zero. A deposit is reversed once.`,
};

export const payOutFees: Command = {
  ...{ name: "pay_out_fees", role, title: "Pay out fees", action: "Pay out" },
  fields: [amount, reference],
  books: "fee_payout",
  ...{ returns: "cents", result: "Fees that are left" },
  confirm: (given) => `${feePayoutWords(given)} They leave the exchange.`,
};

export const setFeeSchedule: Command = {
  ...{ name: "set_fee_schedule", role, title: "Set the taker's fee", action: "Set the fee" },
  fields: [
    {
      ...{ argument: "takerRateBps", label: "Taker's fee in percent", kind: "percent" },
      ...{ isRequired: true, hint: "With two decimals at most, as the lists show it: 1.75." },
    },
    optional("category", "Only in this category"),
    { ...market, isRequired: false, label: "Only in this market (id)" },
    time("effectiveFrom", "From (UTC)", "Empty: from now on."),
  ],
  ...{ returns: "value", result: "Number of the schedule" },
  confirm: (given, about) =>
    `${feeWords(given, about)} Once it is in force, only a later one replaces it.`,
};

export const cancelFeeSchedule: Command = {
  ...{ name: "cancel_fee_schedule", role, title: "Withdraw a later fee", action: "Withdraw it" },
  fields: [
    {
      ...number("scheduleId", "Number of the schedule", true),
      hint: "Only of one that is not in force yet.",
    },
  ],
  returns: "nothing",
  confirm: ({ scheduleId }) =>
    `Withdraw the schedule ${String(scheduleId)}? It will never be in force.`,
};

export const setCashCap: Command = {
  ...{ name: "set_cash_cap", role: "staff", title: "Cap of cash", action: "Set the cap" },
  fields: [
    choice("kind", "Kind of movement", [
      ...["deposit", "withdrawal", "bonus", "adjustment", "reversal", "fee_payout"],
    ]),
    cap("perCallCents", "By one call, in euros"),
    cap("perDayCents", "By one member of staff in a day (UTC), in euros"),
  ],
  sets: { view: cashCaps, by: "kind" },
  returns: "nothing",
};

/** The page of bonuses makes its arguments of a pasted CSV. */
export const giveBonus: Command = {
  ...{ name: "give_bonus", role, title: "Give a bonus", action: "Pay the bonus" },
  fields: [
    required("name", "Name of the bonus", "With the same name each user gets it only once."),
    { argument: "users", label: "Users and amounts", kind: "json", isRequired: true },
  ],
  ...{ returns: "value", result: "Users who were paid now" },
  confirm: ({ name, users }) =>
    `Bonus “${String(name)}”: ${paidBy(users as Bonus[])} in all. The cash is added at once.`,
};

export const statement: Command = {
  ...{ name: "statement", role: null, title: "Statement of a user", action: "Show the statement" },
  fields: [user, day("fromDay", "First day"), day("toDay", "Last day")],
  returns: "rows",
  columns: [
    timeColumn("at", "When"),
    text("kind", "Kind"),
    cents("amountCents", "Amount"),
    cents("balanceCents", "Cash after it"),
    text("marketTitle", "Market"),
    text("reference", "Reference"),
  ],
};

export const reconcile: Command = {
  ...{ name: "reconcile", role, title: "Compare a day with the bank", action: "Compare" },
  fields: [
    day("day", "Day"),
    {
      ...{ argument: "bank", label: "Entries of the bank as JSON", kind: "json", isRequired: true },
      hint: 'Such as [{"reference": "bank 1", "amount_cents": 500}], above zero for what came in.',
    },
  ],
  returns: "rows",
  columns: [
    text("reference", "Reference"),
    cents("oursCents", "Ours"),
    cents("bankCents", "The bank's"),
    cents("differenceCents", "Difference"),
  ],
  none: ({ bank }) => {
    const count = Array.isArray(bank) ? bank.length : 0;
    return `${count} ${count === 1 ? "entry agrees" : "entries agree"}, no difference.`;
  },
};

export const publishProof: Command = {
  ...{ name: "publish_proof", role, title: "Publish a proof of balances", action: "Publish" },
  fields: [],
  returns: "rows",
  columns: [text("root", "Root"), cents("totalCents", "Total")],
};

export const closeDay: Command = {
  ...{ name: "close_day", role, title: "Close the books of a day", action: "Close the day" },
  fields: [
    day("day", "Day"),
    optional("reason", "Reason", "Needed if the bank's amounts differ from ours."),
  ],
  returns: "nothing",
  confirm: ({ day: closed }) => `Close the books of ${String(closed)}? That is for good.`,
};
