import test from "ava";
import { makeEngine } from "../../src/graphql/execution.ts";
import type { GraphqlEngine } from "../../src/graphql/execution.ts";
import { MAX_GROUPS } from "../../src/graphql/limits.ts";
import { relationsOf } from "../../src/graphql/relations.ts";
import { testExchange } from "../helpers/exchange/test_exchange.ts";
import { buy } from "../helpers/exchange/orders.ts";
import { randomFrom } from "../helpers/random.ts";

const exchange = testExchange(test);
let engine: GraphqlEngine;

test.serial.before("play", async () => {
  const { clock, database, makeMarkets, makeTraders, placeBatch } = exchange;
  await clock.freeze("2030-01-01T00:00:00Z");
  const { between } = randomFrom("filters");
  const [markets, traders] = [await makeMarkets(3), await makeTraders(4)];
  for (let i = 0; i < 60; i++) {
    await clock.advance(between(0, 3 * 3_600_000));
    const [one, other] = [between(0, 3), between(1, 3)];
    const price = between(1, 99);
    const quantity = between(1, 9);
    await placeBatch(markets[i % 3]!, [
      [traders[one]!, buy("yes", quantity, price)],
      [traders[(one + other) % 4]!, buy("no", quantity, 100 - price)],
    ]);
  }
  const pool = database.connectAs("exchange_analyst");
  engine = await makeEngine({ pool, schema: "analytics", mutations: false });
});

const ask = (query: string, variables?: Record<string, unknown>) =>
  engine.execute({ query, variables }, { timezone: "UTC", transaction_read_only: "on" });

async function answer(query: string, variables?: Record<string, unknown>): Promise<any> {
  const { data, errors } = await ask(query, variables);
  if (errors !== undefined) throw errors[0]!;
  return data;
}

async function rows(sql: string): Promise<any[]> {
  return (await exchange.database.pool.query(sql)).rows;
}

test.serial(
  "views have the keys that pages by cursors need, and no null where they say so",
  async (t) => {
    for (const schema of ["analytics", "admin"]) {
      const views = await rows(
        `select relname as view from pg_catalog.pg_class
       where relkind = 'v' and relnamespace = '${schema}'::regnamespace`,
      );
      const described = relationsOf(schema, new Set(views.map(({ view }) => view)));
      for (const { view } of views) {
        const { tags, attribute } = described[`${schema}.${view}`]!;
        const { primaryKey, unique } = tags;
        for (const key of [primaryKey, unique ?? primaryKey]) {
          const isWhole = key?.split(",").map((column) => `${column} is not null`);
          const [found] = await rows(
            `select count(*) as rows, count(distinct (${key})) filter (where ${isWhole?.join(" and ")}) as keys
           from ${schema}.${view}`,
          );
          t.is(found.keys, found.rows, `${schema}.${view}: ${key}`);
        }
        for (const column of Object.keys(attribute)) {
          const nulls = await rows(`select from ${schema}.${view} where ${column} is null limit 1`);
          t.is(nulls.length, 0, `${schema}.${view}: ${column}`);
        }
      }
    }
  },
);

test.serial("a filter takes ranges, lists and texts", async (t) => {
  const cases: [filter: string, where: string][] = [
    ["yesPriceCents: { greaterThan: 20, lessThanOrEqualTo: 60 }", "price > 20 and price <= 60"],
    ["quantity: { in: [1, 3, 5] }", "quantity in (1, 3, 5)"],
    [
      'createdAt: { greaterThanOrEqualTo: "2030-01-02T00:00Z", lessThan: "2030-01-03T00:00Z" }',
      "created_at >= '2030-01-02Z' and created_at < '2030-01-03Z'",
    ],
    [
      "or: [{ quantity: { equalTo: 1 } }, { yesPriceCents: { lessThan: 9 } }]",
      "quantity = 1 or price < 9",
    ],
    ["not: { takerRealisedCents: { isNull: true } }", "taker_realised_cents is not null"],
  ];
  for (const [filter, where] of cases) {
    const { allTrades } = await answer(`{ allTrades(filter: { ${filter} }) { totalCount } }`);
    const [{ count }] = await rows(`select count(*)::int from trading.trades where ${where}`);
    t.is(allTrades.totalCount, count, filter);
  }
  // The signs of patterns stand for themselves.
  const texts = { "100%": 1, "0% _": 0, HAIL: 2, "": 6 };
  for (const title of ["100% hail?", "Hail?", "100 percent?"]) {
    await exchange.operate("create_market", { title, category: "tests" });
  }
  for (const [text, count] of Object.entries(texts)) {
    const query = `query($text: String!) {
      allMarkets(filter: { title: { includesInsensitive: $text } }) { totalCount }
    }`;
    t.is((await answer(query, { text })).allMarkets.totalCount, count, text);
  }
});

