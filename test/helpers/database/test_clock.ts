import type { ClientBase, Pool } from "pg";
import { noteChanges } from "./schema.ts";

/** The time that the database under test believes in. */
export interface TestClock {
  /** Stops the clock at this time (default: at what it shows now). */
  freeze: (at?: Date | string) => Promise<void>;
  /** Moves it on, whether it runs or stands. */
  advance: (ms: number) => Promise<void>;
  /** Back to the real time. */
  release: () => Promise<void>;
}

/**
 * Makes `core.now()` of one test database settable, if it is not yet. Nothing is changed before the
 * first use; inside a transaction that is rolled back the change goes with it. Everyone can read
 * this clock; only its owner, the login of the tests, can set it.
 */
export function testClock(database: Pool | ClientBase): TestClock {
  const set = async (statement: string, values: unknown[]) => {
    const { rows } = await database.query("select to_regclass('test_clock.setting') as found");
    if (rows[0].found === null) {
      await installClock(database);
      await noteChanges(database);
    }
    await database.query(statement, values);
  };
  return {
    freeze: async (at) => {
      await set("update test_clock.setting set frozen_at = coalesce($1::timestamptz, core.now())", [
        at instanceof Date ? at.toISOString() : at,
      ]);
    },
    advance: async (ms) => {
      await set(
        `update test_clock.setting
         set frozen_at = frozen_at + $1::float8 * interval '1 millisecond',
             ahead = ahead + $1::float8 * interval '1 millisecond'`,
        [ms],
      );
    },
    release: async () => {
      await set("update test_clock.setting set frozen_at = null, ahead = '0'", []);
    },
  };
}

/** Makes `core.now()` settable. It shows the real time until it is set. */
export async function installClock(database: Pool | ClientBase): Promise<void> {
  await database.query(install);
}

// The real clock stays at hand under another name; replacing core.now() keeps its owner, its
// grants, and whatever depends on it.
const install = `
do $install$
declare
  v_original text := pg_catalog.pg_get_functiondef('core.now()'::regprocedure);
  v_volatility text := (
    select case provolatile when 'v' then 'volatile' else 'stable' end
    from pg_catalog.pg_proc where oid = 'core.now()'::regprocedure
  );
begin
  create schema test_clock;
  create table test_clock.setting (
    only_row boolean primary key default true check (only_row),
    frozen_at timestamptz,
    ahead interval not null default '0'
  );
  insert into test_clock.setting default values;
  grant usage on schema test_clock to public;
  grant select on test_clock.setting to public;
  execute replace(v_original, 'FUNCTION core.now()', 'FUNCTION test_clock.real_now()');
  grant execute on function test_clock.real_now() to public;
  execute format(
    'create or replace function core.now() returns timestamptz
     language sql %s parallel safe
     return (
       select coalesce(setting.frozen_at, test_clock.real_now() + setting.ahead)
       from test_clock.setting
     )',
    v_volatility
  );

  -- Identifiers are made by the same clock.
  if current_setting('server_version_num')::int >= 180000 then
    create or replace function core.uuid_v7() returns uuid
    language sql volatile parallel safe
    return uuidv7(make_interval(secs => extract(epoch from core.now() - clock_timestamp())::float8));
  else
    execute replace(
      pg_catalog.pg_get_functiondef('core.uuid_v7()'::regprocedure),
      'clock_timestamp()', 'core.now()'
    );
  end if;
end
$install$`;
