import { workerData } from "node:worker_threads";
import { move, transferableSymbol, valueSymbol } from "piscina";
import type { GraphqlAnswer } from "../graphql/answers.ts";
import type { GraphqlCall } from "../graphql/endpoint.ts";
import { openEndpoint } from "../graphql/endpoints.ts";
import type { ThreadData } from "../graphql/thread.ts";
import { makeLogger } from "./logger.ts";

/** The thread of one kind of staff's GraphQL: what `src/graphql/thread.ts` asks of it. */

const { logLevel, ...given } = workerData as ThreadData;
const endpoint = openEndpoint({ ...given, logger: makeLogger(logLevel) });

export const { prepare, close } = endpoint;

/** Gives the JSON away as bytes: the thread of the orders has nothing to copy or to encode. */
export async function answer(call: GraphqlCall): Promise<unknown> {
  const given = await endpoint.answer(call);
  if (!("json" in given) || typeof given.json !== "string") return given;
  const json = new TextEncoder().encode(given.json);
  const value: GraphqlAnswer = { ...given, json };
  return move({ [transferableSymbol]: [json.buffer], [valueSymbol]: value });
}
