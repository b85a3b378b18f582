import pg from "pg";
import type { Pool } from "pg";

/** One call as the database would see it. */
export interface FakeCall {
  name: string;
  values: unknown[];
}

export interface FakePool {
  pool: Pool;
  /** Every call made, in order. */
  calls: FakeCall[];
  /** Connections that were given up. */
  destroyed: () => number;
}

export interface FakePoolOptions {
  /** The rows of a call, or its failure. */
  answer: (call: FakeCall) => unknown[] | Promise<unknown[]>;
  /** Fails when there is no connection to be had. */
  connect?: () => void | Promise<void>;
  /** How many it says that it has at most. It gives as many as are wanted. */
  connections?: number | undefined;
}

/** A pool whose database is a function. */
export function fakePool({ answer, connect, connections = 8 }: FakePoolOptions): FakePool {
  const calls: FakeCall[] = [];
  let destroyed = 0;
  const client = {
    query: async ({ name, values }: FakeCall) => {
      calls.push({ name, values });
      return { rows: await answer({ name, values }) };
    },
    release: (destroy?: boolean) => {
      if (destroy) destroyed += 1;
    },
  };
  const pool = {
    options: { max: connections },
    connect: async () => {
      await connect?.();
      return client;
    },
  };
  return { pool: pool as unknown as Pool, calls, destroyed: () => destroyed };
}

/** An error as the database reports it. */
export function databaseError(code: string, severity = "ERROR"): pg.DatabaseError {
  const error = new pg.DatabaseError(`error ${code}`, 0, "error");
  return Object.assign(error, { code, severity });
}
