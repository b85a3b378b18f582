import { chown, cp, mkdtemp, rename, rm, rmdir, stat, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { parseArgs } from "node:util";
import { startEmbeddedPostgres } from "../../src/local/embedded_postgres.ts";
import { fillDisk, mayMount, mountDisk, unmountDisk, useUpSegments } from "./disk.ts";
import { commandsOf, countAnswers, hasSurvived, runDrill, startDrillLoad } from "./run.ts";
import { dataDirectoryOf, startSystem } from "./system.ts";
import type { System } from "./system.ts";

/**
 * `npm run drill:disk_full [-- --short]`: lets the disk of the WAL run full under load. Clients
 * get 503s and no false answer; once there is space again all goes on by itself, and the database
 * holds what was answered. Ends with 1 otherwise. Needs root, to mount a small disk; without it,
 * the drill says that it was skipped.
 */

const { values } = parseArgs({ options: { short: { type: "boolean", default: false } } });
const loadMs = values.short ? 700 : 4000;
const fullMs = values.short ? 2000 : 10_000;

const DISK_SIZE = "256m";

interface SystemWithDisk extends System {
  /** Where the WAL is, and nothing else. */
  disk: string;
}

if (mayMount()) await runDrill(startOnSmallDisk, drill);
else console.log("skipped: a disk to fill can only be mounted as root");

/** Moves the WAL to a disk of its own before the server starts to use it. */
async function startOnSmallDisk(): Promise<SystemWithDisk> {
  const disk = await mkdtemp(join(tmpdir(), `pgmarkets-disk-${process.pid}-`));
  const removeDisk = async () => {
    unmountDisk(disk);
    await rmdir(disk);
  };
  try {
    mountDisk(disk, DISK_SIZE);
    const system = await startSystem({
      prepare: async (cluster) => {
        const data = await dataDirectoryOf(cluster);
        await cluster.server.stop();
        const { uid, gid } = await stat(data);
        await chown(disk, uid, gid);
        await cp(join(data, "pg_wal"), join(disk, "pg_wal"), { recursive: true });
        await rename(join(data, "pg_wal"), join(data, "pg_wal.before"));
        await symlink(join(disk, "pg_wal"), join(data, "pg_wal"));
        cluster.server = await startEmbeddedPostgres({ directory: cluster.directory });
        return cluster.server.connectionString;
      },
    });
    return {
      ...system,
      disk,
      destroy: async () => {
        await system.destroy();
        await removeDisk();
      },
    };
  } catch (error) {
    await removeDisk();
    throw error;
  }
}

async function drill(system: SystemWithDisk): Promise<boolean> {
  const { connect, disk } = system;
  const { journal, load } = await startDrillLoad(system);
  await delay(loadMs);

  const ballast = await fillDisk(disk);
  await useUpSegments(connect);
  const earlier = commandsOf(journal);
  await delay(fullMs);
  const during = commandsOf(journal).slice(earlier.length);
  console.log(`full: ${countAnswers(during)}`);
  // Counted now: what was refused is sent again, and accepted when there is space.
  const [usual, served] = [acceptedOf(earlier), acceptedOf(during)];

  const began = performance.now();
  await rm(ballast);
  await load.nextAccepted();
  console.log(`space again: accepting after ${(performance.now() - began).toFixed(0)} ms`);
  await delay(loadMs);
  await load.stop();

  if (served / fullMs > usual / loadMs / 2) {
    throw new Error("The disk did not run full: there was nothing to be seen");
  }
  if (!(await hasSurvived(system, journal))) return false;
  console.log(`in all: ${countAnswers(commandsOf(journal))}; all true, and the ledger is sound`);
  return true;
}

function acceptedOf(commands: ReturnType<typeof commandsOf>): number {
  return commands.filter(({ answers }) => answers.some(({ kind }) => kind === "accepted")).length;
}
