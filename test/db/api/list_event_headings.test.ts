import test from "ava";
import { callsOn } from "../../../src/database/call.ts";
import { api } from "../../../src/database/calls.ts";
import { testExchange } from "../../helpers/exchange/test_exchange.ts";

const exchange = testExchange(test);
const { operate } = exchange;

test("headings of events are listed by their ids, unknown ones left out", async (t) => {
  const about = { category: "tests" };
  const plain = await operate("create_event", { ...about, title: "The final" });
  const live = await operate("create_event", {
    ...{ ...about, title: "The match", live: true, live_delay_ms: 5000 },
    ...{ starts_at: "2100-01-01T12:00:00Z", ends_at: "2100-01-01T14:00:00Z" },
  });
  const eventIds = [live, plain, "01900000-0000-7000-8000-000000000000"];
  const { data } = JSON.parse(await callsOn(exchange.api, api).listEventHeadings({ eventIds }));
  const expected = [
    { id: plain, title: "The final", startsAt: null, endsAt: null, liveDelayMs: null },
    {
      ...{ id: live, title: "The match", liveDelayMs: 5000 },
      ...{ startsAt: "2100-01-01T12:00:00.000Z", endsAt: "2100-01-01T14:00:00.000Z" },
    },
  ];
  t.deepEqual(
    data,
    expected.sort((one, other) => (one.id < other.id ? -1 : 1)),
  );
});
