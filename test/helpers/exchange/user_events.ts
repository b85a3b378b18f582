import type { Pool } from "pg";

/** What a stream is asked for besides the events that all have. */
export interface Include {
  fills?: boolean;
  settlements?: boolean;
  markets?: boolean;
}

export interface UserFrame {
  position: number;
  event: any;
}

/** Everything that there is. */
export const everything: Include = { fills: true, settlements: true, markets: true };

/** Sends all that is in the outbox. */
export async function relayAll(api: Pool): Promise<void> {
  while ((await api.query("select api.relay_outbox() as count")).rows[0].count > 0);
}

/** Where a stream that is opened now begins; null for an id that is too old or unknown. */
export async function findPosition(api: Pool, lastEventId?: number): Promise<number | null> {
  const { rows } = await api.query("select api.find_user_position($1) as position", [
    lastEventId ?? null,
  ]);
  return rows[0].position;
}

/** One page of a stream. Undefined when what follows its position is gone. */
export async function readUserEvents(
  api: Pool,
  trader: string,
  position: number,
  { fills = false, settlements = false, markets = false }: Include = everything,
  most = 1000,
): Promise<{ frames: UserFrame[]; position: number } | undefined> {
  const { rows } = await api.query(
    `select "position", event from api.read_user_events(
       array[$1::uuid], array[$2::bigint], array[$3::boolean], array[$4::boolean],
       array[$5::boolean], $6
     )`,
    [trader, position, fills, settlements, markets, most],
  );
  if (rows.some((row) => row.position === null)) return undefined;
  const frames = rows.filter((row) => row.event !== null);
  return { frames, position: rows.at(-1).position };
}
