import test from "ava";
import type { PoolClient } from "pg";
import { testExchange } from "../../helpers/exchange/test_exchange.ts";
import { fingerprintTables } from "../../helpers/database/tables.ts";
import { withRollback } from "../../helpers/database/test_database.ts";
import { buy, ioc, sell, spend } from "../../helpers/exchange/orders.ts";
import type { Request } from "../../helpers/exchange/orders.ts";
import { makeCast, playAndUndo, together } from "../../helpers/model/play.ts";
import type { PlacedRequest, PlacedRow, Placing } from "../../helpers/model/play.ts";
import { expectSame, holds } from "../../helpers/model/laws.ts";

/** A preview says what an order then does, and neither changes anything nor waits. */

const exchange = testExchange(test);

test.serial(
  "a preview says what the order then does; a rejected order has no effect",
  async (t) => {
    const cast = await makeCast(exchange);
    const seen = new Map<string, number>();
    const count = (name: string) => seen.set(name, (seen.get(name) ?? 0) + 1);

    const placing: Placing = async (client, requests) => {
      const rows: PlacedRow[] = [];
      let before = await fingerprintTables(client);
      for (const request of requests) {
        // A preview knows of no key.
        const order = { ...request, idempotencyKey: null };
        const previewed = await preview(client, request);
        expectSame("changed by a preview", changes(before, await fingerprintTables(client)), []);

        const balance = await balanceOf(client, request.userId);
        const [row] = (await together(client, [order])) as [PlacedRow];
        expectSame(
          "preview",
          Object.entries(previewed),
          Object.entries(expected(row, order, balance)),
        );
        count(row.code ?? JSON.parse(row.body!).order.status);
        const after = await fingerprintTables(client);
        if (row.code !== null) {
          const changed = changes(before, after);
          // Makers that must be cancelled are, even if nothing else is there to trade with.
          if (changed.includes("trading.ended_orders")) {
            expectSame("code of a rejection with effects", [row.code], ["INSUFFICIENT_LIQUIDITY"]);
            count("cancelled makers");
          } else {
            expectSame("changed by a rejection", changed, []);
          }
        }
        before = after;
        rows.push(row);
      }
      return rows;
    };
    await holds(t, 5, async (program) => {
      await playAndUndo(exchange, cast, program, placing);
    });
    t.log(JSON.stringify(Object.fromEntries(seen)));
    const rejected = ["INVALID_REQUEST", "MARKET_NOT_FOUND", "MARKET_NOT_OPEN", "ACCOUNT_FROZEN"];
    for (const name of ["open", "filled", "scheduled", ...rejected]) t.true(seen.has(name), name);
  },
);

test.serial("a preview of a rejected order shows the balance of its own user", async (t) => {
  const market = await exchange.makeMarket();
  const traders = [
    await exchange.makeTrader({ cents: 1000 }),
    await exchange.makeTrader({ cents: 2000 }),
  ] as const;
  const { pool } = exchange.database;
  // Ids do not ascend, so both ways: the maker may come first among those that matching reads.
  for (const [user, maker, cents] of [
    [traders[0], traders[1], 1000],
    [traders[1], traders[0], 2000],
  ] as const) {
    const [resting] = await exchange.rest(market, maker, buy("no", 10, 40));
    const request = { marketId: market, userId: user, ...buy("yes", 100, 60) };
    const previewed = await withRollback(pool, (client) => preview(client, request));
    t.like(previewed, { status: "rejected", balanceAfter: cents });
    await exchange.cancel(maker, resting);
  }
});

