import type { PoolClient } from "pg";
import { call, theOnly } from "./api.ts";

/** The calls of the `api` functions that show the leaderboard. */

/** The first ranks of a window; null for an unknown category. */
export async function getLeaderboard(
  client: PoolClient,
  category: string,
  window: string,
  most: number,
): Promise<string | null> {
  const row = theOnly(
    await call<{ body: string | null }>(
      client,
      "get_leaderboard",
      'select api.get_leaderboard(category => $1, "window" => $2, most => $3) as body',
      [category, window, most],
    ),
  );
  return row.body;
}

/** Sums and outstanding traders of a window; null for an unknown category. */
export async function getLeaderboardSummary(
  client: PoolClient,
  category: string,
  window: string,
): Promise<string | null> {
  const row = theOnly(
    await call<{ body: string | null }>(
      client,
      "get_leaderboard_summary",
      'select api.get_leaderboard_summary(category => $1, "window" => $2) as body',
      [category, window],
    ),
  );
  return row.body;
}

/** The user's own entry in a window; null for an unknown category. */
export async function getOwnStanding(
  client: PoolClient,
  userId: string,
  category: string,
  window: string,
): Promise<string | null> {
  const row = theOnly(
    await call<{ body: string | null }>(
      client,
      "get_own_standing",
      'select api.get_own_standing(user_id => $1, category => $2, "window" => $3) as body',
      [userId, category, window],
    ),
  );
  return row.body;
}
