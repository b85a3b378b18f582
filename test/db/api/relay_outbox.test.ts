import test from "ava";
import { testExchange } from "../../helpers/exchange/test_exchange.ts";
import type { Listener } from "../../helpers/exchange/event_listener.ts";
import { buy } from "../../helpers/exchange/orders.ts";
import type { Request } from "../../helpers/exchange/orders.ts";

/** What commands announce is sent once and in order, by any caller of api.relay_outbox(). */

const exchange = testExchange(test, { sessions: 6 });
const { cancel, makeMarket, makeMarketWith, makeTrader, makeTraders, operate, placeBatch, rest } =
  exchange;

let listener: Listener;
test.before("listen", async () => {
  listener = await exchange.listen();
});
test.beforeEach("forget what was said", async () => {
  await listener.heard();
});

const announce = async (): Promise<number> =>
  (await exchange.api.query("select api.relay_outbox() as count")).rows[0].count;

test.serial("it returns how many it sent, and sends none twice", async (t) => {
  const [market, ann] = await makeMarketWith(1);
  t.is(await announce(), 0);
  await rest(market, ann, buy("yes", 1, 40), buy("yes", 1, 40));
  t.is(await announce(), 2);
  t.is(await announce(), 0);
  t.deepEqual((await listener.heard()).markets, [
    { marketId: market, version: 1 },
    { marketId: market, version: 2 },
  ]);
});

test.serial("at most a thousand at a time, the oldest first", async (t) => {
  const [market, ann] = await makeMarketWith(1);
  const batch = Array.from({ length: 1100 }, (): [string, Request] => [ann, buy("yes", 1, 1)]);
  await placeBatch(market, batch);
  t.is(await announce(), 1);
  // An event for each order, and the market's, in one transaction.
  await operate("cancel_orders", { user_id: ann, market_id: market });
  t.deepEqual([await announce(), await announce(), await announce()], [1000, 101, 0]);
  const { data } = await exchange.orders(ann, { status: "all" });
  const { users } = await listener.heard();
  t.is(users.length, 1100);
  const newestFirst = users.map(({ event }) => event.orderId).reverse();
  t.deepEqual(
    newestFirst.slice(0, 200),
    data.map(({ id }) => id),
  );
});

test.serial(
  "many callers at once: each announcement is sent once, a market's in order",
  async (t) => {
    const [market, ann] = await makeMarketWith(1);
    let isOver = false;
    const callers = Array.from({ length: 4 }, async () => {
      while (!isOver) await announce();
    });
    for (let turn = 0; turn < 50; turn++) {
      const [order] = await rest(market, ann, buy("yes", 1, 40));
      await cancel(ann, order);
    }
    isOver = true;
    await Promise.all(callers);
    const { markets } = await listener.heard();
    t.deepEqual(
      markets.map(({ version }) => version),
      Array.from({ length: 100 }, (_, index) => index + 1),
    );
  },
);

test.serial("a later announcement waits for an earlier one that is being sent", async (t) => {
  const [market, ann] = await makeMarketWith(1);
  await rest(market, ann, buy("yes", 1, 40));
  const first = await exchange.api.connect();
  const second = await exchange.api.connect();
  try {
    await first.query("begin");
    await first.query("select api.relay_outbox()");
    await rest(market, ann, buy("yes", 1, 40));
    await second.query("begin; set local lock_timeout = '100ms'");
    await t.throwsAsync(second.query("select api.relay_outbox()"), { code: "55P03" });
    await first.query("commit");
  } finally {
    await first.query("rollback");
    await second.query("rollback");
    first.release();
    second.release();
  }
  t.is(await announce(), 1);
  t.deepEqual(
    (await listener.heard()).markets.map(({ version }) => version),
    [1, 2],
  );
});

test.serial(
  "an event that commits after later ones were sent is sent when it commits",
  async (t) => {
    const [slow, fast] = [await makeMarket(), await makeMarket()];
    const [ann, bob] = await makeTraders(2);
    const client = await exchange.api.connect();
    try {
      await client.query("begin");
      await client.query("select api.place_orders($1)", [
        JSON.stringify([{ marketId: slow, userId: ann, ...buy("yes", 1, 40) }]),
      ]);
      for (let turn = 0; turn < 4; turn++) {
        await rest(fast, bob, buy("yes", 1, 40));
        t.is(await announce(), 1);
      }
      await client.query("commit");
    } finally {
      client.release();
    }
    t.is(await announce(), 1);
    t.is((await listener.heard()).markets.at(-1)?.marketId, slow);
  },
);

test.serial("sent events are not read again", async (t) => {
  const [market, ann] = await makeMarketWith(1);
  await rest(market, ann, buy("yes", 1, 40), buy("yes", 1, 40));
  const sentThrough = async () =>
    (
      await exchange.query(
        `select a.sent_through_id = (select last_value from trading.outbox_id_seq) as is_last
         from trading.outbox_relay as a`,
      )
    )[0]?.is_last;
  t.is(await announce(), 2);
  // Transactions of other databases on this PostgreSQL hold it back as well: until they end.
  while (!(await sentThrough())) t.is(await announce(), 0);
});

test.serial("a revoked key is announced by its id", async (t) => {
  const ann = await makeTrader();
  await operate("create_api_key", { user_id: ann, name: "key" });
  const rows = await exchange.look("select id from admin.list_api_keys(user_id => $1)", [ann]);
  await operate("revoke_api_key", { key_id: rows[0].id });
  t.deepEqual((await listener.heard()).keys, [{ apiKeyId: rows[0].id }]);
});
