import { connect } from "node:net";
import type { Socket } from "node:net";
import test from "ava";
import { withClient } from "../helpers/database/test_database.ts";
import { testService } from "../helpers/http/test_service.ts";
import { passTime } from "../helpers/pass_time.ts";
import { until } from "../helpers/until.ts";
import { OWN_LOCKS } from "../helpers/database/own_locks.ts";

/** Requests whose client leaves before the answer. None of them is logged or counted as answered. */

const service = testService(test);
const { call, makeMarket, makeTrader } = service;

/** Sends the text of a request, on a socket of its own. */
function send(path: string, key: string, body: string, length = body.length): Socket {
  const { hostname, port } = new URL(service.url);
  const socket = connect(Number(port), hostname);
  const head = [
    `POST ${path} HTTP/1.1`,
    "Host: exchange",
    `Authorization: Bearer ${key}`,
    `Content-Length: ${length}`,
  ];
  socket.on("error", () => undefined);
  socket.write(`${head.join("\r\n")}\r\n\r\n${body}`);
  return socket;
}

const linesOf = (route: string) =>
  service.log.map((line) => JSON.parse(line)).filter((line) => line.route === route);

async function figures(): Promise<string> {
  passTime(1000);
  return String((await call("GET", "/metrics")).body);
}

/** How many requests of a route were counted, by status. */
async function countsOf(route: string): Promise<Record<string, number>> {
  const body = await figures();
  const pattern = new RegExp(
    `^pgmarkets_http_requests_total\\{.*route="${route}",status="(\\d+)"\\} (\\d+)`,
    "gm",
  );
  const counts = [...body.matchAll(pattern)];
  return Object.fromEntries(counts.map(([, status = "", count]) => [status, Number(count)]));
}

/** Holds the lock of a market while `work` lasts. */
async function withMarketLocked(marketId: string, work: () => Promise<void>): Promise<void> {
  await withClient(service.database.pool, async (client) => {
    await client.query("begin");
    await client.query(
      "select trading.lock_market(m.id) from catalog.markets as m where m.public_id = $1",
      [marketId],
    );
    await work();
    await client.query("rollback");
  });
}

async function someoneWaits(): Promise<boolean> {
  const { rows } = await service.database.pool.query(
    `select exists (select from ${OWN_LOCKS} where locktype = 'advisory' and not granted) as waits`,
  );
  return rows[0].waits;
}

for (const [name, route, fields] of [
  ["a split", "/api/v1/positions/split", { quantity: 1 }],
  ["an order", "/api/v1/orders", { side: "yes", price: 40, quantity: 1 }],
] as const) {
  test.serial(
    `499: ${name} whose client leaves while it waits, though it is carried out`,
    async (t) => {
      const marketId = await makeMarket();
      const { key } = await makeTrader();
      await withMarketLocked(marketId, async () => {
        const socket = send(route, key, JSON.stringify({ marketId, ...fields }));
        await until("it waits for the market", someoneWaits);
        t.deepEqual(linesOf(route), []);
        socket.destroy();
        await until("it is logged", () => Promise.resolve(linesOf(route).length > 0));
      });
      await until("it is carried out", async () => {
        const { positions, openOrders } = (await call("GET", "/api/v1/me/portfolio", { key })).body;
        return positions.length > 0 || openOrders.length > 0;
      });
      t.is(linesOf(route).length, 1, "it is logged once");
      t.like(linesOf(route)[0], { status: 499, cut: true });
      t.deepEqual(await countsOf(route), { 499: 1 });
    },
  );
}

test.serial("499: a request whose client leaves in the middle of its body", async (t) => {
  const route = "/api/v1/positions/merge";
  const { key } = await makeTrader();
  const rejections = async () =>
    /pgmarkets_rejections_total\{code="INVALID_REQUEST"\} \d+/.exec(await figures())?.[0];
  const counted = async () =>
    (await service.database.pool.query("select from rate_limits.allowances")).rowCount;
  const [before, countedBefore] = [await rejections(), await counted()];
  const socket = send(route, key, '{"marketId":', 1000);
  await until("its head is read", async () => (await counted()) !== countedBefore);
  socket.destroy();
  await until("it is logged", () => Promise.resolve(linesOf(route).length > 0));
  t.like(linesOf(route)[0], { status: 499, cut: true });
  t.is(linesOf(route)[0].code, undefined);
  t.deepEqual(await countsOf(route), { 499: 1 });
  t.is(await rejections(), before, "it is not counted as rejected");
});

for (const [name, share] of [
  ["after its body", 1],
  ["in the middle of its body", 0.5],
] as const) {
  test.serial(`cancel-all of one market whose client leaves ${name} cancels nothing`, async (t) => {
    const route = "/api/v1/orders/cancel-all";
    const [one, other] = [await makeMarket(), await makeMarket()];
    const trader = await makeTrader();
    for (const marketId of [one, other]) await service.place(trader, marketId, { price: 40 });
    const fresh = { user_id: trader.userId, name: "not looked up yet" };
    const key: string = await service.operate("create_api_key", fresh);
    const body = JSON.stringify({ marketId: one });
    await withClient(service.database.pool, async (client) => {
      await client.query("begin");
      await client.query("lock table identity.api_keys");
      const logged = linesOf(route).length;
      const socket = send(route, key, body.slice(0, share * body.length), body.length);
      await until("its key is looked up", async () => {
        const { rows } = await client.query(
          `select from ${OWN_LOCKS} where locktype = 'relation' and not granted`,
        );
        return rows.length > 0;
      });
      socket.destroy();
      await until("it is logged", () => Promise.resolve(linesOf(route).length > logged));
      await client.query("rollback");
    });
    // It comes behind those of its user that are under way.
    const after = await call("POST", route, { key, body: { marketId: one } });
    t.is(after.body.cancelled, 1);
    const { openOrders } = (await call("GET", "/api/v1/me/portfolio", { key })).body;
    t.deepEqual(
      openOrders.map(({ marketId }: { marketId: string }) => marketId),
      [other],
    );
  });
}
