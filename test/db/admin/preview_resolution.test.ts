import test from "ava";
import { testExchange } from "../../helpers/exchange/test_exchange.ts";
import { buy } from "../../helpers/exchange/orders.ts";

const exchange = testExchange(test);
const { makeMarket, makeMarketWith, operate, place, rest } = exchange;

const nowhere = "01900000-0000-7000-8000-000000000000";

async function preview(market: string, outcome: string, yesPayoutCents?: number) {
  const operators = exchange.database.connectAs("exchange_operator", { max: 1 });
  const { rows } = await operators.query(
    `select user_id as trader, side, quantity, payout_cents as payout,
       realised_pnl_cents as realised
     from admin.preview_resolution(market_id => $1, outcome => $2, yes_payout_cents => $3)
     order by quantity desc`,
    [market, outcome, yesPayoutCents],
  );
  await operators.end();
  return rows;
}

/** Ann holds 15 YES that cost 900; Bob 10 NO that cost 400 and a fee of 17; Cid 5 NO for 200. */
async function makeThree() {
  const [market, ann, bob, cid] = await makeMarketWith(3);
  await rest(market, cid, buy("no", 5, 40));
  await place(market, ann, buy("yes", 15, 60)); // fee 8.4
  await place(market, bob, buy("no", 10, 40));
  return { market, ann, bob, cid };
}

test("one row for each position with shares: its payout and what it would realise", async (t) => {
  const { market, ann, bob, cid } = await makeThree();
  t.deepEqual(await preview(market, "yes"), [
    { trader: ann, side: "yes", quantity: 15, payout: 1500, realised: 1500 - 900 - 9 },
    { trader: bob, side: "no", quantity: 10, payout: 0, realised: -417 },
    { trader: cid, side: "no", quantity: 5, payout: 0, realised: -200 },
  ]);
  t.deepEqual(await preview(market, "custom", 70), [
    { trader: ann, side: "yes", quantity: 15, payout: 1050, realised: 1050 - 900 - 9 },
    { trader: bob, side: "no", quantity: 10, payout: 300, realised: 300 - 417 },
    { trader: cid, side: "no", quantity: 5, payout: 150, realised: 150 - 200 },
  ]);
});

test.serial("it changes nothing but the audit log", async (t) => {
  const { market } = await makeThree();
  const before = await exchange.dump();
  await preview(market, "custom", 70);
  const after = await exchange.dump();
  const changed = Object.keys(before).filter((table) => before[table] !== after[table]);
  t.deepEqual(changed, ["admin.audit_log"]);
});

test("a resolution does what its preview shows; for a resolved market it shows the correction", async (t) => {
  const { market } = await makeThree();
  const settled = async () => {
    const rows = await exchange.query(
      `select u.public_id as trader, s.side, s.quantity, s.payout_cents as payout,
         s.realised_cents as realised
       from trading.settlements as s
       join trading.resolutions as r on r.id = s.resolution_id
       join catalog.markets as m on m.id = r.market_id
       join identity.users as u on u.id = s.user_id
       where m.public_id = $1
         and r.id = (select max(x.id) from trading.resolutions as x where x.market_id = m.id)
       order by s.quantity desc`,
      [market],
    );
    return rows;
  };
  const first = await preview(market, "custom", 35);
  await operate("resolve_market", { market_id: market, outcome: "custom", yes_payout_cents: 35 });
  t.deepEqual(await settled(), first);
  const second = await preview(market, "no");
  await operate("correct_resolution", { market_id: market, outcome: "no", reason: "a mistake" });
  t.deepEqual(await settled(), second);
});

test("INVALID_REQUEST and NOT_FOUND: the same as for resolve_market", async (t) => {
  const market = await makeMarket();
  await t.throwsAsync(preview(market, "maybe"), { code: "EX001" });
  await t.throwsAsync(preview(market, "custom"), { code: "EX001" });
  await t.throwsAsync(preview(market, "yes", 99), { code: "EX001" });
  await t.throwsAsync(preview(nowhere, "yes"), { code: "EX017" });
});
