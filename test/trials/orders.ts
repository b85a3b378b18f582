import { randomInt, randomUUID } from "node:crypto";
import type pg from "pg";
import { hasCode } from "../../src/has_code.ts";
import { gatherMoves } from "./gather_moves.ts";
import type { MoveCash } from "./gather_moves.ts";
import { openMover } from "./moves.ts";
import { connectTo, otherSide, sides } from "./primaries.ts";
import type { Both, Exchange, Side, User } from "./primaries.ts";

/** A taker's price: it takes the first offer of the other side, at 55 cents a share. */
const TAKER_PRICE = 55;
/** What is moved for an order. */
const MOVED_CENTS = 100;

/** How the orders of a measurement are spread. */
export interface Spread {
  name: string;
  /** All go to the first primary, which then has as many markets as both otherwise. */
  isOne?: boolean;
  /** The share of orders for which cash is moved first. */
  moved?: number;
  /** Moves that wait share a transaction. */
  isGathered?: boolean;
}

/** What was measured, of times in milliseconds. */
export interface Figures {
  name: string;
  perSecond: number;
  /** Of both primaries together, for each order or move. */
  walBytes: number;
  all: number[];
  /** Of the orders for which cash was moved first; their times contain the move. */
  withMove: number[];
}

/** Has so many workers place orders for so long, one at a time each. Every order is filled. */
export async function measureOrders(
  exchange: Exchange,
  { name, isOne = false, moved = 0, isGathered = false }: Spread,
  { workers, seconds }: { workers: number; seconds: number },
): Promise<Figures> {
  const figures: Figures = { name, perSecond: 0, walBytes: 0, all: [], withMove: [] };
  const placers = await Promise.all(Array.from({ length: workers }, () => openPlacer(exchange)));
  const movers = await openMovers(exchange, workers, isGathered);
  // Plans are made, and pages read.
  for (const placer of placers) for (const side of sides) await placer.place(side);
  const firstByte = await readWal(exchange);
  const began = performance.now();
  const ends = began + seconds * 1000;
  await Promise.all(
    placers.map(async (placer, index) => {
      while (performance.now() < ends) {
        const side: Side = isOne || Math.random() < 0.5 ? 0 : 1;
        const since = performance.now();
        if (Math.random() < moved) {
          const user = anyUser(exchange, otherSide(side));
          await movers.moveCash(index, user, MOVED_CENTS);
          await placer.place(side, user);
          figures.withMove.push(performance.now() - since);
        } else await placer.place(side, undefined, isOne);
        figures.all.push(performance.now() - since);
      }
    }),
  );
  figures.perSecond = (figures.all.length * 1000) / (performance.now() - began);
  figures.walBytes = ((await readWal(exchange)) - firstByte) / figures.all.length;
  await Promise.all([...placers, movers].map((one) => one.end()));
  return figures;
}

/** Has so many workers move cash of random users away from home for so long, and nothing else. */
export async function measureMoves(
  exchange: Exchange,
  name: string,
  { workers, seconds, isGathered }: { workers: number; seconds: number; isGathered: boolean },
): Promise<Figures> {
  const figures: Figures = { name, perSecond: 0, walBytes: 0, all: [], withMove: [] };
  const movers = await openMovers(exchange, workers, isGathered);
  const firstByte = await readWal(exchange);
  const began = performance.now();
  const ends = began + seconds * 1000;
  await Promise.all(
    Array.from({ length: workers }, async (_, index) => {
      while (performance.now() < ends) {
        const since = performance.now();
        await movers.moveCash(index, anyUser(exchange), 1);
        figures.all.push(performance.now() - since);
      }
    }),
  );
  figures.perSecond = (figures.all.length * 1000) / (performance.now() - began);
  figures.walBytes = ((await readWal(exchange)) - firstByte) / figures.all.length;
  await movers.end();
  return figures;
}

/** Movers of workers: one for each, or one for all that gathers. */
interface Movers {
  /** Away from home, for a worker. */
  moveCash: (worker: number, user: User, amountCents: number) => Promise<void>;
  end: () => Promise<void>;
}

async function openMovers(
  { addresses }: Exchange,
  workers: number,
  isGathered: boolean,
): Promise<Movers> {
  const movers = await Promise.all(
    Array.from({ length: isGathered ? 1 : workers }, () => openMover(addresses)),
  );
  const ways: MoveCash[] = movers.map((mover) =>
    isGathered ? gatherMoves(mover) : (from, move) => mover.move(from, [move]),
  );
  return {
    moveCash: (worker, user, amountCents) =>
      ways[worker % ways.length]!(user.home, { user, amountCents }),
    end: async () => {
      await Promise.all(movers.map((mover) => mover.end()));
    },
  };
}

/** A worker's sessions as the servers have them. */
export interface Placer {
  /** Places an order that is filled, of a user with cash there unless one is named. */
  place: (side: Side, user?: User, inAllMarkets?: boolean) => Promise<void>;
  end: () => Promise<void>;
}

/** Opens a session at each primary. */
export async function openPlacer(exchange: Exchange): Promise<Placer> {
  const { addresses, markets } = exchange;
  const clients = (await Promise.all(
    addresses.map((address) => connectTo(address, "exchange_api")),
  )) as Both<pg.Client>;
  return {
    place: async (side, user = anyUser(exchange), inAllMarkets = false) => {
      const count = inAllMarkets ? markets[side].length : markets[1].length;
      const order = {
        marketId: markets[side][randomInt(count)],
        userId: user.ids[side],
        side: randomInt(2) === 0 ? "yes" : "no",
        price: TAKER_PRICE,
        quantity: 1,
        idempotencyKey: randomUUID(),
      };
      const code = await placeUntilKnown(clients[side], JSON.stringify([order]));
      if (code !== null) throw new Error(`an order was rejected: ${code}`);
    },
    end: async () => {
      await Promise.all(clients.map((client) => client.end().catch(() => undefined)));
    },
  };
}

/** A call that fails because of others has no effect and is made again with the same key. */
async function placeUntilKnown(client: pg.Client, orders: string): Promise<string | null> {
  for (;;) {
    try {
      const { rows } = await client.query({
        name: "place",
        text: "select o.code, o.body from api.run_orders(orders => $1) as o",
        values: [orders],
      });
      return rows[0].code;
    } catch (error) {
      if (!hasCode(error, "40001", "40P01", "55P03")) throw error;
    }
  }
}

/** The bytes that both primaries have ever written to their WAL. */
async function readWal({ addresses }: Exchange): Promise<number> {
  const bytes = await Promise.all(
    addresses.map(async (address) => {
      const client = await connectTo(address);
      const { rows } = await client.query<{ bytes: number }>(
        "select pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::float8 as bytes",
      );
      await client.end();
      return rows[0]!.bytes;
    }),
  );
  return bytes.reduce((sum, one) => sum + one, 0);
}

export function anyUser({ users }: Exchange, home?: Side): User {
  for (;;) {
    const user = users[randomInt(users.length)]!;
    if (home === undefined || user.home === home) return user;
  }
}
