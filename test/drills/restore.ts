import { chown, mkdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { parseArgs } from "node:util";
import { copyCluster } from "./copies.ts";
import { isOfMoment, tradeAround, whenOpen } from "./moment.ts";
import { countAnswers, commandsOf, runDrill, startDrillLoad } from "./run.ts";
import { dataDirectoryOf, startSystem } from "./system.ts";
import type { System } from "./system.ts";

/**
 * `npm run drill:restore [-- --short]`: takes a base backup under load, loses the database, and
 * restores backup and archived WAL to a moment between two trades. What was answered before the
 * moment is there, what came after is not, and the ledger is sound. Ends with 1 otherwise.
 */

const { values } = parseArgs({ options: { short: { type: "boolean", default: false } } });
const loadMs = values.short ? 500 : 5000;

/** Where the WAL goes, beside the data; for a real one, another machine. */
const ARCHIVE = "archive";

await runDrill(startArchivingSystem, drill);

async function startArchivingSystem(): Promise<System> {
  return await startSystem({
    // %p is relative to the data directory. What is there already must not be overwritten.
    settings: {
      archive_mode: "on",
      archive_command: `test ! -f ../${ARCHIVE}/%f && cp %p ../${ARCHIVE}/%f.part && mv ../${ARCHIVE}/%f.part ../${ARCHIVE}/%f`,
    },
    prepare: async ({ directory, server }) => {
      const path = join(directory, ARCHIVE);
      const { uid, gid } = await stat(join(directory, "postgres"));
      await mkdir(path, { mode: 0o700 });
      await chown(path, uid, gid);
      return server.connectionString;
    },
  });
}

async function drill(system: System): Promise<boolean> {
  const { cluster, connect } = system;
  const { journal, load } = await startDrillLoad(system);
  await delay(loadMs);
  const copy = await copyCluster(cluster);
  try {
    await delay(loadMs);
    await load.stop();
    console.log(`copied under load; ${countAnswers(commandsOf(journal))}`);
    const moment = await tradeAround(connect);
    await system.killDatabase();

    const began = performance.now();
    // It takes WAL from the archive up to the moment.
    const { server } = await copy.start("recovery", {
      restore_command: `cp ${join(await dataDirectoryOf(cluster), "..", ARCHIVE)}/%f %p`,
      recovery_target_time: moment.at,
      recovery_target_action: "promote",
    });
    const restored = await whenOpen(server.connectionString);
    console.log(`restored to ${moment.at} in ${(performance.now() - began).toFixed(0)} ms`);
    return await isOfMoment({ ...system, connect: restored }, journal, moment);
  } finally {
    await copy.destroy();
  }
}
