import type { ExecutionContext } from "ava";
import { pino } from "pino";
import type { StaffRole } from "../../src/database/calls.ts";
import { asServerPools } from "../../src/database/server_pools.ts";
import { createEndpoint } from "../../src/graphql/endpoint.ts";
import { serve } from "../../src/server/start_server.ts";
import type { OwnDatabase } from "../helpers/database/test_database.ts";
import { isUpdating, makeMask } from "./document.ts";
import type { Document } from "./document.ts";
import { layOut } from "./http_document.ts";

/** Runs `work` beside the HTTP interface of a database, with GraphQL for one kind of staff. */
export async function withGraphql(
  database: OwnDatabase,
  role: StaffRole,
  work: (baseUrl: string) => Promise<void>,
): Promise<void> {
  const logger = pino({ level: "silent" });
  const endpoint = createEndpoint({ role, logger, pool: database.connectAs(`exchange_${role}`) });
  await endpoint.prepare();
  const service = await serve({
    pools: asServerPools(database.connectAs("exchange_api")),
    config: { host: "127.0.0.1", port: 0, trustProxy: false },
    logger,
    graphql: role === "analyst" ? { analysts: endpoint } : { operators: endpoint },
  });
  try {
    await work(service.url);
  } finally {
    await service.close();
  }
}

/** Sends each graphql block of a page, and compares the answer with the json block behind it. */
export async function runGraphqlDocument(
  t: ExecutionContext,
  document: Document,
  { url, key, variables }: { url: string; key: string; variables: Record<string, string> },
): Promise<void> {
  const mask = makeMask();
  for (const block of document.blocks.filter(({ language }) => language === "graphql")) {
    const response = await fetch(url, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify({ query: block.text, variables }),
    });
    const answer = mask(layOut(await response.json(), ""));
    const [shown] = document.outputsOf(block, "json");
    if (isUpdating && shown) document.replace(shown, answer);
    t.is(shown?.text ?? "", answer, `${document.path}:${block.line}`);
  }
  if (isUpdating) document.save();
}
