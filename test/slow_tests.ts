import { globSync } from "node:fs";
import { rootDirectory } from "./helpers/repository.ts";

/**
 * What `npm test` leaves to `npm run test:slow`: minutes of load, upgrades, browsers, restarts, and
 * what tries every column, view or route.
 */
const slow = [
  "test/concurrency/**/*.test.ts",
  "test/upgrade/**/*.test.ts",
  "test/website/journeys/**/*.test.ts",
  "test/client/{broken_connections,package}.test.ts",
  "test/db/{admin/view_plans,analytics/wash_trades}.test.ts",
  "test/db/{jobs/value_accounts_random,ledger/every_column}.test.ts",
  "test/database/{hostile_settings,pgbouncer,statement_logs}.test.ts",
  "test/db/api/{history_cost,list_cost,place_orders_{atomic,batches,bounded,busy,long_queues}}.test.ts",
  "test/deploy/{alerts,containers,systemd}.test.ts",
  "test/docs/{analytics,client,http_examples,operating}.test.ts",
  "test/examples/*.test.ts",
  "test/house/schema_equality.test.ts",
  "test/http/{database_gone,fuzz,long_commands,lost_database,process}.test.ts",
  "test/http/{sign_in_load,typed_client,waiting}.test.ts",
  "test/local/{embedded_postgres,living_demo,orphaned_postmaster}.test.ts",
];

/** Of these, what `--short` leaves: one of each kind, in a few minutes. */
const short = [
  "test/concurrency/{gathering,operators,pairs,settlement,storm,voids}.test.ts",
  "test/upgrade/installer.test.ts",
  "test/website/journeys/{account,changed_elsewhere,keyboard,operator,pages,passkeys}.test.ts",
  "test/website/journeys/trading.test.ts",
  "test/client/broken_connections.test.ts",
  "test/database/{hostile_settings,statement_logs}.test.ts",
  "test/db/api/{history_cost,place_orders_{batches,long_queues}}.test.ts",
  "test/db/{admin/view_plans,analytics/wash_trades}.test.ts",
  "test/db/{jobs/value_accounts_random,ledger/every_column}.test.ts",
  "test/deploy/{alerts,systemd}.test.ts",
  "test/docs/{analytics,client,http_examples,operating}.test.ts",
  "test/house/schema_equality.test.ts",
  "test/examples/{market_makers,verify_history,watch_market}.test.ts",
  "test/http/{database_gone,fuzz,long_commands,process,sign_in_load,typed_client}.test.ts",
  "test/local/embedded_postgres.test.ts",
];

const filesOf = (pattern: string): string[] => globSync(pattern, { cwd: rootDirectory }).sort();

function filesOfAll(patterns: string[]): string[] {
  return patterns.flatMap((pattern) => {
    const files = filesOf(pattern);
    if (files.length === 0) throw new Error(`no test is called ${pattern}`);
    return files;
  });
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
