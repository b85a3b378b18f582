import test from "ava";
import { testDatabase } from "../../helpers/database/test_database.ts";

/** The counts in catalog.categories after each change of events and markets. */

const database = testDatabase(test);

const setUp = `
  insert into catalog.categories (slug, name, "position") values ('a', 'A', 1), ('b', 'B', 2);
  insert into catalog.events (category_id, title)
  select c.id, 'Event' from catalog.categories as c, generate_series(1, 3);
  insert into catalog.markets (category_id, title, status)
  select c.id, s::text, s
  from catalog.categories as c, unnest('{open,open,open,paused,closed}'::catalog.market_status[]) as s;
`;

for (const [what, statement, a, b] of [
  ["nothing", "select", "3 events, 3 open, 1 closed", "3 events, 3 open, 1 closed"],
  [
    "a pause",
    `update catalog.markets set status = 'paused' where status = 'open'`,
    "3 events, 0 open, 1 closed",
    "3 events, 0 open, 1 closed",
  ],
  [
    "closing and opening",
    `update catalog.markets set status = case title
       when 'open' then 'closed' when 'closed' then 'open' else 'open' end::catalog.market_status`,
    "3 events, 2 open, 3 closed",
    "3 events, 2 open, 3 closed",
  ],
  [
    "resolving",
    `update catalog.markets
     set status = 'resolved', resolved_outcome = 'yes', yes_payout_cents = 100, resolved_at = now()
     where status in ('open', 'closed')`,
    "3 events, 0 open, 4 closed",
    "3 events, 0 open, 4 closed",
  ],
  [
    "a move to another category",
    `update catalog.events set category_id = (select max(id) from catalog.categories);
     update catalog.markets set category_id = (select max(id) from catalog.categories)`,
    "0 events, 0 open, 0 closed",
    "6 events, 6 open, 2 closed",
  ],
  [
    "deleting",
    `delete from catalog.events; delete from catalog.markets where status <> 'open'`,
    "0 events, 3 open, 0 closed",
    "0 events, 3 open, 0 closed",
  ],
] as const) {
  test(`counts after ${what}`, async (t) => {
    await database.withRollback(async (client) => {
      await client.query(setUp);
      await client.query(statement);
      const { rows } = await client.query(`
        select format(
          '%s events, %s open, %s closed', event_count, open_market_count, closed_market_count
        ) as counts
        from catalog.categories order by id`);
      t.deepEqual(
        rows.map(({ counts }) => counts),
        [a, b],
      );
    });
  });
}
