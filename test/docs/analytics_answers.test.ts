import test from "ava";
import type { ExecutionContext } from "ava";
import fc from "fast-check";
import type { PoolClient } from "pg";
import { testExchange } from "../helpers/exchange/test_exchange.ts";
import { buy, sell, spend } from "../helpers/exchange/orders.ts";
import type { Request } from "../helpers/exchange/orders.ts";
import { play, together } from "../helpers/model/play.ts";
import type { Cast } from "../helpers/model/play.ts";
import { opening, programs, rarities, world } from "../helpers/model/programs.ts";
import type { Order, Step } from "../helpers/model/programs.ts";
import { effort, seed } from "../helpers/random.ts";
import { Near } from "./analytics_answer.ts";
import type { Asked } from "./analytics_answer.ts";
import { answers } from "./analytics_answers.ts";
import { readFacts } from "./analytics_facts.ts";
import type { Facts } from "./analytics_facts.ts";
import { readDocument } from "./document.ts";

/**
 * Each question of docs/analytics.md is asked after random histories, by an analyst and in several
 * time zones, and its answer compared with one that is worked out from the rows of orders, trades,
 * conversions, resolutions and cash movements.
 */

const exchange = testExchange(test);
const questions = readDocument("docs/analytics.md").blocks.filter(
  ({ language, info, heading }) => language === "sql" && info === "" && heading.endsWith("?"),
);

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const start = Date.parse(world.startsAt);
/** The histories open on the second day, which has not yet begun in New York. */
const opensAt = start + 14 * HOUR_MS;
/** How far the moments of the page are before those of the histories, and its days likewise. */
const later = opensAt - Date.parse("2030-01-02T09:00Z");
const daysLater = Date.parse(world.startsAt.slice(0, 10)) - Date.parse("2030-01-02");
const moment = (text: string): number => Date.parse(text) + later;
const day = (text: string): string =>
  new Date(Date.parse(text) + daysLater).toISOString().slice(0, 10);

const asked: Omit<Asked, "handles"> = {
  market: "Snow?",
  days: [day("2030-01-02"), day("2030-01-04")],
  bookAt: moment("2030-01-02T10:30Z"),
  spreads: {
    since: moment("2030-01-02T09:00Z"),
    until: moment("2030-01-02T16:00Z"),
    stepMs: HOUR_MS,
  },
  candles: {
    since: moment("2030-01-01T00:00Z"),
    until: moment("2030-02-01T00:00Z"),
    widthMs: DAY_MS,
  },
};

/** The page's question about a market, traders and times of the histories. */
function inTermsOf({ market, handles }: Asked, sql: string): string {
  return sql
    .replaceAll(/\btitle = '[^']*'/g, `title = '${market}'`)
    .replaceAll(/\bhandle in \([^)]*\)/g, `handle in ('${handles.join("', '")}')`)
    .replaceAll(/'(2030-\d\d-\d\d)( \d\d:\d\d\+00)?'/g, (_all, date: string, time?: string) => {
      if (time === undefined) return `'${day(date)}'`;
      return `'${new Date(moment(`${date}T${time.slice(1, 6)}Z`)).toISOString()}'`;
    });
}

/** Two casts of the same traders: markets in two categories, two of them with one title. */
async function makeCasts(): Promise<[Cast, Cast]> {
  const { clock, makeTrader, operate } = exchange;
  await clock.freeze(world.startsAt);
  const traders: string[] = [];
  for (const cents of [...world.cents, 5000, 5000]) traders.push(await makeTrader({ cents }));
  await operate("set_profile", { user_id: traders[1], private: true });
  await operate("create_category", { slug: "weather", name: "Weather" });
  const cast = async (category: string, titles: string[]): Promise<Cast> => {
    const [markets, events]: [string[], string[]] = [[], []];
    for (const title of titles) {
      const event_id = await operate("create_event", { title, category });
      events.push(event_id);
      markets.push(await operate("create_market", { title, category, event_id }));
    }
    return { traders, markets, events };
  };
  const casts: [Cast, Cast] = [
    await cast("tests", ["Snow?", "Twice?", "Never traded?"]),
    await cast("weather", ["Rain?", "Twice?"]),
  ];
  const from = (hours: number) => new Date(start + hours * HOUR_MS).toISOString();
  await operate("set_fee_schedule", {
    ...{ taker_rate_bps: 400, category: "weather", effective_from: from(26) },
  });
  await operate("set_fee_schedule", {
    ...{ taker_rate_bps: 1000, market_id: casts[1].markets[0], effective_from: from(50) },
  });
  return casts;
}

function order(trader: number, request: Request, expiresIn: number | null = null): Order {
  return {
    ...{ trader, side: request.side, orderType: request.orderType ?? "buy" },
    ...{ price: request.price ?? null, quantity: request.quantity ?? null },
    ...{ budgetCents: request.budgetCents ?? null, timeInForce: "gtc", postOnly: false },
    ...{ cancelsOwn: false },
    ...{ expiresIn, key: null, isStrict: false },
  };
}

