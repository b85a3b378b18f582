import type { Pool } from "pg";
import { call } from "../../../src/database/call.ts";
import type { CallsOn, DatabaseFunction, Fields } from "../../../src/database/call.ts";
import { api } from "../../../src/database/calls.ts";
import { withClient } from "../database/test_database.ts";

/** The functions of api, each on a session of the pool. What fails is not tried again. */
export function callsOnce(pool: () => Pool): CallsOn<typeof api> {
  const entries = Object.entries(api).map(
    ([name, called]: [string, DatabaseFunction<Fields, unknown>]) => {
      const callIt = (given = {}) => withClient(pool(), (client) => call(client, called, given));
      return [name, callIt];
    },
  );
  return Object.fromEntries(entries) as CallsOn<typeof api>;
}
