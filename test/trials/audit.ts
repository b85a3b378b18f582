import type pg from "pg";
import { preparedAt } from "./moves.ts";
import { depositedCents, otherSide, sides } from "./primaries.ts";
import type { Both, Exchange } from "./primaries.ts";

/** What is wrong in the two primaries together, a line for each; no mover may be at work. */
export async function findFaults(
  clients: Both<pg.Client>,
  exchange: Exchange,
  decided: ReadonlySet<string>,
): Promise<string[]> {
  const faults: string[] = [];
  let heldCents = 0;
  let broughtCents = 0;
  for (const side of sides) {
    const client = clients[side];
    faults.push(...(await preparedAt(client)).map((gid) => `${side}: ${gid} is left prepared`));
    const { rows: broken } = await client.query("select * from ledger.verify()");
    faults.push(...broken.map((row) => `${side}: ${JSON.stringify(row)}`));
    const { rows } = await client.query<{ held: number; brought: number }>(
      `select
         sum(balance_cents) filter (where kind <> 'outside_world')::float8 as held,
         -sum(balance_cents) filter (where kind = 'outside_world')::float8 as brought
       from ledger.accounts`,
    );
    heldCents += rows[0]!.held;
    broughtCents += rows[0]!.brought;
  }
  const expected = depositedCents(exchange);
  if (heldCents !== expected) faults.push(`${heldCents} cents are held, and not ${expected}`);
  if (broughtCents !== expected) faults.push(`${broughtCents} cents came, and not ${expected}`);
  const moved = await Promise.all(clients.map(readMoves));
  for (const side of sides) {
    const [here, there] = [moved[side]!, moved[otherSide(side)]!];
    for (const [reference, { kind, handle, cents }] of here) {
      const twin = there.get(reference);
      const isTwin = twin?.handle === handle && twin.cents === cents && twin.kind !== kind;
      if (!isTwin) faults.push(`${side}: the ${kind} ${reference} has no twin`);
    }
    for (const reference of decided) {
      if (!here.has(reference)) faults.push(`${side}: ${reference} was decided and is not there`);
    }
  }
  return faults;
}

interface Leg {
  kind: string;
  handle: string;
  cents: number;
}

/** The legs of moves, by reference. What came from outside has another reference. */
async function readMoves(client: pg.Client): Promise<Map<string, Leg>> {
  const { rows } = await client.query(
    `select m.reference, m.kind, u.handle, m.amount_cents::float8 as cents
     from ledger.cash_movements as m
     join identity.users as u on u.id = m.user_id
     where m.reference <> 'start'`,
  );
  return new Map(rows.map(({ reference, ...leg }) => [reference, leg]));
}
