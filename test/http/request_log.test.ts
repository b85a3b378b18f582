import { EventEmitter } from "node:events";
import { mock } from "node:test";
import test from "ava";
import type { Request, Response } from "express";
import { pino } from "pino";
import { requestLog } from "../../src/http/request_log.ts";

/** How many lines clients can make the log write. */

test("warnings of requests: a hundred in a minute, then the number of the others", (t) => {
  mock.timers.enable({ apis: ["setTimeout"] });
  t.teardown(() => {
    mock.timers.reset();
  });
  const lines: any[] = [];
  const logger = pino(
    { level: "debug" },
    { write: (line: string) => void lines.push(JSON.parse(line)) },
  );
  const handler = requestLog(logger);
  /** A request whose client leaves before its answer. */
  const cut = (): void => {
    const response = Object.assign(new EventEmitter(), {
      locals: {},
      headersSent: false,
      writableFinished: false,
      setHeader: () => undefined,
      getHeader: () => undefined,
    });
    const request: unknown = { method: "GET" };
    void handler(request as Request, response as unknown as Response, () => undefined);
    response.emit("close");
  };
  const at = (level: string) => lines.filter((line) => line.level === pino.levels.values[level]);

  for (let index = 0; index < 250; index++) cut();
  t.is(at("warn").length, 100);
  t.is(at("debug").length, 150);
  mock.timers.tick(60_000);
  t.is(at("warn").length, 101);
  t.like(at("warn").at(-1), { leftOut: 150, msg: "requests with warnings were not logged" });
  cut();
  t.is(at("warn").length, 102);
  mock.timers.tick(60_000);
  t.is(at("warn").length, 102, "nothing was left out");
});