test.serial("sums by group, of the rows that the filter leaves", async (t) => {
  const { allTrades } = await answer(`{
    allTrades(first: 0, filter: { yesPriceCents: { greaterThan: 30 } }) {
      aggregates { sum { quantity } max { yesPriceCents } distinctCount { marketKey } }
      byMarket: groupedAggregates(groupBy: [MARKET_KEY, CREATED_AT_TRUNCATED_TO_DAY]) {
        keys
        sum { quantity }
        average { yesPriceCents }
      }
    }
  }`);
  const [whole] = await rows(`
    select sum(quantity)::text as sum, max(price)::int as max, count(distinct market_id)::text as n
    from trading.trades where price > 30`);
  t.deepEqual(allTrades.aggregates, {
    sum: { quantity: whole.sum },
    max: { yesPriceCents: whole.max },
    distinctCount: { marketKey: whole.n },
  });
  const groups = await rows(`
    select market_id::text as market, (created_at at time zone 'UTC')::date::text as day,
      sum(quantity)::text as sum, avg(price::int)::float8 as average
    from trading.trades where price > 30 group by 1, 2 order by min(market_id), 2`);
  t.deepEqual(
    allTrades.byMarket.map(({ keys, sum, average }: any) => ({
      ...{ market: keys[0], day: keys[1].slice(0, 10) },
      ...{ sum: sum.quantity, average: Number(average.yesPriceCents) },
    })),
    groups,
  );
});

test.serial("sums of related rows, and fee revenue with its market", async (t) => {
  const { allMarkets, allFeeRevenues } = await answer(`{
    allMarkets(filter: { title: { notEqualTo: "" } }, first: 10) {
      nodes { marketKey tradesByMarketKey(first: 0) { aggregates { sum { quantity } } } }
    }
    allFeeRevenues(first: 3) { nodes { feeCents marketKey marketByMarketKey { title marketKey } } }
  }`);
  const sums = await rows(
    "select market_id::text as m, sum(quantity)::text from trading.trades group by 1",
  );
  for (const { m, sum } of sums) {
    const node = allMarkets.nodes.find(({ marketKey }: any) => marketKey === m);
    t.is(node.tradesByMarketKey.aggregates.sum.quantity, sum);
  }
  t.is(allFeeRevenues.nodes.length, 3);
  for (const { marketKey, marketByMarketKey } of allFeeRevenues.nodes) {
    t.is(marketByMarketKey.marketKey, marketKey);
  }
});

test.serial(
  "400: filters and aggregates that cost too much, and filters that say nothing",
  async (t) => {
    const filtered = (filter: string) => `{ allTrades(filter: ${filter}) { totalCount } }`;
    const list = Array.from({ length: 100 }, (_, i) => i).join(", ");
    const nested = `${"{ not: ".repeat(48)}{ quantity: { equalTo: 1 } }${" }".repeat(48)}`;
    const grouped = "groupedAggregates(groupBy: [MARKET_KEY]) { keys }";
    const cases: [query: string, message: RegExp][] = [
      [filtered(`{ quantity: { in: [${list}] } }`), /may have 100 fields and values/],
      [
        filtered(`{ or: [${"{ quantity: { equalTo: 1 } } ".repeat(40)}] }`),
        /100 fields and values/,
      ],
      [
        `{ ${["a", "b"].map((it) => `${it}: allTrades(filter: ${nested}) { totalCount }`).join(" ")} }`,
        /100 fields and values/,
      ],
      [filtered("{}"), /nothing empty/],
      [filtered("{ quantity: null }"), /no null/],
      [filtered("{ quantity: {} }"), /nothing empty/],
      [filtered("{ or: [] }"), /nothing empty/],
      [filtered('{ matchType: { similarTo: "(m|n)*" } }'), /similarTo/],
      [filtered('{ matchType: { likeInsensitive: "%%%" } }'), /likeInsensitive/],
      [filtered(`{ marketByMarketKey: { status: { equalTo: "open" } } }`), /marketByMarketKey/],
      [
        `{ allMarkets(first: 21) { nodes { tradesByMarketKey(first: 0) { ${grouped} } } } }`,
        /20000 rows/,
      ],
      [
        "{ allMarkets(first: 201) { nodes { tradesByMarketKey(first: 0) { aggregates { sum { quantity } } } } } }",
        /20000 rows/,
      ],
      [
        `{ allTrades { ${Array.from({ length: 17 }, (_, i) => `a${i}: ${grouped}`).join(" ")} } }`,
        /may cost 500, this one costs 532/,
      ],
    ];
    for (const [query, message] of cases) {
      const { data, errors } = await ask(query);
      t.is(data, undefined, query);
      t.regex(errors?.[0]?.message ?? "", message, query);
    }
    const variable = "query($f: TradeFilter) { allTrades(filter: $f) { totalCount } }";
    const long = await ask(variable, {
      f: { quantity: { in: Array.from({ length: 100 }, () => 1) } },
    });
    t.regex(long.errors?.[0]?.message ?? "", /100 fields and values/);
    t.is(
      (await answer(variable)).allTrades.totalCount,
      (await rows("select from trading.trades")).length,
    );
  },
);

