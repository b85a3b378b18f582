import test from "ava";
import type { PoolClient } from "pg";
import { call } from "../../../src/database/call.ts";
import { api } from "../../../src/database/calls.ts";
import { verifyRows } from "../../helpers/database/invariants.ts";
import { buy, placeOrders, sell } from "../../helpers/exchange/orders.ts";
import { testExchange } from "../../helpers/exchange/test_exchange.ts";
import { effort, randomFrom } from "../../helpers/random.ts";
import type { Random } from "../../helpers/random.ts";

/**
 * Random programs in an exclusive event against a model, which knows what each outcome pays.
 * TEST_EFFORT=250 plays 10,000.
 */

const exchange = testExchange(test);

const DEPOSIT = 100_000;

interface Shares {
  quantity: number;
  cost: number;
  fees: number;
  realised: number;
}
type Side = "yes" | "no";
type Status = "open" | "paused" | "closed" | "resolved";
type OrderOf = ReturnType<typeof buy> | ReturnType<typeof sell>;

const none = (): Shares => ({ quantity: 0, cost: 0, fees: 0, realised: 0 });
const halfUp = (part: number, whole: number) => Math.floor((2 * part + whole) / (2 * whole));
const sum = (numbers: number[]) => numbers.reduce((total, number) => total + number, 0);

/** An amount in as many parts, which differ by a cent at most. */
const parts = (cents: number, count: number) =>
  Array.from(
    { length: count },
    (_, at) => Math.floor((cents * (at + 1)) / count) - Math.floor((cents * at) / count),
  );

/** What the rules say of an event with so many markets, in ascending id. */
class Model {
  readonly cash: number[];
  readonly held: Record<Side, Shares>[][];
  readonly status: Status[];
  readonly pays: (number | null)[];

  constructor(traders: number, markets: number) {
    this.cash = Array.from({ length: traders }, () => DEPOSIT);
    this.held = this.cash.map(() =>
      Array.from({ length: markets }, () => ({ yes: none(), no: none() })),
    );
    this.status = Array.from({ length: markets }, (): Status => "open");
    this.pays = this.status.map(() => null);
  }

  come(trader: number, market: number, side: Side, quantity: number, cost: number, fees = 0) {
    const held = this.held[trader]![market]![side];
    held.quantity += quantity;
    held.cost += cost;
    held.fees += fees;
  }

  /** What leaves with the shares: cost and fees. */
  leaving(trader: number, market: number, side: Side, quantity: number) {
    const held = this.held[trader]![market]![side];
    return {
      cost: halfUp(held.cost * quantity, held.quantity),
      fees: halfUp(held.fees * quantity, held.quantity),
    };
  }

  go(trader: number, market: number, side: Side, quantity: number, proceeds: number) {
    const { cost, fees } = this.leaving(trader, market, side, quantity);
    const held = this.held[trader]![market]![side];
    held.quantity -= quantity;
    held.cost -= cost;
    held.fees -= fees;
    held.realised += proceeds - cost - fees;
  }

  has(trader: number, market: number, side: Side) {
    return this.held[trader]![market]![side].quantity;
  }

  fee(quantity: number, price: number) {
    return Math.ceil((700 * quantity * price * (100 - price)) / 1_000_000);
  }

  /** NO shares of the named markets, or with none of them YES shares of all. */
  exchange(trader: number, named: number[] | null, quantity: number): string | null {
    const all = this.status.map((_, market) => market);
    const given = named?.toSorted() ?? all;
    const side = named === null ? "yes" : "no";
    if (this.status.includes("resolved")) return "MARKET_NOT_OPEN";
    if (named !== null && this.status.some((status) => status !== "open")) return "MARKET_NOT_OPEN";
    if (given.some((market) => this.has(trader, market, side) < quantity)) {
      return "INSUFFICIENT_BALANCE";
    }
    const others = named === null ? [] : all.filter((market) => !named.includes(market));
    const cash = 100 * quantity * (named === null ? 1 : named.length - 1);
    const spent = sum(
      given.map((market) => {
        const { cost, fees } = this.leaving(trader, market, side, quantity);
        return cost + fees;
      }),
    );
    const value = others.length === 0 ? cash : Math.max(cash, spent);
    const proceeds = parts(value, given.length);
    const costs = parts(value - cash, others.length);
    this.cash[trader]! += cash;
    for (const market of given) this.go(trader, market, side, quantity, proceeds.shift()!);
    for (const market of others) this.come(trader, market, "yes", quantity, costs.shift()!);
    return null;
  }

