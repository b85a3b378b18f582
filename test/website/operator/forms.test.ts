import test from "ava";
import { commands } from "../../../src/website/operator/commands/all.ts";
import {
  fieldsToSend,
  readArguments,
  textsInForce,
} from "../../../src/website/operator/commands/arguments.ts";
import { confirmWords } from "../../../src/website/operator/commands/confirm.ts";
import type { Command } from "../../../src/website/operator/commands/command.ts";
import type { Row } from "../../../src/website/operator/views/query.ts";

/** What forms of staff begin with, what they send, and what is asked before. */

const id = "0193d0a0-0000-7000-8000-000000000001";
const other = "0193d0a0-0000-7000-8000-000000000002";

test("fields of a form become arguments, or say what is wrong", (t) => {
  const given = { userId: id };
  const deposit = { amountCents: "12.50", reference: "bank 1" };
  t.deepEqual(readArguments(commands.deposit, deposit, given), {
    ok: true,
    given: { userId: id, amountCents: "1250", reference: "bank 1" },
  });
  const wrong = readArguments(commands.deposit, { amountCents: "x" }, given);
  t.deepEqual(wrong.ok ? [] : Object.keys(wrong.issues), ["amountCents", "reference"]);
  t.deepEqual(readArguments(commands.setLossLimits, { dayCents: "10" }, given), {
    ok: true,
    given: { ...given, dayCents: "1000", weekCents: null, monthCents: null, immediate: false },
  });
  const resolve = { marketId: "no id", outcome: "custom", yesPayoutCents: "4o" };
  const refused = readArguments(commands.resolveMarket, resolve);
  t.deepEqual(refused.ok ? [] : Object.keys(refused.issues), ["marketId", "yesPayoutCents"]);
  t.deepEqual(readArguments(commands.createSession, { validFor: "2" }, given), {
    ok: true,
    given: { ...given, validFor: { days: 2 }, isHostOnly: false },
  });
});

test("a form of what is set sends what changed, and says which field cannot be empty", (t) => {
  const before = { title: "Rain?", description: "Much", closeTime: "2030-01-01T00:00" };
  const read = (typed: Record<string, string>) => {
    const { fields } = fieldsToSend(commands.editMarket, { ...before, ...typed }, before);
    return readArguments({ ...commands.editMarket, fields }, typed);
  };
  t.deepEqual(read({ title: "Rain?", position: "" }), { ok: true, given: {} });
  t.deepEqual(read({ description: " ", closeTime: "" }), {
    ok: true,
    given: { description: "", noCloseTime: true },
  });
  t.deepEqual(read({ title: "", description: "More" }), {
    ok: false,
    issues: { title: "This cannot be emptied here." },
  });
});

/** What a form of what is in force asks and sends, after these fields were changed. */
function sentOf(command: Command, rows: Row[], changed: Record<string, string>): unknown {
  const before = textsInForce({ ...command, sets: command.sets! }, rows, changed);
  const typed = { ...before, ...changed };
  const { isUnchanged } = fieldsToSend(command, typed, before);
  const read = readArguments(command, typed);
  if (!read.ok) return read.issues;
  if (isUnchanged) return "unchanged";
  return read.given;
}

test("a pause is chosen, and its question says what is done", (t) => {
  const { setTradingPause: command } = commands;
  const asked = (typed: Record<string, string>) => {
    const read = readArguments(command, typed);
    return read.ok ? [confirmWords(command, read.given), read.given] : read.issues;
  };
  t.deepEqual(asked({ reason: "Until 12" }), { paused: "This is required." });
  t.deepEqual(asked({ paused: "false" }), [
    "Resume trading in the whole exchange?",
    { paused: false },
  ]);
  const [words, given] = asked({ paused: "true", reason: "Until 12" }) as [string, unknown];
  t.regex(words, /^Pause .*\? .* Orders that wait for their release are cancelled then\./);
  t.deepEqual(given, { paused: true, reason: "Until 12" });
});

