import test from "ava";
import { noteServerTime, timeNow } from "../../src/website/api/server_time.ts";
import { closeWord } from "../../src/website/components/close_word.ts";
import { mayBeLive } from "../../src/website/components/may_be_live.ts";
import { formatClose } from "../../src/website/format.ts";
import { listFiles, readText } from "../helpers/repository.ts";

const DAY_MS = 86_400_000;

function headers(time: number, age?: number): Headers {
  const Date_ = new Date(time).toUTCString();
  return new Headers({ Date: Date_, ...(age !== undefined && { Age: String(age) }) });
}

const isNear = (one: number, other: number): boolean => Math.abs(one - other) < 2000;

test.serial("with a clock a day ahead pages go by the server's", (t) => {
  const server = Date.now() - DAY_MS;
  noteServerTime(headers(server));
  t.true(isNear(timeNow(), server));
  const iso = (time: number): string => new Date(time).toISOString();
  t.is(closeWord({ status: "open" }, iso(server + DAY_MS / 2)), "Closes");
  t.false(mayBeLive({ startsAt: iso(server + DAY_MS / 2), endsAt: null }));
  t.regex(formatClose(iso(server - DAY_MS * 1.5)), /:/);
  t.true(isNear(timeNow(server + 3_600_000), server), "the clock was set");
  noteServerTime(new Headers());
  t.true(isNear(timeNow(), server));
});

test.serial("an answer that is late or from a cache is no other clock", (t) => {
  const late = headers(Date.now() - 20_000);
  const kept = headers(Date.now() - 600_000);
  for (const answer of [late, headers(Date.now() - 600_000, 600), kept]) {
    noteServerTime(answer);
    t.true(isNear(timeNow(), Date.now()));
  }
});

test("a market that was closed early was to close", (t) => {
  const word = (status: "open" | "paused" | "closed", now: string): string =>
    closeWord({ status }, "2026-12-06T12:30:00Z", Date.parse(now));
  t.is(word("closed", "2026-12-01T00:00:00Z"), "Was to close");
  t.is(word("closed", "2026-12-07T00:00:00Z"), "Closed");
  t.is(word("open", "2026-12-07T00:00:00Z"), "Closed");
  t.is(word("paused", "2026-12-01T00:00:00Z"), "Closes");
});

test("what compares times of the server with now asks the server's clock", (t) => {
  const own = listFiles("src/website").filter((path) =>
    /Date\.now\(\)|new Date\(\)/.test(readText(path)),
  );
  t.deepEqual(
    own.map((path) => path.replace("src/website/", "")).sort(),
    [
      // What is kept in this browser, and for how long.
      ...["api/kept_answers.ts", "api/kept_batches.ts", "api/kept_store.ts"],
      ...["api/orders.ts", "api/pending_order.ts", "api/session.ts"],
      ...["api/server_time.ts", "operator/components/row_sheet.tsx"],
    ].sort(),
  );
});