  pay(market: number, cents: number) {
    const before = this.pays[market] ?? null;
    for (const [trader, markets] of this.held.entries()) {
      for (const side of ["yes", "no"] as const) {
        const held = markets[market]![side];
        const worth = (pays: number) => held.quantity * (side === "yes" ? pays : 100 - pays);
        const more = worth(cents) - (before === null ? 0 : worth(before));
        this.cash[trader]! += more;
        held.realised += more - (before === null ? held.cost + held.fees : 0);
      }
    }
    this.pays[market] = cents;
    this.status[market] = "resolved";
    if (this.paid() < 100) return;
    for (const [at, status] of this.status.entries()) {
      if (status !== "resolved") this.status[at] = "closed";
    }
  }

  /** What a YES share of each market is paid, in all. */
  paid() {
    return sum(this.pays.map((pays) => pays ?? 0));
  }

  /** Pays a market anew, and others less for it; false, if that may not be. */
  correct(market: number, cents: number): boolean {
    const beyond = this.paid() - this.pays[market]! + cents - 100;
    if (beyond < 0 && !this.pays.includes(null)) return false;
    const others = this.pays.map((pays, at) => (at === market ? 0 : (pays ?? 0)));
    const most = others.indexOf(Math.max(...others));
    if (beyond > 0 && cents === 100) {
      for (const [at, pays] of others.entries()) if (pays > 0) this.pay(at, 0);
    } else if (beyond > 0) {
      if (others[most]! < beyond) return false;
      this.pay(most, others[most]! - beyond);
    }
    this.pay(market, cents);
    return true;
  }

  /** What all traders would still be paid, if a market that is open got all that is left. */
  owed(winner: number) {
    const left = 100 - this.paid();
    return sum(
      this.held.flatMap((markets) =>
        markets.map(({ yes, no }, market) => {
          if (this.pays[market] !== null) return 0;
          const pays = market === winner ? left : 0;
          return yes.quantity * pays + no.quantity * (100 - pays);
        }),
      ),
    );
  }
}

