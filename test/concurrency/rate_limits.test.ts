import { randomUUID } from "node:crypto";
import test from "ava";
import type { Pool } from "pg";
import { createRequestLimiter } from "../../src/http/request_limiter.ts";
import { createTradingTokens } from "../../src/http/trading_tokens.ts";
import { testExchange } from "../helpers/exchange/test_exchange.ts";

/** Several servers that count at the same moment let through as many as one would. */

const exchange = testExchange(test, { sessions: 20 });
const { clock, makeTrader, operate } = exchange;

/** Each with a few connections. They send small batches. */
const twoProcesses = <T>(make: (options: { pool: Pool; batchCap: number }) => T): T[] =>
  [1, 2].map(() =>
    make({ pool: exchange.database.connectAs("exchange_api", { max: 3 }), batchCap: 4 }),
  );

const twoLimiters = () => twoProcesses(createRequestLimiter);

type Counters = Parameters<ReturnType<typeof createRequestLimiter>["take"]>[0];

/** Sends all at once, by turns on both connections; how many passed. */
async function passing(limiters: ReturnType<typeof twoLimiters>, asked: Counters[]) {
  const taken = await Promise.all(
    asked.map((counters, index) => limiters[index % 2]!.take(counters)),
  );
  return taken.filter(({ allowed }) => allowed).length;
}

const times = <T>(count: number, item: T): T[] => Array.from({ length: count }, () => item);

test.serial(
  "of 100 requests at the same time exactly as many pass as the limit allows",
  async (t) => {
    const limiters = twoLimiters();
    await operate("set_rate_limit", { bucket: "v1", max_requests: 10, window_seconds: 60 });
    await clock.freeze("2030-01-01T12:00:00Z");
    const asked = times(100, { v1: "one" });
    t.is(await passing(limiters, asked.slice(0, 4)), 4);
    await clock.advance(20_000);
    t.is(await passing(limiters, asked), 6);
    await clock.advance(39_999);
    t.is(await passing(limiters, asked), 0, "the boundary has not rolled by yet");
    await clock.advance(1);
    t.is(await passing(limiters, asked), 4);
    await clock.advance(20_000);
    t.is(await passing(limiters, asked), 6);

    const trader = await makeTrader();
    const buckets = twoProcesses(createTradingTokens);
    const trading = async () =>
      (
        await Promise.all(times(100, trader).map((user, n) => buckets[n % 2]!.take(user, 1)))
      ).filter(({ allowed }) => allowed).length;
    t.is(await trading(), 10);
    await clock.advance(2500);
    t.is(await trading(), 5);
  },
);

test.serial(
  "users and addresses are counted in any order without deadlocks, and each request counts",
  async (t) => {
    const limiters = twoLimiters();
    await operate("set_rate_limit", { bucket: "v1-auth", max_requests: 30, window_seconds: 60 });
    await operate("set_rate_limit", { bucket: "v1-user", max_requests: 20, window_seconds: 60 });
    await clock.freeze("2030-01-02T12:00:00Z");
    const users = times(6, null).map(() => randomUUID());
    const asked = times(400, null).map((_, index) => ({
      "v1-auth": `address ${(index * 7) % 5}`,
      "v1-user": users[(index * 11) % 6]!,
    }));
    await passing(limiters, asked);
    const { rows } = await exchange.database.pool.query(
      "select bucket, sum(taken)::int as taken, max(taken)::int as most from rate_limits.windows " +
        "where bucket like 'v1-%' group by 1 order by 1",
    );
    t.is(rows[0].taken, rows[1].taken, "each request counts in both of its buckets or in neither");
    t.true(rows[0].most <= 30 && rows[1].most <= 20);
    t.true(rows[1].taken >= 100, "few were refused while their counters had room");
  },
);
