import test from "ava";
import { testService } from "../helpers/http/test_service.ts";
import type { Trader } from "../helpers/http/test_service.ts";
import { startExample, testWithPrograms, untilEqual } from "./run_example.ts";

const service = testService(test);
const { call, makeMarket, makeTraders } = service;

testWithPrograms(["psql"], "psql shows the book and the ledger of a market", async (t) => {
  const marketId = await makeMarket();
  const [ann, bob] = await makeTraders(2);
  const buy = async (trader: Trader, side: "yes" | "no", price: number, quantity: number) => {
    const body = { marketId, side, price, quantity };
    const { status } = await call("POST", "/api/v1/orders", { key: trader.key, body });
    t.is(status, 201);
  };
  await buy(ann, "no", 40, 10);
  await buy(bob, "yes", 60, 4);

  const example = await startExample(t, "In psql", {
    DATABASE_URL: service.database.connectionString,
    PGOPTIONS: "-c role=exchange_analyst",
    MARKET: marketId,
  });
  const shown = () => lastTableIn(example.output());
  const [nameOfAnn, nameOfBob] = [await handleOf(ann), await handleOf(bob)];

  // Bob pays 4 x 60 cents and a fee of 0.07 x 4 x 0.60 x 0.40 EUR, rounded up; Ann pays 4 x 40.
  await untilEqual(t, example, shown, [
    ["ask", "60", "6", ""],
    ["last trade", "60", "4", ""],
    [nameOfBob, "", "", "-247"],
    [nameOfAnn, "", "", "-160"],
    ["fee_revenue", "", "", "7"],
    ["market_escrow", "", "", "400"],
    ["escrow", "", "4", "400"],
  ]);

  await buy(bob, "yes", 60, 6);
  await buy(bob, "yes", 30, 5);
  await untilEqual(t, example, shown, [
    ["bid", "30", "5", ""],
    ["last trade", "60", "6", ""],
    [nameOfBob, "", "", "-371"],
    [nameOfAnn, "", "", "-240"],
    ["fee_revenue", "", "", "11"],
    ["market_escrow", "", "", "600"],
    ["escrow", "", "10", "1000"],
  ]);
  await example.stop();
});

async function handleOf({ userId }: Trader): Promise<string> {
  const { rows } = await service.database.pool.query(
    "select u.handle from analytics.users as u where u.user_id = $1",
    [userId],
  );
  return rows[0].handle;
}

/** The cells of the last table that psql has printed to its end. */
function lastTableIn(output: string): string[][] {
  const tables = [...output.matchAll(/^[-+]+\n((?:.*\|.*\n)*)\(\d+ rows?\)$/gm)];
  const [, body = ""] = tables.at(-1) ?? [];
  return body
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => line.split("|").map((cell) => cell.trim()));
}
