import pg from "pg";
import { openTestCluster } from "./helpers/database/test_cluster.ts";
import { replaceDatabase } from "./helpers/database/test_database.ts";

/**
 * `npm run check:plpgsql`: has the extension plpgsql_check read every PL/pgSQL function of the
 * schema. It knows what a statement means, not only that it parses: missing columns, wrong types,
 * unused variables, results that go nowhere. TEST_POSTGRES_BIN names a PostgreSQL that has it.
 */

/** Findings that we live with: what they say, and why it does no harm. */
const accepted: { says: RegExp; because: string }[] = [
  {
    says: /cast "(?:text|unknown)" value to "(?:.*\[\]|interval)" type/,
    because: "a literal such as '{}' in a declaration is read once a call",
  },
  {
    says: /cast "(?:integer|bigint)" value to "(?:integer|bigint|numeric)" type/,
    because: "whole numbers change width at no cost that shows, and too large a one is an error",
  },
  {
    says: /cast "numeric" value to "double precision" type/,
    because: "seconds and milliseconds for monitors and clocks: the hidden cast is the wanted one",
  },
  {
    says: /relation "graphile_(?:migrate|worker)\.\w+" does not exist/,
    because: "tables of other tools, which the function looks for before it asks them",
  },
  {
    says: /unmodified OUT variable "(?:schema_version|waiting_jobs|oldest_job_lateness_seconds|job|waiting_count|running_count|failed_count|oldest_due_at|last_error)"/,
    because: "what those tables would give: without them it stays null",
  },
  {
    says: /name of parameter "(?:order|window)" is reserved keyword/,
    because: "it is quoted wherever it stands",
  },
  {
    says: /cast "core\.amount" value to "bigint" type/,
    because: "the domain is a bigint",
  },
  {
    says: /OUT variable "(?:block_number|row_count|hash|line)" is maybe unmodified/,
    because: "they are set by return query execute, whose columns cannot be known before it runs",
  },
  {
    says: /control reached end of function without RETURN/,
    because: "the end of the function is core.raise_error, which does not return",
  },
  {
    says: /text type variable is not sanitized/,
    because: "admin.carry_out makes a statement of names and types, each quoted where it is read",
  },
  {
    says: /unreachable code/,
    because: "what follows a block that rolls itself back by an error, which it catches",
  },
  {
    says: /routine is marked as VOLATILE, should be STABLE/,
    because:
      "what is read under a lock needs a snapshot newer than the lock: only volatile takes one",
  },
];

interface Finding {
  name: string;
  level: string;
  lineno: number | null;
  message: string;
  detail: string | null;
  hint: string | null;
  query: string | null;
}

// A trigger function is checked once for each trigger: it depends on the table's columns.
const findings = `
with checked as (
  select p.oid, p.oid::regprocedure::text as name, tgrelid, tgoldtable, tgnewtable
  from pg_proc p
  join pg_namespace n on n.oid = pronamespace
  join pg_language l on l.oid = prolang and lanname = 'plpgsql'
  left join pg_trigger t on tgfoid = p.oid and not tgisinternal
  where nspname !~ '^(pg_|information_schema$|graphile_)'
    and (prorettype <> 'trigger'::regtype or tgrelid is not null)
    and not exists (select from pg_depend where objid = p.oid and deptype = 'e')
)
select (select count(distinct oid) from checked) as checked, name, level, lineno, message, detail,
  hint, query
from checked
left join lateral plpgsql_check_function_tb(
  checked.oid, coalesce(tgrelid, 0), fatal_errors => false, oldtable => tgoldtable,
  newtable => tgnewtable, performance_warnings => true, extra_warnings => true,
  security_warnings => true
) on true
order by name, lineno`;

const cluster = await openTestCluster();
try {
  const client = new pg.Client({
    connectionString: replaceDatabase(cluster.url, cluster.template),
  });
  await client.connect();
  try {
    await check(client);
  } finally {
    await client.end();
  }
} finally {
  await cluster.close();
}

async function check(client: pg.Client): Promise<void> {
  const { rowCount } = await client.query(
    "select from pg_available_extensions where name = 'plpgsql_check'",
  );
  if (rowCount === 0) {
    console.error(
      "This PostgreSQL has no plpgsql_check: TEST_POSTGRES_BIN names the directory of one that does",
    );
    process.exitCode = 1;
    return;
  }
  await client.query("create extension if not exists plpgsql_check");
  const { rows } = await client.query<Finding & { checked: string }>(findings);
  report(
    rows.filter(({ level }) => level),
    Number(rows[0]?.checked ?? 0),
  );
}

function report(found: Finding[], checked: number): void {
  const isAccepted = ({ message, detail }: Finding) =>
    accepted.some(({ says }) => says.test(`${message}\n${detail ?? ""}`));
  const open = found.filter((finding) => !isAccepted(finding));
  for (const { name, level, lineno, message, detail, hint, query } of open) {
    console.log(`${name}:${lineno ?? ""} ${level}: ${message}`);
    for (const more of [detail, hint, query]) if (more) console.log(`    ${more}`);
  }
  console.log(
    `plpgsql_check: ${checked} functions, ${open.length} findings, ` +
      `${found.length - open.length} accepted`,
  );
  if (open.length > 0 || checked === 0) process.exitCode = 1;
}
