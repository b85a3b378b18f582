import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { Logger } from "pino";
import { Piscina } from "piscina";
import type { GraphqlAnswer } from "./answers.ts";
import type { GraphqlEndpoint } from "./endpoint.ts";
import type { OpenEndpointOptions } from "./endpoints.ts";

/** What a thread is told when it begins. */
export type ThreadData = Omit<OpenEndpointOptions, "logger"> & { logLevel: string };

const FILE = fileURLToPath(new URL("../bin/graphql_thread.ts", import.meta.url));
/**
 * A thread that needs more memory ends: two queries at their limits need a third of this. With more
 * for young objects, each thread would keep 150 MB that it does not need.
 */
const resourceLimits = { maxOldGenerationSizeMb: 1024, maxYoungGenerationSizeMb: 16 };
/** No request takes as long: its statements may take 30 s. A thread that does not answer ends. */
const LONGEST_MS = 60_000;
/** What is under way then is of clients that were cut: it ends with the thread. */
const CLOSING_MS = 1000;

/**
 * GraphQL on a thread of its own. To check, plan and write down a query keeps a thread busy for up to
 * a second, and orders are on another. One that ends is replaced, and what it was doing has no answer.
 */
export function startThread(
  given: Omit<ThreadData, "logLevel">,
  logger: Logger,
  longestMs = LONGEST_MS,
): GraphqlEndpoint {
  const { role } = given;
  const thread = new Piscina({
    filename: FILE,
    minThreads: 1,
    maxThreads: 1,
    // Those that run at a time are counted before.
    concurrentTasksPerWorker: 100,
    // It would wait for tasks alone, and not for the database.
    atomics: "disabled",
    workerData: { ...given, logLevel: logger.level } satisfies ThreadData,
    resourceLimits,
  });
  let closing: Promise<void> | undefined;
  const noteEnd = (error: unknown): void => {
    if (closing !== undefined) return;
    logger.error({ error, role }, "the thread of GraphQL ended, and another begins");
  };
  thread.on("error", noteEnd);
  const prepare = async (): Promise<void> => {
    if (closing !== undefined) return;
    await thread.run(undefined, { name: "prepare" }).catch(noteEnd);
  };
  const end = async (): Promise<void> => {
    const closed = thread.run(undefined, { name: "close" }).catch(noteEnd);
    await Promise.race([closed, delay(CLOSING_MS)]);
    await thread.destroy();
  };

  return {
    role,
    prepare,
    answer: async (call) => {
      // By an AbortSignal a thread would have one call at a time.
      const late = new AbortController();
      const tooLate = delay(longestMs, undefined, { signal: late.signal }).then(() => {
        void thread.threads[0]?.terminate();
        throw new Error(`no answer came within ${longestMs} ms`);
      });
      try {
        const answer = thread.run(call, { name: "answer" });
        return (await Promise.race([answer, tooLate])) as GraphqlAnswer;
      } catch (error) {
        noteEnd(error);
        void prepare();
        return { rejection: call.isMutation ? "OUTCOME_UNKNOWN" : "CONFLICT_RETRY" };
      } finally {
        late.abort();
      }
    },
    close: () => (closing ??= end()),
  };
}
