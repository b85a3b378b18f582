import { randomInt } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import type { Client } from "pg";
import { openEvents } from "../helpers/http/event_source.ts";
import type { EventSource } from "../helpers/http/event_source.ts";
import type { ServerProcess } from "./server_process.ts";

/** Whether the places for streams of a user come back that a killed server held. */

const MOST_STREAMS = 20;
/** A lease that is not renewed counts for 30 s; the server that is asked may stand still. */
const BACK_AFTER_MS = 45_000;

/** The cap of streams of a user is that of a new exchange. */
export async function limitStreams(client: Client): Promise<void> {
  await client.query("select admin.set_stream_cap(holder => 'user', max_streams => $1)", [
    MOST_STREAMS,
  ]);
}

/** Settles with what was wrong, in words, once the places are back. */
export interface LostPlaces {
  faults: Promise<string[]>;
}

/** Takes all places at one server, asks the others for one more, kills the first. */
export async function losePlaces(servers: ServerProcess[], apiKey: string): Promise<LostPlaces> {
  const [first, ...others] = servers;
  if (first === undefined) throw new Error("There is no server");
  const open = (url: string): Promise<EventSource> =>
    openEvents(`${url}/api/v1/user/stream`, { authorization: `Bearer ${apiKey}` });
  const faults: string[] = [];
  const streams = await Promise.all(Array.from({ length: MOST_STREAMS }, () => open(first.url)));
  const refused = streams.filter(({ status }) => status !== 200).length;
  if (refused > 0) faults.push(`${refused} of ${MOST_STREAMS} streams were refused`);
  for (const { url } of others) {
    const { status, close } = await open(url);
    close();
    if (status !== 429) faults.push(`one stream more was answered ${status}`);
  }
  const killedAt = performance.now();
  await first.kill();
  for (const { close } of streams) close();

  const untilBack = async (): Promise<string[]> => {
    while (performance.now() - killedAt < BACK_AFTER_MS) {
      const { url } = others[randomInt(others.length)] ?? first;
      const stream = await open(url).catch(() => undefined);
      stream?.close();
      if (stream?.status === 200) {
        const afterMs = performance.now() - killedAt;
        console.log(`the streams of a killed server counted for ${afterMs.toFixed(0)} ms`);
        return faults;
      }
      await delay(500);
    }
    return [...faults, `the places of a killed server are not back after ${BACK_AFTER_MS} ms`];
  };
  return { faults: untilBack() };
}
