import type { Pool } from "pg";

/**
 * The leaderboard worked out anew from all that was ever realised, in plain TypeScript: what the
 * one in the database has to come to, however it got there.
 */

export const windows = ["day", "week", "month", "ytd", "all"] as const;
export type Window = (typeof windows)[number];

const DAY_MS = 86_400_000;

interface User {
  id: string;
  handle: string;
  displayName: string;
  avatarUrl: string | null;
  isHidden: boolean;
}

/** Something realised; `cost` is of a settled position and null of a sell or merge. */
interface Realised {
  at: Date;
  category: string;
  market: string;
  user: string;
  cents: number;
  cost: number | null;
}

interface Standing {
  user: User;
  plCents: number;
  volCents: number;
  wins: number;
  settledCount: number;
}

export interface Board {
  /** The body of GET /leaderboard, every rank of it. */
  entries: any[];
  /** Complete entries by user. */
  selves: Map<string, any>;
  /** The body of GET /leaderboard/summary, but for the time and for what markets are called. */
  summary: any;
}

export interface Facts {
  users: User[];
  realised: Realised[];
  /** Of unresolved markets. */
  escrow: { category: string; cents: number }[];
}

/** Everything there is to know, as of now. */
export async function readFacts(pool: Pool): Promise<Facts> {
  const rowsOf = async (query: string): Promise<any[]> => (await pool.query(query)).rows;
  const users = await rowsOf(
    `select public_id as id, handle, display_name as "displayName", avatar_url as "avatarUrl",
       private or leaderboard_opt_out as "isHidden"
     from identity.users`,
  );
  const sold = await rowsOf(
    `select t.created_at as at, c.slug as category, m.public_id as market, u.public_id as user,
       x.cents, null as cost
     from trading.trades as t
     cross join lateral (
       values (taker_user_id, taker_realised_cents), (maker_user_id, maker_realised_cents)
     ) as x (user_id, cents)
     join catalog.markets as m on m.id = t.market_id
     join catalog.categories as c on c.id = m.category_id
     join identity.users as u on u.id = x.user_id
     where x.cents is not null
       and not exists (select from trading.voids as v where v.trade_id = t.id)`,
  );
  // Who bought in a voided trade gives the shares back.
  const givenBack = await rowsOf(
    `select v.created_at as at, c.slug as category, m.public_id as market, u.public_id as user,
       x.cents, null as cost
     from trading.voids as v
     join trading.trades as t on t.id = v.trade_id
     cross join lateral (
       values
         (t.taker_user_id, t.taker_realised_cents, v.taker_realised_cents),
         (t.maker_user_id, t.maker_realised_cents, v.maker_realised_cents)
     ) as x (user_id, sold, cents)
     join catalog.markets as m on m.id = t.market_id
     join catalog.categories as c on c.id = m.category_id
     join identity.users as u on u.id = x.user_id
     where x.sold is null`,
  );
  const voided = await rowsOf(
    `select m.public_id as market
     from trading.voids as v
     join catalog.markets as m on m.id = v.market_id
     where v.trade_id is null`,
  );
  const merged = await rowsOf(
    `select s.created_at as at, c.slug as category, m.public_id as market, u.public_id as user,
       s.yes_realised_cents + s.no_realised_cents as cents, null as cost
     from trading.set_conversions as s
     join catalog.markets as m on m.id = s.market_id
     join catalog.categories as c on c.id = m.category_id
     join identity.users as u on u.id = s.user_id
     where s.kind <> 'split' and s.yes_realised_cents is not null`,
  );
  const settlements = await rowsOf(
    `select s.resolution_id, r.created_at as at, c.slug as category, m.public_id as market,
       u.public_id as user, s.realised_cents as cents, s.cost_cents as cost
     from trading.settlements as s
     join trading.resolutions as r on r.id = s.resolution_id
     join catalog.markets as m on m.id = s.market_id
     join catalog.categories as c on c.id = m.category_id
     join identity.users as u on u.id = s.user_id
     order by s.resolution_id`,
  );
  const escrow = await rowsOf(
    `select c.slug as category, b.escrow_cents::bigint as cents
     from trading.market_state as b
     join catalog.markets as m on m.id = b.market_id
     join catalog.categories as c on c.id = m.category_id`,
  );
  const realised = [...sold, ...givenBack, ...merged, ...thatHold(settlements)].filter(
    (it) => !voided.some(({ market }) => market === it.market),
  );
  return { users, realised, escrow };
}

