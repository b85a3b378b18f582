import { fileURLToPath } from "node:url";
import type { Logger } from "pino";
import { Piscina } from "piscina";
import type { ReadStandbys } from "../config.ts";
import type { StaffRole } from "../database/calls.ts";
import type { GraphqlAnswer } from "./answers.ts";
import type { GraphqlEndpoint } from "./endpoint.ts";
import type { GraphqlRequest } from "./execution.ts";

/** What a thread is told when it begins. */
export interface ThreadData {
  role: StaffRole;
  connectionString: string;
  readStandbys?: ReadStandbys | undefined;
  logLevel: string;
}

/** What a thread is asked. */
export interface ThreadTask {
  credential: string;
  request: GraphqlRequest;
}

const FILE = fileURLToPath(new URL("../bin/graphql_thread.ts", import.meta.url));
/**
 * A thread that needs more memory ends: two queries and two mutations need a quarter of this. With more
 * for young objects, each thread would keep 150 MB that it does not need.
 */
const resourceLimits = { maxOldGenerationSizeMb: 1024, maxYoungGenerationSizeMb: 16 };
/** No request takes as long: its statements may take 30 s. A thread that does not answer ends. */
const LONGEST_MS = 60_000;

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
  const warn = (error: unknown): void => {
    logger.error({ error, role }, "the thread of GraphQL ended, and another begins");
  };
  thread.on("error", warn);

  return {
    role,
    answer: async (credential, request) => {
      const task: ThreadTask = { credential, request };
      const signal = AbortSignal.timeout(longestMs);
      try {
        return (await thread.run(task, { name: "answer", signal })) as GraphqlAnswer;
      } catch (error) {
        warn(error);
        return { rejection: "UNAVAILABLE" };
      }
    },
    prepare: async () => {
      await thread.run(undefined, { name: "prepare" }).catch(warn);
    },
    close: async () => {
      await thread.run(undefined, { name: "close" }).catch(warn);
      await thread.destroy();
    },
  };
}
