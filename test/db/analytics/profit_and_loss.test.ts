import test from "ava";
import type { PoolClient } from "pg";
import { testExchange } from "../../helpers/exchange/test_exchange.ts";
import { runModel } from "../../helpers/model/rules.ts";
import { DAY_MS, hasExpired, openCost, openOf } from "../../helpers/model/state.ts";
import type { Model, State } from "../../helpers/model/state.ts";
import { makeCast, play, together } from "../../helpers/model/play.ts";
import type { Cast } from "../../helpers/model/play.ts";
import { world } from "../../helpers/model/programs.ts";
import type { Step } from "../../helpers/model/programs.ts";
import { expectSame, holds } from "../../helpers/model/laws.ts";

/** Cash, shares and profit as analysts see them, against the plain rules of helpers/model.ts. */

const exchange = testExchange(test);

/** Half of the histories resolve a market, and some of these correct it. */
const ends: Step[][] = [
  [],
  [{ kind: "resolve", market: 1, yesCents: 33 }],
  [
    { kind: "resolve", market: 0, yesCents: 100 },
    { kind: "advance", ms: DAY_MS },
    { kind: "resolve", market: 0, yesCents: 20 },
  ],
  [{ kind: "split", trader: 5, market: 1, quantity: 3 }],
];

test("cash and the value of open shares less deposits is what each trader made", async (t) => {
  const cast = await makeCast(exchange);
  const start = {
    now: Date.parse(world.startsAt),
    cents: world.cents,
    limits: world.limits,
    markets: world.markets,
  };
  const seen = new Set<string>();
  let number = 0;
  await holds(t, 40, async (history) => {
    const program = [...history, ...ends[number++ % ends.length]!];
    const { state } = runModel(start, program);
    const found = await exchange.withRollback(async (client) => {
      await play(client, cast, program, together);
      return readViews(client, cast);
    });

    expectSame("position", found.positions, positionsOf(state));
    expectSame("trader", found.users, usersOf(state));
    expectSame("market", found.interest, interestOf(state));
    // From the cash alone: what is there and what it would bring, less what was brought in.
    expectSame(
      "profit",
      found.profits,
      state.traders.map(({ cents }, trader) => [
        trader,
        cents + valueOf(state, trader) - found.deposits[trader]!,
      ]),
    );
    for (const { status } of state.markets) seen.add(status);
  });
  for (const status of ["open", "resolved"]) t.true(seen.has(status), status);
});

async function readViews(client: PoolClient, { traders, markets }: Cast) {
  const rowsOf = async (text: string): Promise<any[]> =>
    (await client.query({ text, rowMode: "array" })).rows;
  const deposits = await rowsOf(`
    select coalesce(sum(case c.kind when 'withdrawal' then - c.amount_cents else c.amount_cents end), 0)
    from identity.users as u
    left join ledger.cash_movements as c on c.user_id = u.id
    group by u.public_id
    order by array_position('{${traders.join()}}', u.public_id)`);
  await client.query("set local role exchange_analyst");
  // The places of a row's market and user in the cast.
  const market = `(
    select array_position('{${markets.join()}}', m.market_id) - 1
    from analytics.markets as m where m.market_key = x.market_key)`;
  const user = `(
    select array_position('{${traders.join()}}', u.user_id) - 1
    from analytics.users as u where u.user_key = x.user_key)`;
  return {
    deposits: deposits.map(([cents]) => Number(cents)),
    positions: await rowsOf(`
      select concat_ws(' ', ${market}, ${user}, x.side) collate "C", x.is_settled, x.quantity,
        x.open_quantity, x.cost_cents, x.fee_cents, x.open_cost_cents, x.realised_cents,
        x.mark_price_cents, x.mark_value_cents, x.unrealised_cents
      from analytics.positions as x
      where x.quantity <> 0 or x.cost_cents <> 0 or x.realised_cents <> 0
      order by 1`),
    users: await rowsOf(`
      select x.balance_cents, x.day_net_spent_cents, x.week_net_spent_cents,
        x.month_net_spent_cents, x.active_order_cost_cents,
        (select count(*) from analytics.open_orders as o where o.user_key = x.user_key)
      from analytics.users as x order by ${user}`),
    interest: await rowsOf(`
      select x.pair_count, x.yes_holder_count, x.no_holder_count, x.escrow_cents
      from analytics.open_interest as x order by ${market}`),
    profits: (
      await rowsOf(`
        select ${user}, coalesce(sum(p.realised_cents + p.unrealised_cents), 0)
        from analytics.users as x
        left join analytics.positions as p on p.user_key = x.user_key
        group by x.user_key order by ${user}`)
    ).map((row) => row.map(Number)),
  };
}

type Open = Model["state"];

/** What a share of a market is worth, or was paid. */
function priceOf({ markets }: Open, market: number, side: string): number {
  const { yesCents, lastPrice } = markets[market]!;
  const yes = yesCents ?? lastPrice ?? 50;
  return side === "yes" ? yes : 100 - yes;
}

function positionsOf(state: State): unknown[] {
  return [...state.holdings]
    .filter(([, held]) => held.quantity !== 0 || held.realised !== 0 || held.cost !== 0)
    .map(([name, { quantity, cost, fees, realised }]) => {
      const [market, , side] = name.split(" ");
      const isSettled = state.markets[Number(market)]!.status === "resolved";
      const price = priceOf(state, Number(market), side!);
      const open = isSettled ? 0 : quantity;
      const openCost = isSettled ? 0 : cost + fees;
      return [
        ...[name, isSettled, quantity, open, cost, fees, openCost, realised],
        ...[price, open * price, open * price - openCost],
      ];
    })
    .sort(([a], [b]) => (a! < b! ? -1 : 1));
}

function valueOf(state: State, trader: number): number {
  return [...state.holdings].reduce((value, [name, { quantity }]) => {
    const [market, owner, side] = name.split(" ");
    const isOpen = state.markets[Number(market)]!.status !== "resolved";
    if (Number(owner) !== trader || !isOpen) return value;
    return value + quantity * priceOf(state, Number(market), side!);
  }, 0);
}

function usersOf(state: State): unknown[] {
  const today = Math.floor(state.now / DAY_MS);
  return state.traders.map(({ cents, spent }, trader) => {
    const since = (days: number) =>
      [...spent].reduce((total, [day, net]) => total + (day > today - days ? net : 0), 0);
    const open = openOf(state, trader).filter((order) => !hasExpired(state, order));
    return [cents, since(1), since(7), since(30), openCost(state, trader, null), open.length];
  });
}

function interestOf(state: State): unknown[] {
  return state.markets.map(({ status }, market) => {
    const held = (side: string) =>
      [...state.holdings]
        .filter(([name]) => name.startsWith(`${market} `) && name.endsWith(` ${side}`))
        .map(([, { quantity }]) => (status === "resolved" ? 0 : quantity))
        .filter((quantity) => quantity > 0);
    const [yes, no] = [held("yes"), held("no")];
    const pairs = yes.reduce((total, quantity) => total + quantity, 0);
    return [pairs, yes.length, no.length, 100 * pairs];
  });
}
