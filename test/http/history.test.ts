import test from "ava";
import { fillsResponseSchema, orderHistoryResponseSchema } from "../../src/api/history.ts";
import { statementResponseSchema } from "../../src/api/history.ts";
import { testService } from "../helpers/http/test_service.ts";
import type { Trader } from "../helpers/http/test_service.ts";

/** What happened to the caller's orders and account: history, fills and statement. */

const service = testService(test);
const { call, makeMarket, makeTrader, operate } = service;

const get = async ({ key }: Trader, path: string) =>
  await call("GET", `/api/v1/me/${path}`, { key });

/** All pages of a list, and how long each was. */
async function pagesOf(trader: Trader, path: string): Promise<{ data: any[]; sizes: number[] }> {
  const data: any[] = [];
  const sizes: number[] = [];
  for (let cursor = ""; ;) {
    const { body, status } = await get(trader, path + cursor);
    if (status !== 200) throw new Error(JSON.stringify(body));
    data.push(...body.data);
    sizes.push(body.data.length);
    if (sizes.length > 100) throw new Error("The pages have no end");
    if (body.nextCursor === null) return { data, sizes };
    cursor = `&cursor=${body.nextCursor}`;
  }
}

const sumOf = (rows: Record<string, number>[], member: string): number =>
  rows.reduce((sum, row) => sum + row[member]!, 0);

let ann: Trader;
let bob: Trader;
let marketId: string;
let other: string;
const placed: any[] = [];

test.serial.before("trade", async () => {
  [ann, bob] = [await makeTrader(), await makeTrader()];
  marketId = await makeMarket();
  other = await makeMarket();
  const place = async ({ key }: Trader, order: Record<string, unknown>) => {
    const { body } = await call("POST", "/api/v1/orders", { key, body: { marketId, ...order } });
    if (body.order === undefined) throw new Error(JSON.stringify(body));
    placed.push(body);
    return body.order.id as string;
  };
  await place(bob, { side: "no", price: 40, quantity: 10 });
  await place(bob, { side: "no", price: 38, quantity: 10 });
  await place(ann, { side: "yes", price: 62, quantity: 15 });
  await place(bob, { side: "yes", price: 55, quantity: 4 });
  await place(ann, { side: "yes", orderType: "sell", price: 55, quantity: 4 });
  const id = await place(ann, { side: "yes", price: 10, quantity: 7 });
  await call("PATCH", `/api/v1/orders/${id}`, { key: ann.key, body: { price: 11 } });
  await place(ann, { side: "no", price: 30, quantity: 5, marketId: other });
  await place(bob, { side: "yes", price: 70, quantity: 5, marketId: other });
  const sets = { marketId: other, quantity: 3 };
  await call("POST", "/api/v1/positions/split", { key: ann.key, body: sets });
  await operate("withdraw", { user_id: ann.userId, amount_cents: 500, reference: "=1+1" });
  await operate("give_bonus", {
    name: "welcome",
    users: JSON.stringify([{ user_id: ann.userId, amount_cents: 300 }]),
  });
  const adjustment = { user_id: ann.userId, amount_cents: -40, reference: "ticket 1" };
  await operate("adjust_balance", { ...adjustment, reason: "paid twice" });
  await operate("deposit", { user_id: ann.userId, amount_cents: 70, reference: "bank 1" });
  await operate("reverse_deposit", { reference: "bank 1", reason: "charged back" });
});

test.serial("order history: every order once, with fills, average price and fee", async (t) => {
  const { body } = await get(ann, "order-history");
  t.notThrows(() => orderHistoryResponseSchema.parse(body));
  const [inOther, replacement, replaced, sell, buy] = body.data;
  t.is(body.data.length, 5);
  t.is(body.nextCursor, null);

  // 10 at 60 and 5 at 62, whose cost in all is 910: the maker's price rules.
  t.is(buy.averagePrice, 60.6667);
  t.deepEqual(
    buy.fills.map((fill: any) => [fill.price, fill.quantity, fill.liquidity]),
    [
      [60, 10, "taker"],
      [62, 5, "taker"],
    ],
  );
  // 7 % of (10 x 60 x 40 + 5 x 62 x 38) / 100, rounded up once.
  t.is(buy.feeCents, Math.ceil((0.07 * (10 * 60 * 40 + 5 * 62 * 38)) / 100));
  t.is(sumOf(buy.fills, "feeCents"), buy.feeCents);
  t.like(sell, { orderType: "sell", side: "yes", averagePrice: 55, status: "filled" });
  t.like(sell.fills[0], { side: "yes", orderType: "sell", price: 55 });
  t.deepEqual([replaced.status, replaced.cancelReason], ["cancelled", "user_amended"]);
  t.deepEqual(
    [replaced.replaces, replaced.replacedBy, replacement.replaces, replacement.replacedBy],
    [null, replacement.id, replaced.id, null],
  );
  t.deepEqual([replaced.averagePrice, replaced.feeCents, replaced.fills], [null, 0, []]);
  t.like(inOther.fills[0], { side: "no", price: 30, liquidity: "maker", feeCents: 0 });

  const ofBob = (await get(bob, "order-history")).body;
  t.deepEqual([ofBob.data.length, ofBob.nextCursor], [4, null], "those of Bob, and no others");

  for (const order of body.data) {
    const one = await call("GET", `/api/v1/orders/${order.id}`, { key: ann.key });
    t.deepEqual(one.body, order);
  }
});

