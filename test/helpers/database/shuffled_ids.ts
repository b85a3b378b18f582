import type { ClientBase, Pool } from "pg";
import { noteChanges } from "./schema.ts";
import { numberFrom, seed } from "../random.ts";

/**
 * In a database in use, ids of users, of markets and of events need not ascend together, and public
 * ids need not ascend at all: rows that must agree are found by key, never by their
 * place in some order.
 */

export interface IdOptions {
  /**
   * Whether ids ascend in the order of creation, as those of one session do: for tests of lists
   * that are in this order, and of pages that show the same every time.
   */
  idsAscend?: boolean;
}

/** A prime: multiplied by a factor modulo it, the numbers below it come in another order. */
const PRIME = 2 ** 31 - 1;

const keys = ["identity.users", "catalog.markets", "catalog.events"];

/**
 * From now on, users, markets and events of this database get ids in a random order, of
 * each table another, and public ids that don't follow them. The orders depend on the seed, TEST_SEED
 * by default. For a superuser.
 */
export async function shuffleIds(database: Pool | ClientBase, from = seed()): Promise<void> {
  await database.query(install);
  for (const table of keys) {
    // Beyond all shuffled ids, as a sequence is beyond the ids of its table.
    await database.query(`alter table ${table} alter id restart with ${PRIME + 1}`);
    const factor = 2 + (numberFrom(`ids of ${table}`, from) % (PRIME - 3));
    await database.query(
      `create trigger shuffle_id before insert on ${table}
       for each row execute function test_ids.shuffle(${factor})`,
    );
  }
  for (const table of keys) {
    await database.query(
      `alter table ${table} alter column public_id
       set default test_ids.public_id(${numberFrom(`public ids of ${table}`, from)})`,
    );
  }
  await noteChanges(database);
}

/** Leaves the database as it is without tests; what was made keeps its ids. */
export async function stopShufflingIds(database: Pool | ClientBase): Promise<void> {
  for (const table of keys) await database.query(`drop trigger shuffle_id on ${table}`);
  for (const table of keys) {
    await database.query(`alter table ${table} alter public_id set default core.uuid_v7()`);
  }
  await database.query("drop schema test_ids cascade");
  await noteChanges(database);
}

const install = `
create schema test_ids;
grant usage on schema test_ids to public;
create sequence test_ids.made;
grant usage on sequence test_ids.made to public;

create function test_ids.shuffle() returns trigger language plpgsql as $$
begin
  if new.id >= ${2 * PRIME} then
    raise exception 'too many ids to shuffle';
  end if;
  new.id := 1 + new.id * tg_argv[0]::bigint % ${PRIME};
  return new;
end
$$;

create function test_ids.public_id(seed bigint) returns uuid language sql volatile
return overlay(
  overlay(
    md5(seed || ' ' || nextval('test_ids.made'::regclass)) placing '7' from 13 for 1
  ) placing '8' from 17 for 1
)::uuid;
grant execute on all functions in schema test_ids to public;
`;
