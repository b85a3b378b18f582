import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { version } from "../version.ts";

/** How often a process notes in the database that it runs. */
export const NOTE_PROCESS_MS = 10_000;

interface Noted {
  processId: string;
  host: string;
  systemNumber: number;
  version: string;
  ends: boolean;
}

/** What a process notes about itself, so that staff see which processes run. */
export interface NotedProcess {
  /** That it runs. */
  note: () => Promise<void>;
  /** That it ends. Never fails: it may end because the database is gone. */
  end: () => Promise<void>;
}

/** Notes the process, by the function of its role. */
export function notedProcess(
  noteProcess: (noted: Noted, options: { attempts: number }) => Promise<void>,
): NotedProcess {
  const own = { processId: randomUUID(), host: hostname(), systemNumber: process.pid, version };
  let last = Promise.resolve();
  const give = (ends: boolean): Promise<void> => {
    const given = last.then(() => noteProcess({ ...own, ends }, { attempts: 1 }));
    last = given.catch(() => undefined);
    return given;
  };
  return {
    note: () => give(false),
    end: () => give(true).catch(() => undefined),
  };
}
