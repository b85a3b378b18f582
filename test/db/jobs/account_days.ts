import { call } from "../../../src/database/call.ts";
import { api } from "../../../src/database/calls.ts";
import { withClient } from "../../helpers/database/test_database.ts";
import type { Exchange } from "../../helpers/exchange/test_exchange.ts";

/** Accounts at the end of days, as their users and as analysts see them. */

export const DAY_MS = 86_400_000;

/** A row of GET /api/account/value. */
export interface AccountDay {
  day: string;
  balanceCents: number;
  exitCents: number;
  depositsCents: number;
}

/** The UTC day of a moment. */
export const nameOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

/** From a day until another, both included. */
export function valueOf(
  exchange: Exchange,
  userId: string,
  since?: string,
  until?: string,
): Promise<AccountDay[]> {
  return withClient(exchange.api, async (client) => {
    const range = { since: since ?? null, until: until ?? null };
    return JSON.parse(await call(client, api.getAccountValue, { userId, ...range })).data;
  });
}

/** One call of the job: how much it did. */
export async function valueSome(exchange: Exchange, most: number): Promise<number> {
  const { rows } = await exchange.database.pool.query(
    "select jobs.value_accounts(most => $1) as done",
    [most],
  );
  return rows[0].done;
}

/** By user: their days, computed from all orders and trades. The last day is left out. */
export async function daysOfAnalysts(
  { database }: Exchange,
  since: string,
  until: string,
): Promise<Map<string, AccountDay[]>> {
  const { rows } = await database.pool.query(
    `select u.user_id, json_agg(json_build_object(
       'day', e.day, 'balanceCents', e.balance_cents, 'exitCents', e.bid_value_cents,
       'depositsCents', e.net_deposits_cents
     ) order by e.day) as days
     from analytics.daily_equity($1, $2) as e
     join analytics.users as u using (user_key)
     group by u.user_id`,
    [since, until],
  );
  return new Map(rows.map(({ user_id, days }) => [user_id, days]));
}
