import { workerData } from "node:worker_threads";
import type { GraphqlAnswer } from "../graphql/answers.ts";
import { openEndpoint } from "../graphql/endpoints.ts";
import type { ThreadData, ThreadTask } from "../graphql/thread.ts";
import { makeLogger } from "./logger.ts";

/** The thread of one kind of staff's GraphQL: what `src/graphql/thread.ts` asks of it. */

const { logLevel, ...given } = workerData as ThreadData;
const endpoint = openEndpoint({ ...given, logger: makeLogger(logLevel) });

export const { prepare, close } = endpoint;

export async function answer({ credential, request }: ThreadTask): Promise<GraphqlAnswer> {
  return await endpoint.answer(credential, request);
}
