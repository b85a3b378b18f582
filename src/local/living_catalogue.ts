import type { categories } from "./demo_catalogue.ts";
import type { DemoMarket, DemoUser } from "./demo_commands.ts";

/** The part of the demo that lives: invented questions, and the traders who trade on them. */

/** A maker has quotes some cents apart, a taker a sense of where prices go: 1 is always right. */
export type LivingTrader = DemoUser & ({ spacing: number } | { sense: number });

export const livingTraders: LivingTrader[] = [
  { email: "mia@demo.example", name: "Maker Mia (demo)", handle: "demo-mia", spacing: 1 },
  { email: "noah@demo.example", name: "Maker Noah (demo)", handle: "demo-noah", spacing: 2 },
  { email: "lena@demo.example", name: "Lena (demo)", handle: "demo-lena", sense: 0.9 },
  { email: "omar@demo.example", name: "Omar (demo)", handle: "demo-omar", sense: 0.7 },
  { email: "ruth@demo.example", name: "Ruth (demo)", handle: "demo-ruth", sense: 0.5 },
];

interface LivingEntry {
  title: string;
  category: (typeof categories)[number]["slug"];
  description: string;
}

/** Its markets are of its category. */
export interface LivingEvent extends LivingEntry {
  /** It is on: orders wait three seconds before they match. */
  isLive?: true;
  /** Exactly one of its markets resolves YES. */
  isExclusive?: true;
}

const match: LivingEvent = {
  title: "Lakeside v Northfield (demo)",
  category: "sports",
  description: "An invented match, which is on whenever the demo is started.",
  isLive: true,
};

const election: LivingEvent = {
  title: "Mayor of Harbour City (demo)",
  category: "politics",
  description: "Who wins the next election in an invented city.",
  isExclusive: true,
};

const firstRound: LivingEvent = {
  title: "First round in Harbour City (demo)",
  category: "politics",
  description: "What the first round of the election in an invented city brings.",
};

const electionSource = {
  rules:
    "The result that the election board of Harbour City declares final. If the election is " +
    "postponed, the market closes later; if it is called off, all trades are undone.",
  url: "https://elections.harbour-city.example/results",
};

const matchSource = {
  rules: "The result after regular time and stoppage time, as the league publishes it.",
  url: "https://league.example/results",
};

export interface LivingMarket extends LivingEntry, Pick<DemoMarket, "outcomeName" | "source"> {
  event?: LivingEvent;
  /** What the price of YES returns to, in cents. */
  price: number;
  /** How much the price moves; 1 is usual. */
  liveliness: number;
  closesInDays: number;
  /** A start makes it anew if it is over or nearly so. */
  isRenewed?: true;
  /** It was resolved before the first start. */
  resolved?: { daysAgo: number; outcome: "yes" | "no"; evidence: string };
}

export const livingMarkets: LivingMarket[] = [
  {
    title: "Will Ana Berg become mayor of Harbour City?",
    category: "politics",
    description: "YES if she wins the election, in the first or in the second round.",
    event: election,
    outcomeName: "Ana Berg",
    source: electionSource,
    price: 46,
    liveliness: 1,
    closesInDays: 60,
  },
  {
    title: "Will Jon Vik become mayor of Harbour City?",
    category: "politics",
    description: "YES if he wins the election, in the first or in the second round.",
    event: election,
    outcomeName: "Jon Vik",
    source: electionSource,
    price: 29,
    liveliness: 1,
    closesInDays: 60,
  },
  {
    title: "Will Mara Stein become mayor of Harbour City?",
    category: "politics",
    description: "YES if she wins the election, in the first or in the second round.",
    event: election,
    outcomeName: "Mara Stein",
    source: electionSource,
    price: 17,
    liveliness: 0.8,
    closesInDays: 60,
  },
  {
    title: "Will somebody else become mayor of Harbour City?",
    category: "politics",
    description: "YES if none of Ana Berg, Jon Vik and Mara Stein wins the election.",
    event: election,
    outcomeName: "Somebody else",
    source: electionSource,
    price: 8,
    liveliness: 0.5,
    closesInDays: 60,
  },
  {
    title: "Will the election in Harbour City need a second round?",
    category: "politics",
    description: "YES if nobody gets more than half of the votes in the first round.",
    event: firstRound,
    outcomeName: "Second round needed",
    source: electionSource,
    price: 66,
    liveliness: 0.7,
    closesInDays: 45,
  },
  {
    title: "Will turnout in Harbour City exceed 60%?",
    category: "politics",
    description: "YES if the final figure for the first round is above 60%.",
    event: firstRound,
    outcomeName: "Turnout above 60%",
    source: electionSource,
    price: 31,
    liveliness: 0.8,
    closesInDays: 45,
  },
  {
    title: "Will Lakeside win against Northfield?",
    category: "sports",
    description: "YES if Lakeside has more goals at the end of the match.",
    event: match,
    outcomeName: "Lakeside wins",
    source: matchSource,
    price: 55,
    liveliness: 1.6,
    closesInDays: 1,
    isRenewed: true,
  },
  {
    title: "Will Lakeside and Northfield score more than two goals?",
    category: "sports",
    description: "YES if the match has three goals or more.",
    event: match,
    outcomeName: "Over two goals",
    source: matchSource,
    price: 42,
    liveliness: 1.4,
    closesInDays: 1,
    isRenewed: true,
  },
  {
    title: "Will Northfield reach the final of the Harbour Cup?",
    category: "sports",
    description: "YES if Northfield wins its semi-final.",
    price: 90,
    liveliness: 1,
    closesInDays: 2,
    source: matchSource,
    resolved: {
      daysAgo: 5,
      outcome: "yes",
      evidence: "Northfield won the semi-final 2:1: https://league.example/results/semi-finals",
    },
  },
  {
    title: "Will the Harbour City council vote to close the old bridge?",
    category: "politics",
    description: "YES if more than half of the votes that are cast are for closing it.",
    price: 12,
    liveliness: 1,
    closesInDays: 2,
    resolved: {
      daysAgo: 12,
      outcome: "no",
      evidence: "The council voted 17 to 22: https://council.harbour-city.example/votes",
    },
  },
  {
    title: "Will the solar park of Harbour City deliver over 40 MWh tomorrow?",
    category: "technology",
    description: "YES if the operator's daily report says more than 40 MWh.",
    source: {
      rules:
        "The figure for the whole day, UTC, in the first daily report that the operator of the " +
        "park publishes. Later corrections of the report do not count.",
      url: "https://solar.harbour-city.example/reports",
    },
    price: 61,
    liveliness: 1,
    closesInDays: 1,
    isRenewed: true,
  },
  {
    title: "Will a quantum computer factor a 48-bit number within a year?",
    category: "technology",
    description: "YES if a paper that was reviewed by peers reports it.",
    source: {
      rules: "A paper in a journal or at a conference with review, published before the close.",
      url: "https://papers.example/quantum",
    },
    price: 23,
    liveliness: 0.6,
    closesInDays: 365,
  },
];