test.serial("a preview takes no lock and waits for none", async (t) => {
  await exchange.clock.release();
  const [market, ann, bob] = await exchange.makeMarketWith(2);
  await exchange.split(market, bob, 50);
  await exchange.rest(market, bob, buy("no", 10, 40), sell("yes", 10, 61));
  const requests: Request[] = [
    buy("yes", 15, 65),
    buy("yes", 500, 65),
    buy("no", 5, 30),
    buy("yes", 5, 60, ioc),
    spend("yes", 900),
    sell("yes", 5, 50),
  ];
  const { pool } = exchange.database;
  const holder = await pool.connect();
  const client = await pool.connect();
  try {
    await holder.query("begin");
    await holder.query("select trading.lock_market(m.id) from catalog.markets as m");
    await holder.query("select from trading.traders for update");
    await holder.query("select from trading.market_state for update");
    await holder.query("select from trading.active_orders for update");
    await client.query("begin");
    await client.query("set local lock_timeout = 1");
    for (const request of requests) {
      for (const userId of [ann, bob]) {
        const { status } = await preview(client, { marketId: market, userId, ...request });
        t.is(typeof status, "string");
      }
    }
    const { rows } = await client.query(
      `select
         pg_current_xact_id_if_assigned() is null as writes_nothing,
         (select count(*) from pg_locks
          where pid = pg_backend_pid()
            and (locktype = 'advisory' or mode not in ('AccessShareLock', 'ExclusiveLock'))
         ) as locks`,
    );
    t.deepEqual(rows, [{ writes_nothing: true, locks: 0 }]);
  } finally {
    await client.query("rollback");
    await holder.query("rollback");
    client.release();
    holder.release();
  }
});

async function preview(client: PoolClient, request: object) {
  const { rows } = await client.query('select * from api.preview_order("order" => $1)', [
    JSON.stringify(request),
  ]);
  const [{ code, message, replayed, body }] = rows;
  expectSame("result of a preview", [code, message, replayed], [null, null, false]);
  return JSON.parse(body);
}

/** The preview that an order must have had, computed from its answer. */
function expected(row: PlacedRow, order: PlacedRequest, balance: number) {
  if (row.code !== null) {
    return {
      ...{ status: "rejected", fills: [], filledQuantity: 0, averagePrice: null, costCents: 0 },
      ...{ feeCents: 0, restingQuantity: 0, balanceAfter: balance },
      rejection: rejectionOf(row),
    };
  }
  const answer = JSON.parse(row.body!);
  const fills: { price: number; quantity: number }[] = answer.fills;
  const filled = fills.reduce((sum, { quantity }) => sum + quantity, 0);
  const ownPrice = (price: number) => (order.side === "yes" ? price : 100 - price);
  const cents = fills.reduce((sum, { price, quantity }) => sum + quantity * ownPrice(price), 0);
  const { status, quantity, filledQuantity } = answer.order;
  return {
    status,
    fills: fills.map(({ price, quantity: shares }) => ({ price, quantity: shares })),
    filledQuantity: filled,
    averagePrice: filled === 0 ? null : Number((cents / filled).toFixed(4)),
    costCents: order.orderType === "sell" ? 0 - cents : cents,
    feeCents: answer.feeCents ?? 0,
    restingQuantity: ["open", "partially_filled"].includes(status) ? quantity - filledQuantity : 0,
    balanceAfter: answer.balance.total,
    rejection: null,
  };
}

/** The documented answers to what may be wrong with an order. */
const rejections: Record<string, [status: number, error: string]> = {
  INVALID_REQUEST: [400, "Invalid request"],
  TRADING_PAUSED: [503, "Trading is paused"],
  SELF_EXCLUDED: [403, "Account is self-excluded from trading"],
  ACCOUNT_FROZEN: [403, "Account is frozen"],
  MARKET_NOT_FOUND: [400, "Market not found"],
  MARKET_NOT_OPEN: [400, "Market is not open for trading"],
  SELF_TRADE_BLOCKED: [400, "Order would match your own resting order"],
  POST_ONLY_WOULD_CROSS: [400, "Post-only order would trade immediately"],
  INSUFFICIENT_LIQUIDITY: [400, "No matching liquidity"],
  INSUFFICIENT_BALANCE: [400, "Not enough balance or position"],
  LOSS_LIMIT: [422, "Order would exceed the loss limit"],
};

function rejectionOf({ code, message }: PlacedRow) {
  const [status, error] = rejections[code!]!;
  return { status, error: message ?? error, code };
}

async function balanceOf(client: PoolClient, trader: string): Promise<number> {
  const { rows } = await client.query(
    "select balance_cents from trading.traders where public_id = $1",
    [trader],
  );
  return rows[0].balance_cents;
}

function changes(before: Record<string, string>, after: Record<string, string>): string[] {
  return Object.keys(after).filter((table) => after[table] !== before[table]);
}
