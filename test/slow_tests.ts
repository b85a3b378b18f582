import { globSync } from "node:fs";
import { rootDirectory } from "./helpers/repository.ts";

/** What `npm test` leaves to `npm run test:slow`: minutes of load, upgrades, browsers, restarts. */
const slow = [
  "test/concurrency/**/*.test.ts",
  "test/upgrade/**/*.test.ts",
  "test/website/journeys/**/*.test.ts",
  "test/client/{broken_connections,package}.test.ts",
  "test/database/{hostile_settings,pgbouncer,statement_logs}.test.ts",
  "test/db/api/list_cost.test.ts",
  "test/examples/*.test.ts",
  "test/http/{database_gone,lost_database,process,waiting}.test.ts",
  "test/local/{embedded_postgres,living_demo,orphaned_postmaster}.test.ts",
];

const filesOf = (pattern: string): string[] => globSync(pattern, { cwd: rootDirectory }).sort();

/**
 * The arguments of ava for those of a run: with `--slow` the slow tests, otherwise all others, unless
 * files are named.
 */
export function chooseTests(args: string[]): string[] {
  const options = args.filter((argument) => argument !== "--slow");
  if (options.some((argument) => !argument.startsWith("-"))) return options;
  const slowFiles = slow.flatMap((pattern) => {
    const files = filesOf(pattern);
    if (files.length === 0) throw new Error(`no test is called ${pattern}`);
    return files;
  });
  if (options.length < args.length) return [...options, ...slowFiles];
  return [...options, ...filesOf("test/**/*.test.ts").filter((file) => !slowFiles.includes(file))];
}
