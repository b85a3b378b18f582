import { isDeepStrictEqual } from "node:util";
import type { Client } from "pg";
import type { StreamClient } from "./stream_clients.ts";

/** What the ledger says that a user must have got, by the type of the event. */
const facts: Record<string, string> = {
  fill: `
    select t.public_id::text as fact
    from trading.trades as t
    join trading.traders as u on u.user_id in (t.taker_user_id, t.maker_user_id)
    where u.public_id = $1
    order by t.id`,
  maker_fill: `
    select string_agg(o.public_id::text, ',' order by t.id) as fact
    from trading.trades as t
    join trading.orders as o on o.id = t.maker_order_id
    join trading.traders as u on u.user_id = t.maker_user_id
    where u.public_id = $1
    group by t.taker_order_id
    order by min(t.id)`,
  order_cancelled: `
    select o.public_id::text as fact
    from trading.orders as o
    join trading.traders as u on u.user_id = o.user_id
    where u.public_id = $1 and o.cancel_reason not in ('user_cancelled', 'user_amended')
      and (o.time_in_force = 'gtc')
    order by fact`,
  settled: `
    select sum(s.payout_cents)::text as fact
    from trading.settlements as s
    join trading.traders as u on u.user_id = s.user_id
    where u.public_id = $1
    group by s.resolution_id
    order by s.resolution_id`,
};

const factOf: Record<string, (event: any) => string> = {
  fill: ({ id }) => String(id),
  maker_fill: ({ orderIds }) => orderIds.join(","),
  order_cancelled: ({ orderId }) => String(orderId),
  settled: ({ payoutCents }) => String(payoutCents),
};

/** Whether each client has everything once, in order; if not, prints what is wrong. */
export async function isComplete(client: Client, clients: StreamClient[]): Promise<boolean> {
  const faults: string[] = [];
  const counts = new Map<string, number>();
  for (const { userId, frames, faults: met } of clients) {
    faults.push(...met.map((fault) => `${userId}: ${fault}`));
    const ids = frames.map(({ id }) => Number(id));
    if (ids.some((id, index) => index > 0 && !(id > (ids[index - 1] ?? id)))) {
      faults.push(`${userId}: ids do not rise`);
    }
    for (const [type, query] of Object.entries(facts)) {
      const { rows } = await client.query<{ fact: string }>(query, [userId]);
      const expected = rows.map(({ fact }) => fact);
      const got = frames.flatMap(({ data }) => (data.type === type ? [factOf[type]?.(data)] : []));
      if (type === "order_cancelled") got.sort();
      counts.set(type, (counts.get(type) ?? 0) + got.length);
      if (!isDeepStrictEqual(got, expected)) {
        faults.push(`${userId}: ${got.length} of ${expected.length} ${type}, or in another order`);
      }
    }
    const { rows } = await client.query<{ position: number; event: object }>(
      `select "position", event from api.read_user_events(
         array[$1::uuid], array[$2::bigint], array[true], array[true], array[true], 1000000
       ) where event is not null`,
      [userId, ids[0]],
    );
    const read = rows.map(({ position, event }) => ({ id: String(position), data: event }));
    if (!isDeepStrictEqual(frames.slice(1), read)) faults.push(`${userId}: not what is kept`);
  }
  const { rows: broken } = await client.query("select * from ledger.verify()");
  faults.push(...broken.map((row) => `ledger.verify(): ${JSON.stringify(row)}`));
  for (const fault of faults) console.error(fault);
  const returns = clients.reduce((sum, each) => sum + each.returns(), 0);
  const shown = [...counts].map(([type, count]) => `${count} ${type}`).join(", ");
  console.log(`${returns} returns of ${clients.length} clients: ${shown}`);
  if (returns < clients.length || !counts.get("fill")) throw new Error("It has shown nothing");
  return faults.length === 0;
}
