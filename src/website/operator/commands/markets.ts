import { disputeWindow } from "../views/control.ts";
import { count, text } from "../views/parts.ts";
import type { Arguments, Command, CommandField } from "./command.ts";
import { outcomeWords, statusWords, undoTradeWords, undoWords } from "./confirm.ts";
import { choice, event, flag, market, number, optional, outcome, payout, reason } from "./parts.ts";
import { required, time } from "./parts.ts";

/** Of the catalogue, and the end of markets. */

const role = "markets" as const;

const outcomeOfEvent = [
  optional("outcomeName", "Outcome name", "Among the markets of an event, such as a name."),
  number("position", "Place in the event"),
];

const description: CommandField = {
  ...{ argument: "description", label: "Description", kind: "long" },
  emptied: { description: "" },
};
const evidence: CommandField = {
  ...{ argument: "evidence", label: "Evidence", kind: "long" },
  hint: "What the outcome rests on, with addresses of pages. Everybody can read it.",
};
const publicReason: CommandField = { ...reason, hint: "Everybody can read it." };

/** What a YES does beside its market. */
function yesWords({ outcome: to }: Arguments, more = ""): string {
  if (to !== "yes") return "";
  return ` In an exclusive event the other markets are closed, and their orders cancelled.${more}`;
}

export const resolveMarket: Command = {
  ...{ name: "resolve_market", role, title: "Resolve", action: "Resolve the market" },
  fields: [market, outcome, payout, evidence],
  returns: "value",
  showsPayout: true,
  confirm: (given, about) =>
    `${outcomeWords(["Resolve", "as"], given, about)} Open orders are cancelled.${yesWords(given)}`,
};

export const correctResolution: Command = {
  ...{ name: "correct_resolution", role, title: "Correct the resolution", action: "Correct it" },
  fields: [market, outcome, payout, publicReason, evidence],
  returns: "value",
  showsPayout: true,
  confirm: (given, about) =>
    `${outcomeWords(["Correct", "to"], given, about)} What was paid is taken back and paid anew. ` +
    `Cash of users may go below zero.${yesWords(given, " If another one has the YES, it becomes NO.")}`,
};

export const voidMarket: Command = {
  ...{ name: "void_market", role, title: "Undo the whole market", action: "Undo the market" },
  fields: [market, publicReason],
  returns: "value",
  confirm: (given, about) =>
    `${undoWords(given, about)} Everybody gets back what they put in, with the fees. ` +
    "Nobody can undo this.",
};

export const voidTrade: Command = {
  ...{ name: "void_trade", role, title: "Undo a trade", action: "Undo the trade" },
  fields: [
    { argument: "tradeId", label: "Id of the trade", kind: "uuid", isRequired: true },
    reason,
  ],
  returns: "value",
  confirm: (given, about) =>
    `${undoTradeWords(given, about)} Taker and maker get back what it took. Nobody can undo this.`,
};

export const setMarketStatus: Command = {
  ...{ name: "set_market_status", role, title: "Open, pause or close", action: "Set the status" },
  fields: [
    market,
    choice("status", "Status", ["open", "paused", "closed"]),
    time(
      "closeTime",
      "Close time (UTC)",
      "Only for a market that opens again. Empty: a closed one has none then.",
    ),
  ],
  returns: "nothing",
  confirm: statusWords,
};

export const editMarket: Command = {
  ...{ name: "edit_market", role, title: "Edit the market", action: "Save" },
  keepsRest: true,
  fields: [
    market,
    optional("title", "Title"),
    description,
    { ...time("closeTime", "Close time (UTC)", "Empty: none."), emptied: { noCloseTime: true } },
    optional(
      "category",
      "Category",
      "Its short name, such as weather. It stays once something has traded.",
    ),
    {
      ...time("openTime", "Opens by itself (UTC)", "Only of a paused market. Empty: it does not."),
      emptied: { noOpenTime: true },
    },
    ...outcomeOfEvent,
  ],
  returns: "nothing",
};

export const setMarketSource: Command = {
  ...{ name: "set_market_source", role, title: "Rules and source", action: "Save" },
  isOfSetting: true,
  fields: [
    market,
    {
      ...{ argument: "rules", label: "What decides the outcome", kind: "long" },
      isNullable: true,
    },
    {
      ...{ argument: "sourceUrl", label: "Address of the source", kind: "text" },
      ...{ isNullable: true, hint: "It begins with http:// or https://." },
    },
  ],
  returns: "nothing",
};

export const setDisputeWindow: Command = {
  ...{ name: "set_dispute_window", role, title: "Time for disputes", action: "Set it" },
  fields: [
    {
      ...number("hours", "Hours after a resolution or a correction", true),
      hint: "0: nobody can dispute. It holds at once for all markets.",
    },
    reason,
  ],
  sets: { view: disputeWindow },
  returns: "nothing",
};