/** Of each market what the last resolution says, at the time of the first. */
function thatHold(settlements: any[]): Realised[] {
  const first = new Map<string, Date>();
  const last = new Map<string, number>();
  for (const { market, at, resolution_id } of settlements) {
    if (!first.has(market)) first.set(market, at);
    last.set(market, resolution_id);
  }
  return settlements
    .filter(({ market, resolution_id }) => last.get(market) === resolution_id)
    .map((settlement) => ({ ...settlement, at: first.get(settlement.market) }));
}

/** What the leaderboard has to show of a category, or all, in a window that ends with a day. */
export function boardOf(facts: Facts, category: string, window: Window, now: Date): Board {
  const isIn = (place: string) => category === "all" || place === category;
  const from = startOf(window, now);
  const realised = facts.realised.filter((it) => isIn(it.category) && it.at.getTime() >= from);
  const standings = rank(facts.users, realised);
  const complete = standings.map(completeEntry);
  const shown = standings.filter(({ user }) => !user.isHidden);
  const wins = realised.filter(({ user, cents, cost }) => {
    return cost !== null && cents > 0 && shown.some((it) => it.user.id === user);
  });
  const median = standings[Math.floor(standings.length / 2)];
  const sum = (amounts: number[]) => amounts.reduce((total, amount) => total + amount, 0);

  return {
    entries: standings.map(({ user }, index) =>
      user.isHidden ? { isPrivate: true, rank: index + 1 } : complete[index],
    ),
    selves: new Map(standings.map(({ user }, index) => [user.id, complete[index]])),
    summary: {
      category,
      window,
      traderCount: shown.filter(({ settledCount }) => settledCount > 0).length,
      totalVolumeCents: sum(standings.map(({ volCents }) => volCents)),
      openInterestCents: sum(
        facts.escrow.filter((it) => isIn(it.category)).map(({ cents }) => cents),
      ),
      topTrader: shown[0] ? { ...profileOf(shown[0].user), plCents: shown[0].plCents } : null,
      biggestWinCents: wins.length === 0 ? null : Math.max(...wins.map(({ cents }) => cents)),
      medianTrader: median
        ? {
            plCents: median.plCents,
            winRate: standings.some(({ settledCount }) => settledCount > 0)
              ? part(median.wins, median.settledCount)
              : null,
            settledCount: median.settledCount,
          }
        : null,
    },
  };
}

function startOf(window: Window, now: Date): number {
  const today = Math.floor(now.getTime() / DAY_MS) * DAY_MS;
  switch (window) {
    case "day":
      return today;
    case "week":
      return today - 6 * DAY_MS;
    case "month":
      return today - 29 * DAY_MS;
    case "ytd":
      return Date.UTC(now.getUTCFullYear(), 0, 1);
    case "all":
      return -Infinity;
  }
}

function rank(users: User[], realised: Realised[]): Standing[] {
  return users
    .map((user) => {
      const own = realised.filter((it) => it.user === user.id);
      const settled = own.filter(({ cost }) => cost !== null);
      return {
        user,
        count: own.length,
        plCents: own.reduce((total, { cents }) => total + cents, 0),
        volCents: settled.reduce((total, { cost }) => total + cost!, 0),
        wins: settled.filter(({ cents }) => cents > 0).length,
        settledCount: settled.length,
      };
    })
    .filter(({ count }) => count > 0)
    .sort(
      (a, b) =>
        b.plCents - a.plCents || b.volCents - a.volCents || (a.user.id < b.user.id ? -1 : 1),
    );
}

function completeEntry(standing: Standing, index: number) {
  const { user, plCents, volCents, wins, settledCount } = standing;
  return {
    rank: index + 1,
    ...profileOf(user),
    plCents,
    volCents,
    winRate: part(wins, settledCount),
    roi: part(plCents, volCents),
    settledCount,
  };
}

function profileOf({ id, handle, displayName, avatarUrl }: User) {
  return { userId: id, handle, displayName, avatarUrl };
}

function part(amount: number, whole: number): number {
  return whole === 0 ? 0 : amount / whole;
}
