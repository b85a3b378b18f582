import test from "ava";
import { serveLocally } from "../helpers/http/local_server.ts";
import { readText } from "../helpers/repository.ts";
import { startExample } from "./run_example.ts";

/** What the market makers do when a stream ends for good, or nothing answers. */

test("the market maker in TypeScript ends with an error when its books do", async (t) => {
  const asked: string[] = [];
  const url = await serveLocally(t, (request, response) => {
    const path = request.url!.split("?")[0]!;
    asked.push(`${request.method} ${path}`);
    request.resume();
    if (path === "/api/v1/user/stream") {
      response.writeHead(200, { "Content-Type": "text/event-stream" });
      response.write('id: 1\ndata: {"type":"connected"}\n\n');
      return;
    }
    const isBooks = path === "/api/v1/stream";
    response.writeHead(isBooks ? 404 : 200, { "Content-Type": "application/json" });
    const error = { error: "Market not found", code: "MARKET_NOT_FOUND" };
    response.end(JSON.stringify(isBooks ? error : { openOrders: [], positions: [] }));
  });
  const example = await startExample(t, "In TypeScript", {
    ...{ BASE: url, KEY: "jk_1", MARKET: "m" },
  });
  t.is(await example.ended, 1, example.output());
  t.regex(example.output(), /ApiError: Market not found/);
  t.deepEqual(asked.slice(-2), ["POST /api/v1/orders/cancel-all", "PUT /api/v1/orders/dead-man"]);
});

test("the market maker in curl waits for nothing without end", (t) => {
  const text = readText("examples/market_maker.sh").replaceAll("\\\n", " ");
  const calls = text.split("\n").filter((line) => /\bcurl --/.test(line));
  t.is(calls.length, 2);
  for (const call of calls) t.regex(call, /--max-time \d+|--no-buffer --connect-timeout \d+/);
  t.regex(text, /while read -r -t \d+ -u 3 line/, "a stream without pings is dead");
});
