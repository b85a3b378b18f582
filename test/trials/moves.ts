import { randomInt, randomUUID } from "node:crypto";
import type pg from "pg";
import { hasCode } from "../../src/has_code.ts";
import { connectTo, otherSide, sides } from "./primaries.ts";
import type { Both, Side, User } from "./primaries.ts";

/**
 * Cash moves between two primaries by a withdrawal at one and a deposit of the same reference at the
 * other, under two-phase commit. The commit at the giving side is the decision: after any crash the
 * move has happened if the reference is committed there, and otherwise not.
 *
 * A mover holds an advisory lock at both sides as long as its sessions live, and decides by the
 * session that holds the lock. So recovery that gets the lock at the giving side knows that the mover
 * can't decide any more.
 */

export interface Move {
  user: User;
  amountCents: number;
}

export interface Mover {
  /**
   * Moves cash of some users from one side to the other, all or none; each has a reference of its
   * own. Throws if it was rejected or cut. After a cut the mover must be ended.
   */
  move: (from: Side, moves: Move[], onDecided?: (references: string[]) => void) => Promise<void>;
  end: () => Promise<void>;
}

/** The class of the advisory locks of movers. Locks of markets have one number, these have two. */
const MOVERS = 7017;

/** A lock that a prepared transaction holds is waited for this long. */
const LOCK_TIMEOUT = "3s";

/** Opens a session at each side. */
export async function openMover(addresses: Both<string>): Promise<Mover> {
  const mover = randomInt(2 ** 31);
  const clients: pg.Client[] = [];
  const end = async () => {
    await Promise.all(clients.map((client) => client.end().catch(() => undefined)));
  };
  try {
    for (const side of sides) {
      const client = await connectTo(addresses[side], "exchange_operator");
      clients.push(client);
      await client.query(`set lock_timeout = '${LOCK_TIMEOUT}'`);
      await client.query("select pg_advisory_lock($1, $2)", [MOVERS, mover]);
    }
  } catch (error) {
    await end();
    throw error;
  }
  const both = clients as Both<pg.Client>;
  return {
    end,
    move: async (from, moves, onDecided) => {
      const legs = inOrder(moves).map((move) => ({ ...move, reference: randomUUID() }));
      const gid = nameOf({ mover, from, reference: legs[0]!.reference });
      try {
        for (const side of sides) await prepare(both[side], side, from, legs, gid);
      } catch (error) {
        await undo(both, gid);
        throw error;
      }
      await both[from].query(`commit prepared '${gid}'`);
      onDecided?.(legs.map(({ reference }) => reference));
      await both[otherSide(from)].query(`commit prepared '${gid}'`);
    },
  };
}

interface Leg extends Move {
  reference: string;
}

/** Users are locked in ascending id, and were made in the same order at both sides. */
function inOrder(moves: Move[]): Move[] {
  return [...moves].sort((a, b) => (a.user.ids[0] < b.user.ids[0] ? -1 : 1));
}

/** One round trip. The outside world is locked from here to the commit: first at the first side. */
async function prepare(
  client: pg.Client,
  side: Side,
  from: Side,
  legs: Leg[],
  gid: string,
): Promise<void> {
  const command = side === from ? "withdraw" : "deposit";
  const calls = legs.map(
    ({ user, amountCents, reference }) =>
      `select admin.${command}(
         user_id => '${user.ids[side]}', amount_cents => ${amountCents}, reference => '${reference}'
       );`,
  );
  await client.query(`begin; ${calls.join("\n")} prepare transaction '${gid}'`);
}

/** After a rejection: rolls back where the transaction failed, and where it is prepared. */
async function undo(clients: Both<pg.Client>, gid: string): Promise<void> {
  for (const side of sides) {
    await clients[side].query("rollback");
    await rollBack(clients[side], gid);
  }
}

/** What the name of a prepared transaction says. */
interface Name {
  mover: number;
  from: Side;
  /** Of its first move. */
  reference: string;
}

function nameOf({ mover, from, reference }: Name): string {
  return `move/${mover}/${from}/${reference}`;
}

function parseName(gid: string): Name {
  const [, mover, from, reference = ""] = gid.split("/");
  return { mover: Number(mover), from: from === "0" ? 0 : 1, reference };
}

/** What a recovery has done. */
export interface Recovered {
  finished: number;
  rolledBack: number;
}

/**
 * Ends what dead movers have left prepared, by superusers' sessions at both sides. It may run beside
 * movers, and be repeated after a crash of its own at any moment.
 */
export async function recover(clients: Both<pg.Client>): Promise<Recovered> {
  const recovered: Recovered = { finished: 0, rolledBack: 0 };
  for (const side of sides) {
    for (const gid of await preparedAt(clients[side])) {
      const name = parseName(gid);
      const giver = clients[name.from];
      const lock = [MOVERS, name.mover];
      const { rows } = await giver.query("select pg_try_advisory_lock($1, $2) as got", lock);
      if (!rows[0].got) continue;
      try {
        if (side !== name.from && (await isGiven(giver, name.reference))) {
          await ignoreGone(clients[side].query(`commit prepared '${gid}'`));
          recovered.finished++;
        } else {
          await rollBack(clients[side], gid);
          recovered.rolledBack++;
        }
      } finally {
        await giver.query("select pg_advisory_unlock($1, $2)", lock);
      }
    }
  }
  return recovered;
}

/** The prepared transactions of the database. */
export async function preparedAt(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query(
    "select gid from pg_prepared_xacts where database = current_database() order by prepared",
  );
  return rows.map(({ gid }) => gid);
}

/** The decision: whether the giving side has committed. */
async function isGiven(giver: pg.Client, reference: string): Promise<boolean> {
  const { rows } = await giver.query(
    `select from ledger.cash_movements as m
     where m.reference = $1 and m.kind = 'withdrawal'`,
    [reference],
  );
  return rows.length > 0;
}

async function rollBack(client: pg.Client, gid: string): Promise<void> {
  await ignoreGone(client.query(`rollback prepared '${gid}'`));
}

/** It does not exist any more, or never did. */
async function ignoreGone(ending: Promise<unknown>): Promise<void> {
  try {
    await ending;
  } catch (error) {
    if (!hasCode(error, "42704")) throw error;
  }
}
