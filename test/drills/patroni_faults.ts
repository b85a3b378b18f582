import { rm } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { fillDisk, useUpSegments } from "./disk.ts";
import type { PatroniCluster, PatroniNode } from "./patroni_cluster.ts";

/** What can happen to a primary, and how its node comes back. */
export interface Fault {
  what: string;
  /** Returns how it is made good, once another node is the primary. */
  strike: (primary: PatroniNode, cluster: PatroniCluster) => Promise<() => Promise<void>>;
}

const nothingToRepair = (): Promise<void> => Promise.resolve();

/** Patroni and PostgreSQL end at once, as by the loss of a machine. */
const kill: Fault = {
  what: "killed Patroni and PostgreSQL",
  strike: async ({ signalPatroni, signalPostgres, start }) => {
    signalPatroni("SIGKILL");
    await signalPostgres("SIGKILL");
    return async () => {
      start();
    };
  },
};

/** PostgreSQL ends alone, and Patroni sees it. */
const crash: Fault = {
  what: "killed PostgreSQL",
  strike: async ({ signalPostgres }) => {
    await signalPostgres("SIGKILL");
    return nothingToRepair;
  },
};

/** Both stand still and know nothing of the time that passes, as on a virtual machine that is moved. */
const freeze: Fault = {
  what: "froze Patroni and PostgreSQL",
  strike: async ({ signalPatroni, signalPostgres }) => {
    signalPatroni("SIGSTOP");
    await signalPostgres("SIGSTOP");
    return async () => {
      // PostgreSQL first: for a moment it takes itself for the primary.
      await signalPostgres("SIGCONT");
      await delay(500);
      signalPatroni("SIGCONT");
    };
  },
};

/** The node reaches clients and the other nodes, but not etcd. */
const cutOff: Fault = {
  what: "cut off from etcd",
  strike: async ({ way }) => {
    way.cut();
    return async () => {
      way.mend();
    };
  },
};

/** Data and WAL have no space left. */
const fullDisk: Fault = {
  what: "filled the disk",
  strike: async ({ disk, connect }) => {
    if (disk === undefined) throw new Error("unreachable: there is no disk to fill");
    const state = { isFull: true, ballast: "" };
    // A recovery frees some WAL, and PostgreSQL would go on: the disk is filled again.
    const keepFull = async (): Promise<void> => {
      while (state.isFull) {
        state.ballast = await fillDisk(disk);
        await useUpSegments(connect);
        await delay(100);
      }
    };
    const filling = keepFull();
    return async () => {
      state.isFull = false;
      await filling;
      await rm(state.ballast);
    };
  },
};

/** By hand. */
const switchover: Fault = {
  what: "switched over by hand",
  strike: async (_, { switchOver }) => {
    await switchOver();
    return nothingToRepair;
  },
};

/** Those of a short drill. */
export const shortFaults: Fault[] = [kill, switchover];

/** All; without a disk that can be filled all others. */
export const faultsOf = ({ nodes }: PatroniCluster): Fault[] => [
  ...[kill, crash, freeze, cutOff, switchover],
  ...(nodes.every(({ disk }) => disk !== undefined) ? [fullDisk] : []),
];
