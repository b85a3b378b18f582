import type { PgClient, WithPgClient } from "postgraphile/@dataplan/pg";
import { SafeError } from "postgraphile/grafast";
import { GraphQLError } from "postgraphile/graphql";
import { TOOK_TOO_LONG } from "./shown_errors.ts";

/** What a query may read from the database: thrice the longest answer. */
const MAX_READ_BYTES = 30_000_000;

/** Parts of the client of `pg` that its types lack. */
interface Connected {
  rawClient: { connection: { stream: NodeJS.ReadableStream & { destroy: (e: Error) => void } } };
}

/**
 * The same access to the database for one request, whose connection is cut when all its statements
 * together have sent more than this. So no more is ever in memory, and a mutation that sends it is
 * rolled back.
 */
function boundReads(most: number, withPgClient: WithPgClient): WithPgClient {
  let left = most;
  const tooMuch = new SafeError(`A query may read ${most} bytes`);
  const bounded = <Result>(
    settings: Parameters<WithPgClient>[0],
    use: (client: PgClient) => Result | Promise<Result>,
  ): Promise<Result> =>
    withPgClient(settings, async (client) => {
      const { stream } = (client as unknown as Connected).rawClient.connection;
      const count = (chunk: Buffer): void => {
        left -= chunk.length;
        if (left < 0) stream.destroy(tooMuch);
      };
      stream.on("data", count);
      try {
        return await use(client);
      } finally {
        stream.off("data", count);
      }
    }).catch((error: unknown) => {
      // The first error may be that a cut connection rolls nothing back.
      throw left < 0 ? tooMuch : error;
    });
  return Object.assign(bounded, withPgClient);
}

const tookTooLong = new GraphQLError(TOOK_TOO_LONG);

/**
 * Answers a query, whose statements run one after the other: one of many parts never holds the
 * connections of others. When `end` comes, by `performance.now()`, the statement under way is
 * cancelled and no other runs. Resolves when its connection is free.
 */
export async function withOneConnection<Result>(
  withPgClient: WithPgClient,
  end: number,
  answer: (own: WithPgClient) => Promise<Result>,
): Promise<Result> {
  let last: Promise<unknown> = Promise.resolve();
  const inTurn: typeof withPgClient = (settings, use) => {
    const result = last.then(() => {
      const left = Math.ceil(end - performance.now());
      if (left <= 0) throw tookTooLong;
      const longest = Math.min(left, Number(settings?.statement_timeout ?? left));
      return withPgClient({ ...settings, statement_timeout: String(longest) }, use);
    });
    last = result.catch(() => undefined);
    return result;
  };
  try {
    return await answer(boundReads(MAX_READ_BYTES, Object.assign(inTurn, withPgClient)));
  } finally {
    await last;
  }
}
