import { workerData } from "node:worker_threads";
import { openEndpoint } from "../graphql/endpoints.ts";
import type { ThreadData } from "../graphql/thread.ts";
import { makeLogger } from "./logger.ts";

/** The thread of one kind of staff's GraphQL: what `src/graphql/thread.ts` asks of it. */

const { logLevel, ...given } = workerData as ThreadData;
const endpoint = openEndpoint({ ...given, logger: makeLogger(logLevel) });

export const { answer, prepare, close } = endpoint;