test.serial("more than 1,000 groups are an error, and not a part of them", async (t) => {
  const query = `{
    allMarkets(first: 0, filter: { title: { startsWith: "Group" } }) {
      groupedAggregates(groupBy: [TITLE]) { keys }
    }
  }`;
  const make = (from: number, to: number) =>
    exchange.database.pool.query(
      `select admin.create_market('Group ' || i, 'tests') from generate_series(${from}, ${to}) as i`,
    );
  await make(1, MAX_GROUPS);
  const { allMarkets } = await answer(query);
  t.deepEqual(
    allMarkets.groupedAggregates.map(({ keys: [title] }: any) => title),
    Array.from({ length: MAX_GROUPS }, (_, i) => `Group ${i + 1}`),
  );
  await make(MAX_GROUPS + 1, MAX_GROUPS + 1);
  const { errors } = await ask(query);
  t.is(errors?.[0]?.message, "There are more than 1000 groups: filter, or group otherwise");
});

test.serial(
  "fields lead to the users and the fee schedule of trades, and to what is voided",
  async (t) => {
    const { makeMarket, makeTraders, operate, place } = exchange;
    const voided = await makeMarket();
    const [maker, taker] = await makeTraders(2);
    await place(voided, maker, buy("no", 3, 50));
    const { fills } = await place(voided, taker, buy("yes", 3, 50));
    await operate("void_trade", { trade_id: fills[0]!.id, reason: "a mistake" });
    await place(voided, maker, buy("no", 5, 50));
    await place(voided, taker, buy("yes", 5, 50));
    await operate("void_market", { market_id: voided, reason: "a mistake" });
    const found = await answer(`{
    allTrades {
      nodes {
        takerUserKey makerUserKey
        userByTakerUserKey { userKey } userByMakerUserKey { userKey }
        voidsByTradeKey { totalCount }
      }
    }
    allFeeRevenues {
      nodes {
        feeScheduleKey takerRateBps
        feeScheduleByFeeScheduleKey { feeScheduleKey takerRateBps }
      }
    }
    allVoids(orderBy: TRADE_KEY_ASC) { nodes { marketByMarketKey { marketId } tradeByTradeKey { tradeId } } }
    allVoidedPositions(orderBy: SIDE_ASC) {
      nodes { side quantity userByUserKey { userId } marketByMarketKey { marketId } }
    }
    userByUserId(userId: "${taker}") {
      taken: tradesByTakerUserKey { totalCount } made: tradesByMakerUserKey { totalCount }
    }
  }`);
    t.true(found.allTrades.nodes.length >= 20);
    for (const trade of found.allTrades.nodes) {
      t.is(trade.userByTakerUserKey.userKey, trade.takerUserKey);
      t.is(trade.userByMakerUserKey.userKey, trade.makerUserKey);
    }
    const voids = found.allTrades.nodes.map(
      ({ voidsByTradeKey }: any) => voidsByTradeKey.totalCount,
    );
    t.is(voids.filter((count: number) => count === 1).length, 1);
    t.true(found.allFeeRevenues.nodes.length > 0);
    for (const revenue of found.allFeeRevenues.nodes) {
      const { feeScheduleKey, takerRateBps } = revenue;
      t.deepEqual({ ...revenue.feeScheduleByFeeScheduleKey }, { feeScheduleKey, takerRateBps });
    }
    const marketByMarketKey = { marketId: voided };
    t.deepEqual(plain(found.allVoids.nodes), [
      { marketByMarketKey, tradeByTradeKey: { tradeId: fills[0]!.id } },
      { marketByMarketKey, tradeByTradeKey: null },
    ]);
    t.deepEqual(plain(found.allVoidedPositions.nodes), [
      { side: "no", quantity: "5", userByUserKey: { userId: maker }, marketByMarketKey },
      { side: "yes", quantity: "5", userByUserKey: { userId: taker }, marketByMarketKey },
    ]);
    t.deepEqual(plain(found.userByUserId), { taken: { totalCount: 2 }, made: { totalCount: 0 } });
  },
);

/** Without the prototypes of answers. */
function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}