test("what is set as it is already is not sent", (t) => {
  const { setMarketSource, setLossLimits } = commands;
  const rules = { rules: "The minutes", sourceUrl: "" };
  t.true(fieldsToSend(setMarketSource, rules, rules).isUnchanged);
  t.false(fieldsToSend(setMarketSource, { ...rules, rules: "" }, rules).isUnchanged);
  // The limits in force, set again, put away those that wait.
  t.false(fieldsToSend(setLossLimits, { dayCents: "5" }, { dayCents: "5" }).isUnchanged);
});

test("a field that is left alone keeps what is in force, in the row that was chosen", (t) => {
  const { setCashCap, setSignUp, setRateLimit, setApprovalRule, setMinimumAge } = commands;
  const given = sentOf;
  const caps = [
    { kind: "deposit", perCallCents: "100000", perDayCents: null },
    { kind: "bonus", perCallCents: "500", perDayCents: "2500" },
  ];
  t.deepEqual(given(setCashCap, caps, { kind: "bonus", perCallCents: "6" }), {
    ...{ kind: "bonus", perCallCents: "600", perDayCents: "2500" },
  });
  t.is(given(setCashCap, caps, { kind: "deposit" }), "unchanged");
  const signUp = [{ policy: "invitation", playMoneyCents: "5000" }];
  t.deepEqual(given(setSignUp, signUp, { policy: "open" }), {
    ...{ policy: "open", playMoneyCents: "5000" },
  });
  const limits = [{ bucket: "v1-user", maxRequests: 120, windowSeconds: 60 }];
  t.deepEqual(given(setRateLimit, limits, { bucket: "v1-user ", maxRequests: "90" }), {
    ...{ bucket: "v1-user", maxRequests: 90, windowSeconds: 60 },
  });
  const rules = [{ command: "deposit", role: "cash", fromCents: "100000" }];
  t.deepEqual(given(setApprovalRule, rules, { command: "deposit", role: "audit" }), {
    ...{ command: "deposit", role: "audit", fromCents: "100000" },
  });
  t.deepEqual(given(setApprovalRule, rules, { command: "withdraw", role: "audit" }), {
    ...{ command: "withdraw", role: "audit" },
  });
  t.deepEqual(given(setMinimumAge, [{ years: 18 }], {}), { reason: "This is required." });
});

test("each form that sets a whole state begins with it", (t) => {
  const all: Command[] = Object.values(commands);
  for (const { name, fields, sets } of all) {
    if (sets === undefined) continue;
    const { view, by } = sets;
    const shown = view.columns.map(({ field }) => field);
    const arguments_ = fields.map(({ argument }) => argument);
    const unknown = arguments_.filter((one) => !shown.includes(one));
    t.true(unknown.every((one) => one === "reason") && unknown.length < fields.length, name);
    t.true(by === undefined || shown.includes(by), name);
  }
  const others = all.filter(({ name, sets }) => name.startsWith("set_") && sets === undefined);
  t.deepEqual(
    others.map(({ name }) => name).sort(),
    [
      // Their pages know the user, the market, the event or the member.
      ...["set_event_live", "set_loss_limits", "set_market_source", "set_profile"],
      ...["set_rate_policy", "set_staff_roles"],
      // It comes to the others, and what is left out is no state.
      ...["set_fee_schedule", "set_market_status"],
      // An incident waits for no query.
      "set_trading_pause",
    ].sort(),
  );
});