const reopen: Step[] = [
  { kind: "pauseSite", paused: false },
  { kind: "setLive", market: 0, delayMs: null },
  { kind: "setMarket", market: 0, status: "open" },
];

/** Complete sets go both ways, and one market has nothing but them. */
const sets: Step[] = [
  { kind: "split", trader: 5, market: 0, quantity: 20 },
  { kind: "merge", trader: 5, market: 0, quantity: 9 },
  { kind: "split", trader: 5, market: 2, quantity: 12 },
];

/** The last two traders, who trade with each other only, in both directions. */
const wash: Step[] = [
  {
    kind: "batch",
    market: 0,
    orders: [
      order(6, buy("yes", 25, 50)),
      order(7, buy("no", 25, 50)),
      order(7, buy("yes", 20, 55)),
      order(6, sell("yes", 20, 55)),
    ],
  },
  // An order that is made smaller, and one that is replaced.
  { kind: "batch", market: 0, orders: [order(6, buy("yes", 5, 2))] },
  { kind: "amend", trader: 6, place: 0, price: null, quantity: 3 },
  { kind: "amend", trader: 6, place: 0, price: 3, quantity: null },
  { kind: "cancel", trader: 6, place: 0 },
  { kind: "advance", ms: opensAt - start },
];

/** Market 1 ends with a custom outcome and is corrected on the day after. */
const firstEnd: Step[] = [
  ...reopen,
  { kind: "advance", ms: 20 * HOUR_MS },
  { kind: "batch", market: 0, orders: [order(5, buy("yes", 9, 44)), order(5, buy("no", 9, 44))] },
  { kind: "resolve", market: 1, yesCents: 33 },
  { kind: "advance", ms: DAY_MS },
  { kind: "resolve", market: 1, yesCents: 100 },
];

/** At the very end orders wait for their release, rest, and have expired without being swept. */
const secondEnd: Step[] = [
  ...reopen,
  { kind: "exclude", trader: 2, byHand: false },
  { kind: "limit", trader: 0, window: "week", cents: 40_000 },
  { kind: "resolve", market: 1, yesCents: 0 },
  { kind: "advance", ms: DAY_MS },
  { kind: "split", trader: 5, market: 0, quantity: 30 },
  {
    kind: "batch",
    market: 0,
    orders: [
      order(5, buy("yes", 7, 30)),
      order(5, sell("yes", 7, 70)),
      order(5, buy("yes", 8, 29), 1000),
    ],
  },
  { kind: "setLive", market: 0, delayMs: 3000 },
  {
    kind: "batch",
    market: 0,
    orders: [
      order(0, buy("no", 11, 33)),
      order(0, { side: "yes", quantity: 3 }),
      order(5, spend("no", 700)),
      order(5, sell("no", 2, 60)),
    ],
  },
  { kind: "advance", ms: 2000 },
];

const histories = fc.tuple(programs(2), programs(2));

/** Not random, and asked twice: as it ends, and once its orders are in the archive. */
const fixed: [Step[], Step[]][] = [
  [rarities(), rarities()],
  [rarities(), rarities()],
];

test.serial("each question has an answer that is computed from the history", (t) => {
  t.deepEqual(
    questions.map(({ heading }) => heading),
    Object.keys(answers),
  );
});

test.serial(
  "each question is answered right after random histories, in any time zone",
  async (t) => {
    t.timeout(240_000);
    const settings = { seed: seed(), numRuns: effort(7) };
    t.log(`TEST_SEED=${settings.seed}`);
    const casts = await makeCasts();
    const answered = new Set<string>();
    const seen = new Set<string>();
    const random = fc.sample(histories, settings);
    for (const [index, [first, second]] of [...fixed, ...random].entries()) {
      await exchange.withRollback(async (client) => {
        const acts: [Cast, Step[], number][] = [
          [casts[0], [...wash, ...opening(2), ...sets, ...first], 2],
          [casts[0], firstEnd, 20],
          [casts[1], [...opening(2), ...second], 20],
          [casts[1], secondEnd, 3],
        ];
        for (const [cast, program, hour] of acts) {
          const { broken } = await play(client, cast, program, together);
          t.deepEqual(broken, []);
          if (program !== secondEnd) await waitFor(client, hour);
        }
        if (index % 3 === 1) await archive(client);
        const facts = await readFacts(client);
        const rows = await askAll(t, client, facts);
        // A random history need not come to anything in particular.
        if (index < fixed.length) {
          note(facts, seen);
          for (const [heading, count] of rows) if (count > 0) answered.add(heading);
        }
      });
    }
    const silent = questions.filter(({ heading }) => !answered.has(heading));
    t.deepEqual(
      silent.map(({ heading }) => heading),
      [],
      "never answered by a row",
    );
    t.deepEqual([...seen].sort(), [
      ...["archived", "corrected", "custom", "expired", "merge", "reduced", "replaced"],
      ...["scheduled", "self-excluded", "split"],
    ]);
  },
);

