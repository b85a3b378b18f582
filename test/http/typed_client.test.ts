import { execFile } from "node:child_process";
import { mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import test from "ava";
import openapiTypescript, { astToString } from "openapi-typescript";
import ts from "typescript";
import { rootDirectory } from "../helpers/repository.ts";
import { testService } from "../helpers/http/test_service.ts";

/** A client in TypeScript that is generated from /openapi.json and nothing else. */

const service = testService(test);
const { call, makeMarket, makeTrader } = service;

const program = `
import createClient from "openapi-fetch";
import type { paths } from './api.ts';

const [baseUrl = "", key = "", marketId = ""] = process.argv.slice(2);
const client = createClient<paths>({ baseUrl, headers: { authorization: "Bearer " + key } });

const book = await client.GET("/api/v1/markets/{id}/orderbook", { params: { path: { id: marketId } } });
const ask: number | undefined = book.data?.asks[0]?.price;

const placed = await client.POST("/api/v1/orders", {
  body: { marketId, side: "yes", price: ask ?? null, quantity: 5 },
});
const filled: number | undefined = placed.data?.order.filledQuantity;

const resting = await client.POST("/api/v1/orders", {
  body: { marketId, side: "yes", price: 10, quantity: 3, timeInForce: "gtc" },
});
const cancelled = await client.DELETE("/api/v1/orders/{id}", {
  params: { path: { id: resting.data?.order.id ?? "" } },
});
const reason: string | null | undefined = cancelled.data?.order.cancelReason;

const portfolio = await client.GET("/api/v1/me/portfolio");
const shares = portfolio.data?.positions.map(({ side, quantity }) => [side, quantity] as const);

const refused = await client.POST("/api/v1/orders", {
  body: { marketId, side: "yes", price: ask ?? null, quantity: 10_000, orderType: "sell" },
});
const code: string | undefined = refused.error?.code;

// @ts-expect-error: no such side
await client.POST("/api/v1/orders", { body: { marketId, side: "maybe", price: 1, quantity: 1 } });
// @ts-expect-error: no such route
await client.GET("/api/v1/nothing");
// @ts-expect-error: no such field
placed.data?.order.filled;

console.log(JSON.stringify({ ask, filled, reason, shares, code }));
`;

test("a client that is generated from the document compiles, and trades", async (t) => {
  const directory = await mkdtemp(join(tmpdir(), "pgmarkets-client-"));
  t.teardown(() => rm(directory, { recursive: true }));
  await symlink(join(rootDirectory, "node_modules"), join(directory, "node_modules"));
  const document = (await call("GET", "/openapi.json")).body;
  await writeFile(join(directory, "package.json"), '{"type":"module"}');
  const types = await openapiTypescript(document, { defaultNonNullable: false });
  await writeFile(join(directory, "api.ts"), astToString(types));
  await writeFile(join(directory, "client.ts"), program);
  t.deepEqual(complaintsAbout(join(directory, "client.ts")), []);

  const marketId = await makeMarket();
  const [maker, trader] = [await makeTrader(), await makeTrader()];
  await call("POST", "/api/v1/orders", {
    key: maker.key,
    body: { marketId, side: "no", price: 40, quantity: 5 },
  });
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [join(directory, "client.ts"), service.url, trader.key, marketId],
    { cwd: directory },
  );
  t.deepEqual(JSON.parse(stdout), {
    ask: 60,
    filled: 5,
    reason: "user_cancelled",
    shares: [["yes", 5]],
    code: "INSUFFICIENT_BALANCE",
  });
});

function complaintsAbout(path: string): string[] {
  const compiled = ts.createProgram([path], {
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    target: ts.ScriptTarget.ESNext,
    module: ts.ModuleKind.NodeNext,
    allowImportingTsExtensions: true,
    types: ["node"],
    typeRoots: [join(rootDirectory, "node_modules/@types")],
  });
  return ts
    .getPreEmitDiagnostics(compiled)
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, "\n"));
}
