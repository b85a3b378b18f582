import { join } from "node:path";

/** Opens the website of the checkout that is given, logs to standard error, and prints what it got. */

const [directory = ""] = process.argv.slice(2);
const load = async (path: string) => await import(join(directory, path));
const { makeLogger } = await load("src/bin/logger.ts");
const { openWebsite } = await load("src/site/open.ts");
const website = await openWebsite(makeLogger("info"));
process.stdout.write(website === undefined ? "nothing" : "pages");
