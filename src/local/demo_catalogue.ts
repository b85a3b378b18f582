/** The content of the demo. All of it is invented, and none of it becomes outdated. */

/** In the order of display. */
export const categories = [
  { slug: "economy", name: "Economy" },
  { slug: "politics", name: "Politics" },
  { slug: "sports", name: "Sports" },
  { slug: "technology", name: "Technology" },
] as const;

/** Whose key the demo prints. */
export const trader = {
  email: "trader@demo.example",
  name: "Demo Trader",
  handle: "demo-trader",
};

/** The first one quotes, the others trade against the quotes. */
export const makers = [
  { email: "maker@demo.example", name: "Demo Maker", handle: "demo-maker" },
  { email: "ada@demo.example", name: "Ada", handle: "demo-ada" },
  { email: "ben@demo.example", name: "Ben", handle: "demo-ben" },
] as const;

/** Days are counted from the first start. */
export const events = [
  {
    title: "Next ECB rate decision",
    category: "economy",
    description: "The next regular monetary policy meeting of the Governing Council.",
    startsInDays: 40,
  },
  {
    title: "Champions League final",
    category: "sports",
    description: "The next final of the men's competition.",
    startsInDays: 120,
  },
] as const;

/** A market and the opening of its trading. */
export interface DemoMarket {
  title: string;
  category: (typeof categories)[number]["slug"];
  description: string;
  event?: (typeof events)[number]["title"];
  closesInDays: number;
  /** What a YES share is worth, in cents, to those who quote it. */
  price: number;
  /** Market orders against the quotes. */
  trades: (readonly [side: "yes" | "no", quantity: number])[];
}

/** The first one is the market of the curl line. */
export const demoMarkets: DemoMarket[] = [
  {
    title: "Will the ECB cut its deposit rate at its next meeting?",
    category: "economy",
    description: "YES if the rate announced after the meeting is below the one before it.",
    event: "Next ECB rate decision",
    closesInDays: 40,
    price: 62,
    trades: [
      ["yes", 40],
      ["no", 25],
      ["yes", 60],
    ],
  },
  {
    title: "Will the ECB's decision be unanimous?",
    category: "economy",
    description: "YES if the press conference says that the decision was unanimous.",
    event: "Next ECB rate decision",
    closesInDays: 40,
    price: 45,
    trades: [["no", 30]],
  },
  {
    title: "Will euro area inflation be above 2.0% in the next flash estimate?",
    category: "economy",
    description: "Annual rate of the harmonised index, as first published by Eurostat.",
    closesInDays: 30,
    price: 54,
    trades: [
      ["yes", 80],
      ["no", 45],
    ],
  },
  {
    title: "Will turnout at the next European Parliament election exceed 50%?",
    category: "politics",
    description: "YES if the final figure published by the Parliament is above 50%.",
    closesInDays: 365,
    price: 57,
    trades: [["yes", 35]],
  },
  {
    title: "Will the next EU budget be agreed before its deadline?",
    category: "politics",
    description: "YES if Council and Parliament both approve it in time.",
    closesInDays: 200,
    price: 71,
    trades: [
      ["no", 20],
      ["yes", 20],
    ],
  },
  {
    title: "Will the Champions League final go to penalties?",
    category: "sports",
    description: "YES if the winner is decided by a penalty shoot-out.",
    event: "Champions League final",
    closesInDays: 120,
    price: 18,
    trades: [["yes", 100]],
  },
  {
    title: "Will more than three goals be scored in the Champions League final?",
    category: "sports",
    description: "Regular and extra time count, a shoot-out does not.",
    event: "Champions League final",
    closesInDays: 120,
    price: 36,
    trades: [
      ["yes", 50],
      ["no", 50],
    ],
  },
  {
    title: "Will a crewed spacecraft orbit the Moon within a year?",
    category: "technology",
    description: "YES if at least one complete orbit with a crew on board is confirmed.",
    closesInDays: 365,
    price: 33,
    trades: [["yes", 25]],
  },
];
