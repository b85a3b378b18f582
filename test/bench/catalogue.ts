import type { Pool } from "pg";
import { shuffleIds, stopShufflingIds } from "../helpers/database/shuffled_ids.ts";
import type { Sizes } from "./sizes.ts";

/**
 * The markets and traders that every target starts from. They are numbered from 1, and a public id is
 * made of its number, so that pgbench can name them by a random one.
 */

/** Added to a number, it gives the twelve digits that end a public id. */
const FIRST_ID = 100_000_000_000;

const ID_START = "00000000-0000-4000-8000-";

/** Much more than any run can lose. */
const FUNDS_CENTS = 100_000_000_000;

/** The deposits of one transaction: all of them move the same account. */
const TRADERS_AT_ONCE = 500;

/** The public id of a market or trader. */
export function publicId(number: number): string {
  return ID_START + String(FIRST_ID + number);
}

/** The same in pgbench: a line that draws a number, for {@link idIn} to be used in SQL. */
export function drawId(variable: string, first: number, last: number): string {
  return `\\set ${variable} random(${FIRST_ID + first}, ${FIRST_ID + last})`;
}

/** The SQL text expression of the public id that {@link drawId} drew. */
export function idIn(variable: string): string {
  return `'${ID_START}' || :${variable}`;
}

/** The SQL expression of the public id of a market or trader, from one of its number. */
export function publicIdOf(number: string): string {
  return `('${ID_START}' || (${FIRST_ID} + ${number}))::uuid`;
}

/** The order of ids is random, but the same in all runs: they are compared. */
const SEED = 1;

/**
 * Makes the markets and the funded traders by the functions that operators use. The number of a
 * market is in its title, that of a trader in the handle. Neither ids nor accounts ascend with the
 * numbers: whatever needs the id of a number joins by the public id.
 */
export async function seedCatalogue(pool: Pool, { markets, traders }: Sizes): Promise<void> {
  await shuffleIds(pool, SEED);
  await pool.query("select admin.create_category(slug => 'bench', name => 'Bench')");
  await pool.query(
    `select admin.create_market(title => 'Market ' || i, category => 'bench')
     from generate_series(1, $1::int) as i`,
    [markets],
  );
  for (let first = 1; first <= traders; first += TRADERS_AT_ONCE) {
    await makeTraders(pool, first, Math.min(first + TRADERS_AT_ONCE - 1, traders));
  }
  await stopShufflingIds(pool);
  for (const [table, name, argument] of [
    ["catalog.markets", "title", "market_id"],
    ["identity.users", "handle", "user_id"],
  ]) {
    const id = publicIdOf(`substring(x.${name} from '\\d+$')::bigint`);
    // The calls are in the audit log, which is append-only.
    await pool.query(
      `begin;
       set local session_replication_role = replica;
       update admin.audit_log as a
       set arguments = a.arguments || jsonb_build_object('${argument}', ${id})
       from ${table} as x
       where a.arguments ->> '${argument}' = x.public_id::text;
       update ${table} as x set public_id = ${id};
       commit`,
    );
  }
  await pool.query(
    `update trading.traders as t set public_id = u.public_id
     from identity.users as u
     where u.id = t.user_id`,
  );
  await pool.query(
    `update admin.personal_arguments as p set user_id = (a.arguments ->> 'user_id')::uuid
     from admin.audit_log as a
     where a.id = p.audit_id`,
  );
}

async function makeTraders(pool: Pool, first: number, last: number): Promise<void> {
  await pool.query(
    `with made as materialized (
       select admin.create_user(
         email => 'trader' || i || '@bench.example',
         display_name => 'Trader ' || i,
         handle => 'trader' || i
       ) as id
       from generate_series($1::int, $2::int) as i
     )
     select
       admin.deposit(user_id => id, amount_cents => $3, reference => 'start'),
       admin.set_loss_limits(
         user_id => id, day_cents => null, week_cents => null, month_cents => null
       )
     from made`,
    [first, last, FUNDS_CENTS],
  );
}
