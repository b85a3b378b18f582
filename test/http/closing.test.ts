import { randomUUID } from "node:crypto";
import http from "node:http";
import net from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import test from "ava";
import { openEvents } from "../helpers/http/event_source.ts";
import { testService } from "../helpers/http/test_service.ts";
import type { Trader } from "../helpers/http/test_service.ts";

const service = testService(test);
const { makeMarket, makeTrader } = service;

const CLIENTS = 24;

interface Sent {
  status: number;
  orderId: string | undefined;
  closes: boolean;
}

type Failure = NodeJS.ErrnoException & { reusedSocket: boolean };

/** Posts over a connection that is kept alive, without the retries that fetch makes unasked. */
function post(agent: http.Agent, trader: Trader, body: object): Promise<Sent> {
  return new Promise((resolve, reject) => {
    const request = http.request(
      `${service.url}/api/v1/orders`,
      { method: "POST", agent, headers: { authorization: `Bearer ${trader.key}` } },
      (response) => {
        let text = "";
        response.on("data", (chunk) => (text += String(chunk)));
        response.on("error", reject);
        response.on("end", () => {
          resolve({
            status: response.statusCode!,
            orderId: JSON.parse(text).order?.id,
            closes: response.headers.connection === "close",
          });
        });
      },
    );
    request.on("error", (error) => {
      reject(Object.assign(error, { reusedSocket: request.reusedSocket }));
    });
    request.end(JSON.stringify(body));
  });
}

test.serial(
  "closing under load cuts no request, and every acknowledged order is in the database",
  async (t) => {
    const marketIds = [await makeMarket(), await makeMarket()];
    const traders = await Promise.all(Array.from({ length: CLIENTS }, () => makeTrader()));
    const answers: Sent[] = [];
    const failures: Failure[] = [];

    const runClient = async (trader: Trader, index: number) => {
      const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
      try {
        for (;;) {
          const marketId = marketIds[index % marketIds.length];
          const order = { marketId, side: "yes", price: 1 + (answers.length % 40), quantity: 1 };
          answers.push(await post(agent, trader, { ...order, idempotencyKey: randomUUID() }));
          if (index % 3 === 0) await delay(Math.random() * 20);
        }
      } catch (error) {
        failures.push(error as Failure);
      } finally {
        agent.destroy();
      }
    };
    const clients = traders.map(runClient);
    const silent = net.connect(Number(new URL(service.url).port), "127.0.0.1");
    silent.on("error", () => undefined);
    while (answers.length <= CLIENTS) await delay(20);
    const streams = [
      await openEvents(`${service.url}/api/v1/markets/${marketIds[0]!}/stream`),
      await openEvents(`${service.url}/api/v1/user/stream`, {
        authorization: `Bearer ${traders[0]!.key}`,
      }),
    ];

    const before = answers.length;
    const began = Date.now();
    await service.close();
    const tookMs = Date.now() - began;
    await Promise.all(clients);
    await Promise.all(streams.map(({ ended }) => ended));
    silent.destroy();

    t.true(before > CLIENTS);
    for (const { status, failed } of streams) {
      t.is(status, 200);
      t.false(failed(), "a stream ends in order");
    }
    t.true(tookMs < 9000, `closing took ${tookMs} ms`);
    // Each client ended because it could not connect any more, none in the middle: a
    // connection that the kernel had taken, but not yet the server, is reset before it carries
    // anything.
    t.is(failures.length, CLIENTS);
    for (const { code, reusedSocket } of failures) {
      t.true(code === "ECONNREFUSED" || (code === "ECONNRESET" && !reusedSocket), code);
    }
    t.true(answers.every((answer) => answer.status === 201));
    t.true(answers.filter((answer) => answer.closes).length >= CLIENTS);

    const { rows } = await service.database.pool.query("select public_id from trading.orders");
    t.deepEqual(
      rows.map((row) => row.public_id).sort(),
      answers.map((answer) => answer.orderId).sort(),
    );
  },
);
