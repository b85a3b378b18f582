import { showCents, showTime } from "../api/values.ts";
import type { Arguments, Command } from "./command.ts";

/** What is about to happen, as a question in the values that were given. */

/** The words of a confirmation. `about`: the name of whom or what it is about, if that is known. */
export function confirmWords(
  { confirm }: Command,
  given: Arguments,
  about?: string,
): string | undefined {
  return typeof confirm === "function" ? confirm(given, about) : confirm;
}

function textIn(given: Arguments, argument: string): string {
  const value = given[argument];
  return typeof value === "string" || typeof value === "number" ? String(value) : "";
}

function quoted(text: string): string {
  return `“${text}”`;
}

function marketIn(given: Arguments, about: string | undefined): string {
  return about === undefined ? `market ${textIn(given, "marketId")}` : quoted(about);
}

/** Question and effect of an outcome: "“Rain” as YES? A YES share is paid €1.00, a NO share nothing." */
export function outcomeWords(
  [verb, as]: readonly [verb: string, as: string],
  given: Arguments,
  about: string | undefined,
): string {
  const outcome = textIn(given, "outcome");
  const yesCents = { yes: 100, no: 0 }[outcome] ?? Number(given.yesPayoutCents);
  const named = `${as} ${outcome === "custom" ? outcome : outcome.toUpperCase()}`;
  const paid = (cents: number): string => (cents === 0 ? "nothing" : showCents(cents));
  return (
    `${verb} ${marketIn(given, about)} ${named}? ` +
    `A YES share is paid ${paid(yesCents)}, a NO share ${paid(100 - yesCents)}.`
  );
}

export function undoWords(given: Arguments, about: string | undefined): string {
  return `Undo all trades of ${marketIn(given, about)}?`;
}

export function undoTradeWords(given: Arguments, about: string | undefined): string {
  const market = about === undefined ? "" : ` in ${quoted(about)}`;
  return `Undo the trade ${textIn(given, "tradeId")}${market}?`;
}

const STAY_WORDS =
  "Open orders stay, and can be cancelled. Orders that wait for their release are cancelled then.";

export function statusWords(given: Arguments, about: string | undefined): string {
  const market = marketIn(given, about);
  switch (given.status) {
    case "closed":
      return `Close ${market}? Its open orders are cancelled.`;
    case "paused":
      return `Pause ${market}? ${STAY_WORDS}`;
    default: {
      const until = textIn(given, "closeTime");
      const closing =
        until === ""
          ? "If it is closed, it then has no close time; if it is paused, it keeps its own. "
          : "";
      return `Open ${market}${until === "" ? "" : ` until ${showTime(until)}`}? ${closing}Open orders that it still has stay in the book.`;
    }
  }
}

export function pauseWords(given: Arguments): string {
  return given.paused === true
    ? `Pause trading in the whole exchange, or replace the reason of the pause? It holds for all markets at once. ${STAY_WORDS}`
    : "Resume trading in the whole exchange?";
}

function userIn(about: string | undefined): string {
  return about ?? "the user";
}

function reference(given: Arguments): string {
  return `reference ${quoted(textIn(given, "reference"))}`;
}

function amount(given: Arguments): string {
  return showCents(textIn(given, "amountCents"));
}

export function depositWords(given: Arguments, about: string | undefined): string {
  return `Book a deposit of ${amount(given)} for ${userIn(about)}, ${reference(given)}?`;
}

export function withdrawalWords(given: Arguments, about: string | undefined): string {
  return `Book a withdrawal of ${amount(given)} by ${userIn(about)}, ${reference(given)}?`;
}

export function adjustmentWords(given: Arguments, about: string | undefined): string {
  const cents = Number(given.amountCents);
  const [verb, way] = cents < 0 ? ["Take", "from"] : ["Add", "to"];
  return `${verb} ${showCents(Math.abs(cents))} ${way} the cash of ${userIn(about)}, ${reference(given)}?`;
}

export function reversalWords(given: Arguments, about: string | undefined): string {
  const user = about === undefined ? "" : ` of ${about}`;
  return `Reverse the deposit${user} with the ${reference(given)}?`;
}

export function feePayoutWords(given: Arguments): string {
  return `Pay out ${amount(given)} of the fees, ${reference(given)}?`;
}

export function feeWords(given: Arguments, about: string | undefined): string {
  const category = textIn(given, "category");
  const where =
    given.marketId !== undefined
      ? ` in ${marketIn(given, about)}`
      : category === ""
        ? ""
        : ` in the category ${category}`;
  const from = textIn(given, "effectiveFrom");
  const since = from === "" ? "from now on" : `from ${showTime(from)}`;
  return `Set the taker's fee${where} to ${Number(given.takerRateBps) / 100}% ${since}?`;
}
