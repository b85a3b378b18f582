import type { Pool } from "pg";

/** All cash in the exchange: of users, in escrow behind shares, and earned by fees. */
export async function cashCents(pool: Pool): Promise<number> {
  const { rows } = await pool.query(
    `select (select sum(balance_cents) from trading.traders)
       + (select sum(escrow_cents + revenue_cents) from trading.market_state) as cents`,
  );
  return Number(rows[0].cents);
}

/** The lines that only one of two fingerprints of a schema has. */
export function differences(one: string[], other: string[]): { one: string[]; other: string[] } {
  const onlyIn = (some: string[], others: string[]) => {
    const known = new Set(others);
    return some.filter((line) => !known.has(line));
  };
  return { one: onlyIn(one, other), other: onlyIn(other, one) };
}

export const none = { one: [], other: [] };