test.serial("fills: each as its own user sees it, with the account after it", async (t) => {
  const { body } = await get(ann, "fills");
  t.notThrows(() => fillsResponseSchema.parse(body));
  t.deepEqual(
    body.data.map((fill: any) => [fill.side, fill.orderType, fill.price, fill.quantity]),
    [
      ["no", "buy", 30, 5],
      ["yes", "sell", 55, 4],
      ["yes", "buy", 62, 5],
      ["yes", "buy", 60, 10],
    ],
  );
  const [, sell, late, early] = body.data;
  t.is(early.cashCents, -(10 * 60) - early.feeCents);
  t.is(early.balanceAfter - early.cashCents, 1_000_000);
  t.is(late.balanceAfter - late.cashCents, early.balanceAfter);
  t.is(sell.cashCents, 4 * 55 - sell.feeCents);
  t.is(early.realisedPnl, null);
  const [, , ofBob] = (await get(bob, "fills")).body.data;
  t.is(ofBob.id, late.id, "the other side of the same trade");
  t.like(ofBob, { side: "no", price: 38, liquidity: "maker", cashCents: -5 * 38 });
});

test.serial("fills of one market, and of one order", async (t) => {
  const ofMarket = (await get(ann, `fills?marketId=${other}`)).body;
  t.deepEqual([ofMarket.data.length, ofMarket.nextCursor], [1, null]);
  const bought = placed[2].order.id;
  const ofOrder = (await get(ann, `fills?orderId=${bought}`)).body.data;
  t.is(ofOrder.length, 2);
  for (const fill of ofOrder) t.is(fill.orderId, bought);
  const both = (await get(ann, `fills?orderId=${bought}&marketId=${other}`)).body.data;
  t.deepEqual(both, []);
  t.deepEqual((await get(bob, `fills?orderId=${bought}`)).body.data, [], "not the own order");
  const history = (await get(ann, `order-history?marketId=${other}`)).body;
  t.deepEqual([history.data.length, history.nextCursor], [1, null]);
});

test.serial("statement: every cent that came and went, without a gap", async (t) => {
  const { body } = await get(ann, "statement");
  t.notThrows(() => statementResponseSchema.parse(body));
  t.deepEqual(
    body.data.map(({ id, kind }: any) => [id, kind]),
    [
      [11, "reversal"],
      [10, "deposit"],
      [9, "adjustment"],
      [8, "bonus"],
      [7, "withdrawal"],
      [6, "split"],
      [5, "trade"],
      [4, "trade"],
      [3, "trade"],
      [2, "trade"],
      [1, "deposit"],
    ],
  );
  let balance = 0;
  for (const entry of body.data.toReversed()) {
    balance += Number(entry.amountCents);
    t.is(entry.balanceAfter, balance);
  }
  t.is((await call("GET", "/api/v1/me", { key: ann.key })).body.balance, balance);
  // Bob's statement has no entry of Ann's: it adds up without a gap, too.
  const ofBob = (await get(bob, "statement")).body.data;
  t.deepEqual(
    ofBob.map(({ id }: any) => id),
    ofBob.map((_: unknown, index: number) => ofBob.length - index),
  );
  t.is(sumOf(ofBob, "amountCents"), ofBob[0].balanceAfter);
  const [reversal, , adjustment, bonus, withdrawal, split, trade] = body.data;
  t.like(reversal, { amountCents: -70, reference: "bank 1", marketId: null, tradeId: null });
  t.like(adjustment, { amountCents: -40, reference: "ticket 1", marketId: null, tradeId: null });
  t.like(bonus, { amountCents: 300, reference: "welcome", marketId: null, tradeId: null });
  t.like(withdrawal, { amountCents: -500, reference: "=1+1", marketId: null, tradeId: null });
  t.like(split, { amountCents: -300, marketId: other, tradeId: null, reference: null });
  t.is(trade.tradeId, (await get(ann, "fills")).body.data[0].id);
});