/** Until it is that hour (UTC) again: the day is another one in New York, or in Kolkata. */
async function waitFor(client: PoolClient, hour: number): Promise<void> {
  await client.query(
    `update test_clock.setting
     set frozen_at = (
       date_trunc('day', frozen_at at time zone 'UTC') + interval '1 day' + $1 * interval '1 hour'
     ) at time zone 'UTC'`,
    [hour],
  );
}

/** 40 days later all that was cancelled without a fill is in the archive. */
async function archive(client: PoolClient): Promise<void> {
  await client.query("update test_clock.setting set frozen_at = frozen_at + interval '40 days'");
  for (;;) {
    const { rows } = await client.query("select jobs.archive_orders() as count");
    if (rows[0].count === 0) return;
  }
}

function note(facts: Facts, seen: Set<string>): void {
  const { now, orders, reductions, conversions, resolutions } = facts;
  const open = orders.filter((it) => ["open", "scheduled"].includes(it.status));
  const found: Record<string, boolean> = {
    archived: orders.some((it) => it.archived),
    corrected: resolutions.some((it) => it.corrects_resolution_id !== null),
    custom: resolutions.some((it) => it.outcome === "custom"),
    expired: open.some((it) => it.expires_at !== null && it.expires_at.getTime() <= now),
    merge: conversions.some((it) => it.kind === "merge"),
    reduced: reductions.length > 0,
    replaced: orders.some((it) => it.cancel_reason === "user_amended"),
    scheduled: open.some((it) => it.status === "scheduled"),
    "self-excluded": orders.some((it) => it.cancel_reason === "self_excluded"),
    split: conversions.some((it) => it.kind === "split"),
  };
  for (const [name, isFound] of Object.entries(found)) if (isFound) seen.add(name);
}

const zones = ["UTC", "America/New_York", "Asia/Kolkata"];

/** How many rows answer each question. */
async function askAll(
  t: ExecutionContext,
  client: PoolClient,
  facts: Facts,
): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  const about: Asked = { ...asked, handles: [0, 1, 5].map((user) => facts.users[user].handle) };
  await client.query("set local role exchange_analyst");
  for (const { heading, text } of questions) {
    const expected = answers[heading]!(facts, about);
    counts.set(heading, expected.length);
    for (const zone of zones) {
      await client.query(`set local timezone = '${zone}'`);
      const { rows } = await client.query({
        text: inTermsOf(about, text),
        rowMode: "array",
      });
      compare(t, rows, expected, `${heading} in ${zone}`);
    }
  }
  await client.query("reset role");
  await client.query("reset timezone");
  return counts;
}

/** The rows in any order, since most orders say nothing about ties. */
function compare(t: ExecutionContext, rows: unknown[][], expected: unknown[][], about: string) {
  const [found, right] = [rows, expected].map((table) =>
    table.map((row) => row.map(told)).sort(byPlace),
  );
  found!.forEach((row, index) => {
    row.forEach((cell, column) => {
      const other = right![index]?.[column];
      if (other instanceof Near && Math.abs(Number(cell) - other.value) <= 0.0051) {
        row[column] = other;
      }
    });
  });
  t.deepEqual(found, right, about);
}

type Row = (string | Near | null)[];

/** By what is exact, and only then by what may differ a little. */
function byPlace(a: Row, b: Row): number {
  const [one, other] = [a, b].map((row) =>
    JSON.stringify(row.map((cell) => (isFraction(cell) ? "" : cell))),
  );
  if (one !== other) return one! < other! ? -1 : 1;
  const differences = a.map((cell, column) => {
    const also = b[column]!;
    return isFraction(cell) && isFraction(also) ? numberOf(cell) - numberOf(also) : 0;
  });
  return differences.find((difference) => difference !== 0) ?? 0;
}

function isFraction(cell: Row[number]): cell is string | Near {
  return cell instanceof Near || (cell !== null && /^-?\d+\.\d+$/.test(cell));
}

function numberOf(cell: string | Near): number {
  return cell instanceof Near ? cell.value : Number(cell);
}

function told(cell: unknown): Row[number] {
  if (cell === null || cell instanceof Near) return cell;
  if (cell instanceof Date) return cell.toISOString();
  if (typeof cell === "string") return cell;
  if (typeof cell === "number" || typeof cell === "boolean") return String(cell);
  // An interval, in milliseconds.
  const { days = 0, hours = 0, minutes = 0, seconds = 0, milliseconds = 0 } = cell as Interval;
  return String(days * DAY_MS + hours * HOUR_MS + minutes * 60_000 + seconds * 1000 + milliseconds);
}

type Interval = Partial<Record<"days" | "hours" | "minutes" | "seconds" | "milliseconds", number>>;
