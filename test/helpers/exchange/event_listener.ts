import type { Pool } from "pg";
import { call } from "../../../src/database/call.ts";
import { api as apiFunctions } from "../../../src/database/calls.ts";
import type { SentEvent } from "../../../src/database/calls.ts";
import { withClient } from "../database/test_database.ts";

/** Events by their kind. */
export interface Heard {
  markets: any[];
  users: any[];
  keys: any[];
}

/** Collects what users and servers hear about. */
export interface Listener {
  /** Relays the outbox; the events since the last call. */
  heard: () => Promise<Heard>;
}

/** Starts with the events from now on. */
export async function listenTo(api: Pool): Promise<Listener> {
  const lists = {
    market_changed: "markets",
    user_event: "users",
    api_key_revoked: "keys",
  } as const;
  const announceAll = async () => {
    while ((await api.query("select api.relay_outbox() as count")).rows[0].count > 0);
  };
  const read = async (afterId: number | undefined) =>
    await withClient(api, (client) =>
      call(client, apiFunctions.followEvents, { afterId, most: 1000 }),
    );
  let [{ id: lastId }] = (await read(undefined)) as [SentEvent];
  return {
    heard: async () => {
      await announceAll();
      const heard: Heard = { markets: [], users: [], keys: [] };
      for (let events = await read(lastId); events.length > 0; events = await read(lastId)) {
        for (const { id, kind, payload } of events) {
          if (kind === null || id !== lastId + 1) throw new Error("Events are missing");
          const list = lists[kind as keyof typeof lists] as keyof Heard | undefined;
          if (list) heard[list].push(JSON.parse(payload!));
          lastId = id;
        }
      }
      return heard;
    },
  };
}
