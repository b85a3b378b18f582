import { globSync } from "node:fs";
import { rootDirectory } from "./helpers/repository.ts";

/**
 * What `npm test` leaves to `npm run test:slow -- --short`: one of each kind of load, upgrades,
 * browsers and restarts, and what tries every column, view, filter or route. It takes a few minutes.
 */
const short = [
  "test/concurrency/{gathering,operators,pairs,settlement,staff,storm,voids}.test.ts",
  "test/upgrade/installer.test.ts",
  "test/website/journeys/{account,changed_elsewhere,keyboard,operator,pages,passkeys}.test.ts",
  "test/website/journeys/trading.test.ts",
  "test/website/operator/{csv_file,declarations,list_cost}.test.ts",
  "test/client/broken_connections.test.ts",
  "test/database/{hostile_settings,hosts,missing_roles,statement_logs}.test.ts",
  "test/db/api/{early_plans,history_cost,place_orders_{batches,long_queues},preview_order}.test.ts",
  "test/db/api/unfinished_requests.test.ts",
  "test/db/admin/{export_user,view_plans}.test.ts",
  "test/db/analytics/{book_as_of,profit_and_loss,wash_trades}.test.ts",
  "test/db/{jobs/value_accounts{,_random},ledger/every_column}.test.ts",
  "test/deploy/{alerts,systemd}.test.ts",
  "test/docs/{analytics,analytics_answers,client,http_examples,operating}.test.ts",
  "test/graphql/{filters,introspection,pages,remembered,thread}.test.ts",
  "test/house/schema_equality.test.ts",
  "test/examples/{market_makers,verify_history,watch_market}.test.ts",
  "test/http/{account_access,account_security,commits_wait,database_gone,fuzz}.test.ts",
  "test/http/{history_pages,key_powers,long_commands,openapi,operator_access,process}.test.ts",
  "test/http/{sign_in_load,typed_client}.test.ts",
  "test/local/embedded_postgres.test.ts",
];

/** The slow tests: these, and more of the same kinds. */
const slow = [
  ...short,
  "test/concurrency/**/*.test.ts",
  "test/upgrade/**/*.test.ts",
  "test/website/journeys/**/*.test.ts",
  "test/client/package.test.ts",
  "test/database/pgbouncer.test.ts",
  "test/db/api/{list_cost,place_orders_{atomic,bounded,busy}}.test.ts",
  "test/deploy/containers.test.ts",
  "test/examples/*.test.ts",
  "test/http/{lost_database,waiting}.test.ts",
  "test/local/{living_demo,orphaned_postmaster}.test.ts",
];

const filesOf = (pattern: string): string[] => globSync(pattern, { cwd: rootDirectory }).sort();

/** Each once. */
function filesOfAll(patterns: string[]): string[] {
  const found = patterns.flatMap((pattern) => {
    const files = filesOf(pattern);
    if (files.length === 0) throw new Error(`no test is called ${pattern}`);
    return files;
  });
  return [...new Set(found)];
}

/**
 * The arguments of ava for those of a run: with `--slow` the slow tests, and with `--short` beside it
 * some of them; otherwise all others, unless files are named.
 */
export function chooseTests(args: string[]): string[] {
  const options = args.filter((argument) => !["--slow", "--short"].includes(argument));
  if (options.some((argument) => !argument.startsWith("-"))) return options;
  const slowFiles = filesOfAll(slow);
  if (args.includes("--slow")) {
    return [...options, ...(args.includes("--short") ? filesOfAll(short) : slowFiles)];
  }
  return [...options, ...filesOf("test/**/*.test.ts").filter((file) => !slowFiles.includes(file))];
}