test("a question before a command names what it is about, and its values", (t) => {
  const asks = (
    name: keyof typeof commands,
    typed: Record<string, string>,
    about?: string,
  ): string => {
    const given = { marketId: id, userId: other };
    const read = readArguments(commands[name], { reason: "why", ...typed }, given);
    if (!read.ok) return JSON.stringify(read.issues);
    return confirmWords(commands[name], read.given, about) ?? "";
  };
  const outcomes = [
    [{ outcome: "yes" }, "as YES? A YES share is paid €1.00, a NO share nothing."],
    [{ outcome: "no" }, "as NO? A YES share is paid nothing, a NO share €1.00."],
    [
      { outcome: "custom", yesPayoutCents: "35" },
      "as custom? A YES share is paid €0.35, a NO share €0.65.",
    ],
  ] as const;
  for (const [typed, words] of outcomes) {
    t.true(asks("resolveMarket", typed, "Rain?").startsWith(`Resolve “Rain?” ${words} `));
    const corrects = `Correct “Rain?” ${words.replace(/^as/, "to")} What was paid is taken back`;
    t.true(asks("correctResolution", typed, "Rain?").startsWith(corrects));
  }
  const asked = (...question: Parameters<typeof asks>): string =>
    asks(...question).replace(/\?.*/, "?");
  // A market that was closed loses its close time, and one that was paused does not.
  const opens = asks("setMarketStatus", { status: "open" }, "Rain");
  t.true(opens.startsWith("Open “Rain”? If it is closed, it then has no close time;"));
  const until = asks("setMarketStatus", { status: "open", closeTime: "2030-01-02T03:04" }, "Rain");
  t.is(
    until,
    "Open “Rain” until 2 Jan 2030, 03:04:00 UTC? Open orders that it still has stay in the book.",
  );
  t.is(asked("voidMarket", {}, "Rain"), "Undo all trades of “Rain”?");
  t.is(asked("voidTrade", { tradeId: id }, "Rain"), `Undo the trade ${id} in “Rain”?`);
  for (const amountCents of ["1,234.50", "1.234,50"]) {
    const typed = { amountCents, reference: "bank 1" };
    t.is(
      asks("deposit", typed, "Anna"),
      "Book a deposit of €1,234.50 for Anna, reference “bank 1”?",
    );
    t.is(
      asks("withdraw", typed, "Anna"),
      "Book a withdrawal of €1,234.50 by Anna, reference “bank 1”?",
    );
    t.is(asked("payOutFees", typed), "Pay out €1,234.50 of the fees, reference “bank 1”?");
  }
  const adjusts = (amountCents: string): string =>
    asked("adjustBalance", { amountCents, reference: "r" }, "Anna");
  t.is(adjusts("-5"), "Take €5.00 from the cash of Anna, reference “r”?");
  t.is(adjusts("5"), "Add €5.00 to the cash of Anna, reference “r”?");
  t.is(asked("reverseDeposit", { reference: "r" }), "Reverse the deposit with the reference “r”?");
  t.is(asked("setMarketStatus", { status: "closed" }, "Rain"), "Close “Rain”?");
  t.is(asked("closeDay", { day: "2026-11-28" }), "Close the books of 2026-11-28?");
});

test("an amount of nothing or less is refused beside its field, but for an adjustment", (t) => {
  for (const amountCents of ["0", "0.00", "-5"]) {
    const typed = { userId: "anna", amountCents, reference: "r", reason: "why" };
    for (const name of ["deposit", "withdraw", "payOutFees"] as const) {
      t.deepEqual(readArguments(commands[name], typed), {
        ...{ ok: false, issues: { amountCents: "Type an amount above zero." } },
      });
    }
  }
  const typed = { userId: "anna", amountCents: "-5", reference: "r", reason: "why" };
  t.true(readArguments(commands.adjustBalance, typed).ok);
});

test("a custom outcome needs its cents, in the words of the form", (t) => {
  const typed = { marketId: id, reason: "why", evidence: "" };
  for (const command of [commands.resolveMarket, commands.correctResolution]) {
    for (const yesPayoutCents of ["", " "]) {
      t.deepEqual(readArguments(command, { ...typed, outcome: "custom", yesPayoutCents }), {
        ok: false,
        issues: { yesPayoutCents: "A custom outcome needs the cents for a YES share." },
      });
    }
    t.true(readArguments(command, { ...typed, outcome: "custom", yesPayoutCents: "0" }).ok);
    for (const outcome of ["yes", "no"]) t.true(readArguments(command, { ...typed, outcome }).ok);
  }
});

test("a fee is typed in percent, as the lists show it", (t) => {
  const rate = (takerRateBps: string): unknown => {
    const read = readArguments(commands.setFeeSchedule, { takerRateBps }, { marketId: id });
    return read.ok ? read.given.takerRateBps : read.issues.takerRateBps;
  };
  t.deepEqual(["7", "1.75", "1,5 %", "0", "100"].map(rate), [700, 175, 150, 0, 10_000]);
  for (const text of ["1.755", "-1", "x", "150"]) {
    t.is(rate(text), "Type a percentage from 0 to 100, such as 1.75.", text);
  }
});
