import { readText } from "./helpers/repository.ts";
import { findSquawk, laterMigrations, squawk } from "./helpers/processes/squawk.ts";

/**
 * `npm run check:migrations`: holds the migrations that databases in use will get, and the one
 * that is being written, against the rules of .squawk.toml: no lock that trading would wait for.
 * The first migration is exempt, since it runs on an empty database.
 */

if (findSquawk() === undefined) {
  console.log("skipped: there is no squawk for this machine");
} else {
  const paths = laterMigrations();
  for (const path of paths) {
    const complaints = squawk(readText(path));
    if (complaints.length > 0) process.exitCode = 1;
    for (const { line, rule, message } of complaints) {
      console.error(`${path}:${line + 1}: ${rule}: ${message}`);
    }
  }
  console.log(`${paths.length} checked: ${paths.join(", ")}`);
}
