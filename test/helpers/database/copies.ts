/**
 * A statement that copies a row of a table so many times, spread over all users and markets. The
 * changes of its columns see n, the users u1 and u2, and the market m.
 */
export function copies(
  table: string,
  changes: Record<string, string>,
  { rows, users }: { rows: number; users: number },
): string {
  // The first makes the function run for each n, also where no change has it.
  const made = [["", "n"], ...Object.entries(changes)].map(
    ([column, value]) => `'${column}', ${value}`,
  );
  return `
    insert into ${table} overriding system value
    select copy.*
    from generate_series(1, ${rows}) as n
    cross join lateral (select least + n % ${users} as u1, least + (n * 7 + 1) % ${users} as u2
      from (select min(id) as least from identity.users) as s) as users
    cross join lateral (select least + n % ${users} as m
      from (select min(id) as least from catalog.markets) as s) as markets
    cross join (select t as x from ${table} as t limit 1) as one
    cross join lateral jsonb_populate_record(x, jsonb_build_object(${made.join(", ")})) as copy
    on conflict do nothing`;
}
