import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import test from "ava";
import ts from "typescript";
import { buildClientIfStale } from "../../src/site/client_package.ts";
import { rootDirectory } from "../helpers/repository.ts";

/** The client as other projects get it: from the archive that npm makes of the package. */

const run = promisify(execFile);

const program = `
import { ApiError, createClient } from "pgmarkets/client";
import type { LocalBook, UserEvent } from "pgmarkets/client";

const client = createClient({ url: "http://127.0.0.1:1", key: "jk_1", patienceMs: 0 });
export const spread = ({ asks, bids }: LocalBook): number | undefined =>
  asks[0] && bids[0] && asks[0].price - bids[0].price;
export const feeOf = (event: UserEvent): number | undefined =>
  event.type === "fill" ? event.feeCents : undefined;
const body = { marketId: "m", side: "yes", price: 50, quantity: 1 } as const;
try {
  const { order, balance } = await client.post("/api/v1/orders", { body });
  const left: number = order.quantity - order.filledQuantity + balance.total;
  console.log(left);
} catch (error) {
  console.log(error instanceof ApiError ? error.code : error);
}
async function neverCalled(): Promise<void> {
  const path = { id: "m" };
  const { data } = await client.get("/api/v1/me/fills", { query: { limit: 5 } });
  const maker: "maker" | "taker" | undefined = data[0]?.liquidity;
  await client.get("/api/v1/me/portfolio");
  await client.get("/api/v1/me/fills", { query: { cursor: undefined, limit: 5 } });
  await client.get("/api/v1/me/fills", { query: undefined });
  await client.post("/api/v1/orders/cancel-all");
  await client.post("/api/v1/orders/cancel-all", { idempotencyKey: undefined });
  await client.post("/api/v1/orders/cancel-all", { body: { marketId: "m" } });
  // @ts-expect-error: an order needs its body
  await client.post("/api/v1/orders");
  // @ts-expect-error: no such parameter
  await client.get("/api/v1/me/fills", { query: { cursors: "c" } });
  // @ts-expect-error: this one takes no body
  await client.delete("/api/v1/orders/{id}", { path, body: {} });
  // @ts-expect-error: no such route
  await client.get("/api/v1/nothing");
  // @ts-expect-error: a route of the website's pages
  await client.post("/api/account/sign-in", { body: {} });
  // @ts-expect-error: a stream is no call
  await client.get("/api/v1/user/stream");
  // @ts-expect-error: it needs the id of a market
  await client.get("/api/v1/markets/{id}/orderbook");
  // @ts-expect-error: no such side
  await client.post("/api/v1/orders", { body: { ...body, side: "maybe" } });
  // @ts-expect-error: no such field
  (await client.get("/api/v1/markets/{id}/orderbook", { path })).offers;
  console.log(maker);
}
console.log(typeof neverCalled);
`;

test("the packed client compiles for a project with and without Node's types, and runs", async (t) => {
  const directory = await mkdtemp(join(tmpdir(), "pgmarkets-package-"));
  t.teardown(() => rm(directory, { recursive: true }));
  await buildClientIfStale();
  const destination = ["--ignore-scripts", "--silent", "--pack-destination", directory];
  const { stdout: name } = await run("npm", ["pack", ...destination], { cwd: rootDirectory });
  await run("tar", ["-xzf", join(directory, name.trim()), "-C", directory]);
  t.false(existsSync(join(directory, "package/test")), "tests are not in it");
  await mkdir(join(directory, "node_modules"));
  await rename(join(directory, "package"), join(directory, "node_modules/pgmarkets"));
  await writeFile(join(directory, "package.json"), '{"type":"module"}');
  const path = join(directory, "program.ts");
  await writeFile(path, program);

  const options = {
    strict: true,
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.NodeNext,
    lib: ["lib.es2023.d.ts", "lib.dom.d.ts", "lib.dom.iterable.d.ts"],
    types: [],
  };
  const typeRoots = [join(rootDirectory, "node_modules/@types")];
  const forNode = { ...options, lib: ["lib.es2023.d.ts"], types: ["node"], typeRoots };
  const exactly = { ...options, exactOptionalPropertyTypes: true };
  for (const chosen of [options, exactly, { ...forNode, skipLibCheck: true }]) {
    const compiled = ts.createProgram([path], chosen);
    const complaints = ts
      .getPreEmitDiagnostics(compiled)
      .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, "\n"));
    t.deepEqual(complaints, []);
    compiled.emit();
  }
  for (const node of [process.execPath, systemNode()]) {
    const { stdout } = await run(node, [join(directory, "program.js")]);
    t.is(stdout, "NO_ANSWER\nfunction\n", node);
  }
});

/** The Node outside of the project, which may be older; npm puts its own first. */
function systemNode(): string {
  const folders = (process.env.PATH ?? "").split(delimiter);
  const outside = folders.filter((folder) => !folder.includes("node_modules"));
  return outside.map((folder) => join(folder, "node")).find(existsSync) ?? process.execPath;
}