async function play(client: PoolClient, random: Random): Promise<string[]> {
  const { anyOf, between, chance, shuffled } = random;
  const operate = async (name: string, values: Record<string, unknown>) => {
    const named = Object.keys(values).map((key, at) => `"${key}" => $${at + 1}`);
    const text = `select admin.${name}(${named.join(", ")}) as value`;
    return (await client.query(text, Object.values(values))).rows[0].value;
  };
  const event: string = await operate("create_event", {
    ...{ title: "Who wins?", category: "tests", exclusive: true },
  });
  for (let count = between(2, 4); count > 0; count--) {
    await operate("create_market", { title: "It?", category: "tests", event_id: event });
  }
  const { rows: made } = await client.query(
    `select m.id, m.public_id as market from catalog.markets as m
     join catalog.events as e on e.id = m.event_id where e.public_id = $1 order by m.id`,
    [event],
  );
  const markets = made.map(({ market }): string => market);
  const traders: string[] = [];
  for (const name of shuffled(["ann", "bob", "cem"])) {
    const user_id = await operate("create_user", {
      ...{ email: `${name}@test.example`, display_name: name, handle: `${name}-m` },
    });
    await operate("deposit", { user_id, amount_cents: DEPOSIT, reference: "start" });
    const limits = { day_cents: null, week_cents: null, month_cents: null };
    await operate("set_loss_limits", { user_id, ...limits });
    traders.push(user_id);
  }

  const model = new Model(traders.length, markets.length);
  const wrong: string[] = [];
  const told: string[] = [];
  const expect = (what: string, found: unknown, due: unknown) => {
    if (JSON.stringify(found) === JSON.stringify(due)) return;
    wrong.push(`${told.join("; ")}: ${what} ${JSON.stringify(found)}, not ${JSON.stringify(due)}`);
  };
  const place = async (market: number, trader: number, request: OrderOf) => {
    const order = { marketId: markets[market]!, userId: traders[trader]!, ...request };
    const [{ code } = { code: "nothing" }] = await placeOrders(client, [order]);
    expect("order", code, null);
  };

  const checkEscrow = async () => {
    const { rows } = await client.query(
      `select (
         select sum(s.escrow_cents) from trading.market_state as s where s.market_id = any ($2)
       )::bigint + e.escrow_cents as cents
       from catalog.events as e where e.public_id = $1`,
      [event, made.map(({ id }) => id)],
    );
    const open = model.pays.flatMap((pays, market) => (pays === null ? [market] : []));
    for (const winner of open) {
      expect(`escrow if ${winner} wins`, Number(rows[0].cents), model.owed(winner));
    }
    if (model.paid() === 100) {
      expect("escrow at the end", Number(rows[0].cents), model.owed(-1));
    }
  };

  const steps: Record<string, () => Promise<void>> = {
    async split() {
      const [trader, market, quantity] = [between(0, 2), anyMarket(), between(1, 9)];
      if (model.status[market] !== "open") return;
      told.push(JSON.stringify(["split", trader, market, quantity]));
      await run("split", trader, market, quantity);
      model.cash[trader]! -= 100 * quantity;
      model.come(trader, market, "yes", quantity, 50 * quantity);
      model.come(trader, market, "no", quantity, 50 * quantity);
    },
    async merge() {
      const [trader, market] = [between(0, 2), anyMarket()];
      const most = Math.min(model.has(trader, market, "yes"), model.has(trader, market, "no"));
      if (model.status[market] === "resolved" || most === 0) return;
      const quantity = between(1, most);
      told.push(JSON.stringify(["merge", trader, market, quantity]));
      await run("merge", trader, market, quantity);
      model.cash[trader]! += 100 * quantity;
      for (const side of ["yes", "no"] as const) {
        model.go(trader, market, side, quantity, 50 * quantity);
      }
    },
    async trade() {
      const [maker, taker] = shuffled([0, 1, 2]) as [number, number, number];
      const [market, price, side] = [anyMarket(), between(1, 99), anyOf(["yes", "no"] as const)];
      if (model.status[market] !== "open") return;
      const [held, offered] = [model.has(taker, market, side), between(1, 9)];
      const sells = held > 0 && chance(0.5);
      const quantity = sells ? Math.min(held, offered) : offered;
      const other = side === "yes" ? "no" : "yes";
      told.push(JSON.stringify(["trade", maker, taker, market, side, price, quantity, sells]));
      const fee = model.fee(quantity, price);
      if (sells) {
        await place(market, maker, buy(side, quantity, price));
        await place(market, taker, sell(side, quantity, price));
        model.come(maker, market, side, quantity, quantity * price);
        model.cash[maker]! -= quantity * price;
        model.go(taker, market, side, quantity, quantity * price - fee);
        model.cash[taker]! += quantity * price - fee;
      } else {
        await place(market, maker, buy(other, quantity, 100 - price));
        await place(market, taker, buy(side, quantity, price));
        model.come(maker, market, other, quantity, quantity * (100 - price));
        model.cash[maker]! -= quantity * (100 - price);
        model.come(taker, market, side, quantity, quantity * price, fee);
        model.cash[taker]! -= quantity * price + fee;
      }
    },
    async convert() {
      const trader = between(0, 2);
      const all = shuffled(markets.map((_, market) => market));
      const held = all.filter((market) => model.has(trader, market, "no") > 0);
      const from = held.length > 0 && chance(0.9) ? held : all;
      const named = from.slice(0, between(1, from.length));
      const most = Math.min(...named.map((market) => model.has(trader, market, "no")));
      const quantity = between(1, Math.max(1, most + (chance(0.1) ? 1 : 0)));
      told.push(JSON.stringify(["convert", trader, quantity, named]));
      const marketIds = named.map((market) => markets[market]!);
      await exchanged(trader, marketIds, quantity, model.exchange(trader, named, quantity));
    },
    async redeem() {
      const trader = between(0, 2);
      const most = Math.min(...markets.map((_, market) => model.has(trader, market, "yes")));
      const quantity = between(1, Math.max(1, most));
      told.push(JSON.stringify(["redeem", trader, quantity]));
      await exchanged(trader, null, quantity, model.exchange(trader, null, quantity));
    },
    async change() {
      const [market, status] = [anyMarket(), anyOf(["open", "open", "paused", "closed"] as const)];
      if (model.status[market] === "resolved") return;
      if (model.status[market] === "closed" && status === "paused") return;
      if (model.paid() === 100 && status === "open") return;
      told.push(`${status} ${market}`);
      await operate("set_market_status", { market_id: markets[market], status });
      model.status[market] = status;
    },
    async resolve() {
      const open = model.pays.flatMap((pays, market) => (pays === null ? [market] : []));
      if (open.length === 0) return;
      const market = anyOf(open);
      const left = 100 - model.paid();
      const cents = open.length === 1 ? left : anyOf([0, 0, left, between(0, left)]);
      told.push(JSON.stringify(["resolve", market, cents]));
      await operate("resolve_market", { market_id: markets[market], ...outcomeOf(cents) });
      model.pay(market, cents);
    },
    async correct() {
      const paid = model.pays.flatMap((pays, market) => (pays === null ? [] : [market]));
      if (paid.length === 0) return;
      const market = anyOf(paid);
      const cents = anyOf([0, 100, between(0, 100)]);
      if (cents === model.pays[market] || !model.correct(market, cents)) return;
      told.push(JSON.stringify(["correct", market, cents]));
      await operate("correct_resolution", {
        ...{ market_id: markets[market], ...outcomeOf(cents), reason: "wrong" },
      });
    },
  };
  const anyMarket = () => between(0, markets.length - 1);
  const outcomeOf = (cents: number) =>
    cents === 100
      ? { outcome: "yes" }
      : cents === 0
        ? { outcome: "no" }
        : { outcome: "custom", yes_payout_cents: cents };
  const run = async (command: "split" | "merge", trader: number, market: number, q: number) => {
    const { code } = await call(client, api.runCommand, {
      ...{ command, userId: traders[trader]!, marketId: markets[market]!, quantity: q },
    });
    expect(command, code, null);
  };
  const exchanged = async (
    trader: number,
    marketIds: string[] | null,
    quantity: number,
    due: string | null,
  ) => {
    const given = { userId: traders[trader]!, eventId: event, marketIds, quantity };
    const preview = await call(client, api.previewConversion, given);
    const done = await call(client, api.convertShares, given);
    expect("code", done.code, due);
    expect("preview", [preview.code, preview.body], [done.code, done.body]);
    if (done.code !== null) return;
    const { positions, balance } = JSON.parse(done.body);
    expect("balance", balance.total, model.cash[trader]);
    const held = sum(positions.map((position: { quantity: number }) => position.quantity));
    const sides = model.held[trader]!.flatMap(({ yes, no }) => [yes.quantity, no.quantity]);
    expect("shares", held, sum(sides));
  };

  const early = ["split", "trade", "trade", "convert", "convert", "redeem", "merge", "change"];
  const late = [...early, "resolve", "resolve", "correct"];
  const length = between(6, 24);
  for (let at = 0; at < length; at++) {
    await steps[anyOf(at < length / 2 ? early : late)]!();
    await checkEscrow();
    if (chance(0.1)) expect("verify()", await verifyRows(client), []);
  }
  while (chance(0.97) && model.pays.includes(null)) await steps.resolve!();
  for (let count = between(0, 3); count > 0; count--) await steps.correct!();
  await checkEscrow();

  const { rows } = await client.query(
    `select t.balance_cents::bigint as cents from trading.traders as t
     join unnest($1::uuid[]) with ordinality as u (id, place) on u.id = t.public_id
     order by u.place`,
    [traders],
  );
  expect(
    "cash",
    rows.map(({ cents }) => Number(cents)),
    model.cash,
  );
  const { rows: positions } = await client.query(
    `select u.place::int - 1 as trader, m.place::int - 1 as market, p.side, p.quantity, p.cost_cents,
       p.fee_cents, p.realised_cents
     from trading.positions as p
     join trading.traders as t on t.user_id = p.user_id
     join unnest($1::uuid[]) with ordinality as u (id, place) on u.id = t.public_id
     join unnest($2::bigint[]) with ordinality as m (id, place) on m.id = p.market_id`,
    [traders, made.map(({ id }) => id)],
  );
  const found = model.held.map((all) => all.map(() => ({ yes: none(), no: none() })));
  for (const row of positions) {
    found[row.trader]![row.market]![row.side as Side] = {
      quantity: Number(row.quantity),
      cost: Number(row.cost_cents),
      fees: Number(row.fee_cents),
      realised: Number(row.realised_cents),
    };
  }
  // A settled position keeps its cost.
  expect("positions", found, model.held);
  expect("verify()", await verifyRows(client), []);
  return wrong;
}

test("conversions, redeems, trades, sets, resolutions and corrections are as the model says", async (t) => {
  for (let number = 0; number < effort(40); number++) {
    const random = randomFrom(`conversions ${number}`);
    const wrong = await exchange.withRollback((client) => play(client, random));
    t.deepEqual(wrong.slice(0, 1), [], `program ${number}`);
  }
});
