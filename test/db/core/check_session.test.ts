import test from "ava";
import { testExchange } from "../../helpers/exchange/test_exchange.ts";
import { buy } from "../../helpers/exchange/orders.ts";

const exchange = testExchange(test);
const { makeLiveMarket, makeMarket, makeTrader, rest, withRollback } = exchange;

/** Each kind of command that takes a lock, by what a market, a trader and an order of theirs are. */
const commands: Record<string, string> = {
  place_orders: `api.place_orders(jsonb_build_array(jsonb_build_object(
    'marketId', $1::uuid, 'userId', $2::uuid, 'side', 'yes', 'price', 10, 'quantity', 1)))`,
  run_orders: `api.run_orders(
    jsonb_build_array(jsonb_build_object('marketId', gen_random_uuid(), 'userId', $2::uuid,
      'side', 'yes', 'price', 10, 'quantity', 1)), waits => false, skips => true)`,
  amend_order: "api.run_command('amend', $2, $3, price => 11)",
  cancel_order: "api.run_command('cancel', $2, $3)",
  split_position: "api.run_command('split', $2, market_id => $1, quantity => 1)",
  merge_position: "api.run_command('merge', $2, market_id => $1, quantity => 1)",
  release_orders: "jobs.release_orders((select id from catalog.markets where public_id = $1))",
  release_group: "jobs.release_group(array(select id from catalog.markets where public_id = $1))",
  deposit: "admin.deposit($2, 1, 'x')",
  withdraw: "admin.withdraw($2, 1, 'x')",
  give_bonus: `admin.give_bonus('x', jsonb_build_array(
    jsonb_build_object('user_id', $2::uuid, 'amount_cents', 1)))`,
  adjust_balance: "admin.adjust_balance($2, 1, 'x', 'x')",
  pay_out_fees: "admin.pay_out_fees(1, 'x')",
  set_loss_limits: "admin.set_loss_limits($2, 1, 1, 1)",
  self_exclude: "admin.self_exclude($2)",
  set_market_status: "admin.set_market_status($1, 'paused')",
  resolve_market: "admin.resolve_market($1, 'yes')",
  correct_resolution: "admin.correct_resolution($1, 'no', 'x')",
  set_trading_pause: "admin.set_trading_pause(true, 'x')",
  set_profile: "admin.set_profile($2, private => true)",
  create_market: "admin.create_market('x', 'tests')",
  refresh_leaderboard: "admin.refresh_leaderboard()",
  warm_up: "api.warm_up()",
};

const unfit = {
  "transaction isolation level repeatable read": /^The transaction isolation is repeatable read/,
  "transaction isolation level serializable": /^The transaction isolation is serializable/,
  "local session_replication_role = replica": /^The session_replication_role is replica/,
};

/** What the commands are about: refused, they change none of it. */
let scene: { market: string; liveMarket: string; trader: string; order: string };

test.before("make the markets, the trader and the order", async () => {
  const [market, trader] = [await makeMarket(), await makeTrader()];
  const [order] = await rest(market, trader, buy("yes", 1, 5));
  scene = { market, liveMarket: (await makeLiveMarket()).market, trader, order };
});

for (const [setting, message] of Object.entries(unfit)) {
  for (const [name, call] of Object.entries(commands)) {
    test(`UNFIT_SESSION: ${name} under ${setting}`, async (t) => {
      const { liveMarket, trader, order } = scene;
      const market = name.startsWith("release_") ? liveMarket : scene.market;
      await withRollback(async (client) => {
        await client.query(`set ${setting}`);
        const error: any = await t.throwsAsync(
          client.query(
            `with given as (select $1::uuid, $2::uuid, $3::uuid) select ${call} from given`,
            [market, trader, order],
          ),
        );
        t.is(error.code, "EX025");
        t.is(error.detail, "UNFIT_SESSION");
        t.regex(error.message, message);
      });
    });
  }
}

test("reports may be read under any isolation", async (t) => {
  await withRollback(async (client) => {
    await client.query("set transaction isolation level repeatable read");
    t.deepEqual((await client.query("select * from ledger.verify()")).rows, []);
    await client.query("select api.list_categories()");
  });
});