export const answerDispute: Command = {
  ...{ name: "answer_dispute", role, title: "Answer a dispute", action: "Send the answer" },
  fields: [
    { argument: "disputeId", label: "Id of the dispute", kind: "uuid", isRequired: true },
    {
      ...{ argument: "answer", label: "Answer", kind: "long", isRequired: true },
      hint: "The trader reads it. It is given once.",
    },
  ],
  returns: "nothing",
};

export const createMarket: Command = {
  ...{ name: "create_market", role, title: "New market", action: "Make the market" },
  fields: [
    required("title", "Title"),
    required("category", "Category", "Its short name, such as weather."),
    description,
    { ...event, isRequired: false },
    time("closeTime", "Close time (UTC)"),
    { argument: "thumbnailId", label: "Id of the picture", kind: "uuid" },
    optional("thumbnailUrl", "Address of the picture"),
    flag("open", "It is open at once; else it is paused", "yes"),
    time("openTime", "Opens by itself (UTC)", "Only if it is not open at once."),
    ...outcomeOfEvent,
  ],
  returns: "value",
  result: "Id of the market",
};

export const copyMarket: Command = {
  ...{ name: "copy_market", role, title: "New market like this one", action: "Make the market" },
  fields: [
    market,
    required("title", "Title"),
    time("closeTime", "Close time (UTC)"),
    flag("open", "It is open at once; else it is paused"),
    time("openTime", "Opens by itself (UTC)", "Only if it is not open at once."),
    flag("withFee", "With the fee of this market, if it has its own", "yes"),
  ],
  returns: "value",
  result: "Id of the market",
};

export const createCategory: Command = {
  ...{ name: "create_category", role, title: "New category", action: "Make the category" },
  fields: [
    required("slug", "Short name in addresses", "Small letters, digits and hyphens."),
    required("name", "Name"),
    number("position", "Place in the order"),
  ],
  returns: "value",
  result: "In addresses",
};

export const createEvent: Command = {
  ...{ name: "create_event", role, title: "New event", action: "Make the event" },
  fields: [
    required("title", "Title"),
    required("category", "Category", "Its short name, such as weather."),
    description,
    time("startsAt", "Starts (UTC)"),
    time("endsAt", "Ends (UTC)"),
    flag("live", "Live: orders wait before they are placed"),
    number("liveDelayMs", "How long they wait, in ms"),
    { argument: "thumbnailId", label: "Id of the picture", kind: "uuid" },
    optional("thumbnailUrl", "Address of the picture"),
    flag("exclusive", "Exactly one of its markets resolves YES"),
  ],
  returns: "value",
  result: "Id of the event",
};

export const editEvent: Command = {
  ...{ name: "edit_event", role, title: "Edit the event", action: "Save" },
  keepsRest: true,
  fields: [
    event,
    optional("title", "Title"),
    description,
    time("startsAt", "Starts (UTC)"),
    time("endsAt", "Ends (UTC)"),
    optional("category", "Category", "Its short name, such as weather. Its markets move with it."),
    {
      ...{ argument: "exclusive", label: "Exactly one of its markets resolves YES" },
      ...{ kind: "choice", isBoolean: true, hint: "It stays once something has traded." },
      options: [
        ["true", "Yes"],
        ["false", "No"],
      ],
    },
  ],
  returns: "nothing",
};

export const setEventLive: Command = {
  ...{ name: "set_event_live", role, title: "Live or not", action: "Set it" },
  isOfSetting: true,
  fields: [
    event,
    flag("live", "Live: orders wait before they are placed"),
    number("liveDelayMs", "How long they wait, in ms"),
  ],
  returns: "nothing",
};

const onlyTry = flag("dryRun", "Only try it: nothing is made", "yes");

export const createMarkets: Command = {
  ...{ name: "create_markets", role, title: "Many new markets", action: "Make or try them" },
  fields: [
    {
      ...{ argument: "markets", label: "Markets as CSV or JSON", kind: "entries" },
      isRequired: true,
      hint: "CSV begins with a line of names, such as title,category,close_time,open. JSON: [{}].",
    },
    onlyTry,
  ],
  returns: "rows",
  columns: [
    count("place", "Entry"),
    text("title", "Title"),
    { field: "marketId", label: "Market", kind: "market" },
  ],
  above: ({ dryRun: isTried }) =>
    isTried === true
      ? `Nothing was made. To make these markets, take the tick from “${onlyTry.label}” and press the button again.`
      : "These markets were made.",
};
