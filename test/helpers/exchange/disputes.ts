import { call } from "../../../src/database/call.ts";
import { api as apiFunctions } from "../../../src/database/calls.ts";
import { withClient } from "../database/test_database.ts";
import type { Exchange } from "./test_exchange.ts";

/** What api.dispute_resolution answers: the code of a rejection, or the id of the dispute. */
export function disputeBy(
  { api }: Pick<Exchange, "api">,
  marketId: string,
  userId: string,
  text = "It rained.",
): Promise<{ code: string | null; message: string | null; id: string | null }> {
  return withClient(api, async (client) => {
    const result = await call(client, apiFunctions.disputeResolution, { userId, marketId, text });
    const { code, message } = result;
    return { code, message, id: code === null ? JSON.parse(result.body).id : null };
  });
}

/** The id of a dispute, of a new user who held shares of a new market. */
export async function makeDispute(exchange: Exchange, trader?: string): Promise<string> {
  const market_id = await exchange.makeMarket();
  const user = trader ?? (await exchange.makeTrader());
  await exchange.giveShares(market_id, user, "yes", 1);
  await exchange.operate("resolve_market", { market_id, outcome: "yes" });
  const { id, code } = await disputeBy(exchange, market_id, user);
  if (id === null) throw new Error(`rejected: ${code}`);
  return id;
}
