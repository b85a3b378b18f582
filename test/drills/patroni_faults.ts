import { rm } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { fillDisk, useUpSegments } from "./disk.ts";
import type { PatroniCluster, PatroniNode } from "./patroni_cluster.ts";

/** What can happen to a primary, and how its node comes back. */
export interface Fault {
  what: string;
  strike: (primary: PatroniNode, cluster: PatroniCluster) => Promise<Struck>;
}

/** That it has happened. */
interface Struck {
  /** When, by `performance.now()`. */
  began: number;
  /** Makes it good, once another node is the primary. */
  repair: () => Promise<void>;
}

const nothingToRepair = (): Promise<void> => Promise.resolve();

/** Patroni and PostgreSQL end at once, as by the loss of a machine. */
export const kill: Fault = {
  what: "killed Patroni and PostgreSQL",
  strike: async ({ signalPatroni, signalPostgres, start }) => {
    const began = performance.now();
    signalPatroni("SIGKILL");
    await signalPostgres("SIGKILL");
    const repair = (): Promise<void> => {
      start();
      return Promise.resolve();
    };
    return { began, repair };
  },
};

/** PostgreSQL ends alone, and Patroni sees it. */
const crash: Fault = {
  what: "killed PostgreSQL",
  strike: async ({ signalPostgres }) => {
    const began = performance.now();
    await signalPostgres("SIGKILL");
    return { began, repair: nothingToRepair };
  },
};

/** Both stand still and know nothing of the time that passes, as on a virtual machine that is moved. */
const freeze: Fault = {
  what: "froze Patroni and PostgreSQL",
  strike: async ({ signalPatroni, signalPostgres }) => {
    const began = performance.now();
    signalPatroni("SIGSTOP");
    await signalPostgres("SIGSTOP");
    const repair = async (): Promise<void> => {
      // PostgreSQL first: for a moment it takes itself for the primary.
      await signalPostgres("SIGCONT");
      await delay(500);
      signalPatroni("SIGCONT");
    };
    return { began, repair };
  },
};

/** The node reaches clients and the other nodes, but not etcd. */
const cutOff: Fault = {
  what: "cut off from etcd",
  strike: ({ way }) => {
    way.cut();
    const repair = (): Promise<void> => {
      way.mend();
      return Promise.resolve();
    };
    return Promise.resolve({ began: performance.now(), repair });
  },
};

/** Data and WAL have no space left. */
const fullDisk: Fault = {
  what: "filled the disk",
  strike: async ({ disk, connect }) => {
    if (disk === undefined) throw new Error("unreachable: there is no disk to fill");
    let ballast = await fillDisk(disk);
    await useUpSegments(connect);
    const began = performance.now();
    const state = { isFull: true };
    // A recovery frees some WAL, and PostgreSQL would go on: the disk is filled again.
    const keepFull = async (): Promise<void> => {
      while (state.isFull) {
        ballast = await fillDisk(disk);
        await useUpSegments(connect);
        await delay(100);
      }
    };
    const filling = keepFull();
    const repair = async (): Promise<void> => {
      state.isFull = false;
      await filling;
      await rm(ballast);
    };
    return { began, repair };
  },
};

/** By hand. */
const switchover: Fault = {
  what: "switched over by hand",
  strike: async (_, { switchOver }) => {
    const began = performance.now();
    await switchOver();
    return { began, repair: nothingToRepair };
  },
};

/** Those of a short drill. */
export const shortFaults: Fault[] = [kill, switchover];

/** All; without a disk that can be filled all others. */
export const faultsOf = ({ nodes }: PatroniCluster): Fault[] => [
  ...[kill, crash, freeze, cutOff, switchover],
  ...(nodes.every(({ disk }) => disk !== undefined) ? [fullDisk] : []),
];