for (const list of ["order-history", "fills", "statement"]) {
  test.serial(`${list} by pages of any size has the same rows, none twice`, async (t) => {
    for (const trader of [ann, bob]) {
      const whole = (await get(trader, `${list}?limit=200`)).body.data;
      t.true(whole.length > 3);
      for (const limit of [1, 2, 3, whole.length]) {
        const { data, sizes } = await pagesOf(trader, `${list}?limit=${limit}`);
        t.deepEqual(data, whole);
        t.deepEqual(sizes.filter((size) => size === 0).length, 0);
      }
    }
  });

  test.serial(`${list} goes on where it was, although more is new`, async (t) => {
    const first = (await get(bob, `${list}?limit=2`)).body;
    const rest = async () =>
      (await get(bob, `${list}?limit=200&cursor=${first.nextCursor}`)).body.data;
    const before = await rest();
    await operate("deposit", { user_id: bob.userId, amount_cents: 1, reference: `more ${list}` });
    const body = { marketId, side: "yes", price: 3, quantity: 1 };
    await call("POST", "/api/v1/orders", { key: bob.key, body });
    t.deepEqual(await rest(), before);
  });

  test.serial(`400 INVALID_REQUEST: a cursor of ${list} that is none`, async (t) => {
    for (const cursor of ["x", "-1", "1.2.3", "99999999999999999999", "1;"]) {
      const answer = await get(bob, `${list}?cursor=${encodeURIComponent(cursor)}`);
      t.is(answer.body.code, "INVALID_REQUEST", cursor);
    }
  });
}

test.serial("statement of a time: from it on, and before another", async (t) => {
  const { data } = (await get(ann, "statement")).body;
  const [from, to] = [data[4].createdAt, data[1].createdAt];
  const part = (await get(ann, `statement?from=${from}&to=${to}`)).body;
  // Times of the database have microseconds, those of answers do not.
  const ids = part.data.map(({ id }: any) => id);
  t.deepEqual(
    ids,
    ids.toSorted((a: number, b: number) => b - a),
  );
  for (const entry of part.data) t.true(entry.createdAt >= from && entry.createdAt <= to);
  t.true(ids.includes(data[2].id) && ids.includes(data[4].id));
  for (const { id } of [data[0], data[6]]) t.false(ids.includes(id));
  t.is(part.nextCursor, null);
  const none = (await get(ann, "statement?to=2020-01-01T00:00:00Z")).body;
  t.deepEqual(none, { data: [], nextCursor: null });
});

test.serial("Accept: text/csv gives fills and statement as CSV", async (t) => {
  for (const [list, columns] of [
    [
      "fills",
      "id,orderId,marketId,side,orderType,price,quantity,liquidity,feeCents,cashCents," +
        "balanceAfter,realisedPnl,createdAt",
    ],
    ["statement", "id,kind,amountCents,balanceAfter,marketId,tradeId,reference,createdAt"],
  ] as const) {
    const asked = `/api/v1/me/${list}?limit=2`;
    const options = { key: ann.key, headers: { accept: "text/csv" } };
    const answer = await call("GET", asked, options);
    t.is(answer.status, 200);
    t.is(answer.headers.get("content-type"), "text/csv; charset=utf-8");
    t.is(answer.headers.get("vary"), "Accept");
    t.is(answer.headers.get("content-disposition"), `attachment; filename="${list}.csv"`);
    const [head, ...rows] = (answer.body as string).trimEnd().split("\r\n");
    t.is(head, columns);
    t.is(rows.length, 2);
    const json = (await get(ann, `${list}?limit=2`)).body;
    const cells = rows[1]!.split(",");
    t.is(cells[0], String(json.data[1].id));
    t.is(cells.at(-1), json.data[1].createdAt);
    const next = /^<(.+)>; rel="next"$/.exec(answer.headers.get("link") ?? "")?.[1];
    t.is(next, `${asked}&cursor=${json.nextCursor}`);
    t.is((await call("GET", next!, options)).status, 200);
  }
  const all = await call("GET", "/api/v1/me/statement", {
    key: ann.key,
    headers: { accept: "text/csv" },
  });
  t.true(all.body.includes(",'=1+1,"), "no formula for a spreadsheet");
});
