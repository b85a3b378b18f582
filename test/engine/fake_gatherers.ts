import type { OrderRequest, CommandResult } from "../../src/database/calls.ts";
import { createOrderGatherer } from "../../src/engine/order_gatherer.ts";
import type { OrderGathererOptions } from "../../src/engine/order_gatherer.ts";
import { fakePool } from "../http/fake_pool.ts";
import type { FakeCall } from "../http/fake_pool.ts";

/** Gatherers on a database that is a function, with a clock that moves only when a test moves it. */

export const retries = { backoffMs: 1, patienceMs: 1000 };

/** An order is named by its price. */
export const order = (
  marketId: string,
  price: number,
  more: Partial<OrderRequest> = {},
): OrderRequest => ({
  marketId,
  userId: `u${price}`,
  side: "yes",
  price,
  quantity: 1,
  ...more,
});

export const ordersOf = (call: FakeCall) => JSON.parse(String(call.values[0])) as OrderRequest[];
export const isAtomic = (call: FakeCall) => call.values[1] === true;
export const waits = (call: FakeCall) => call.values[2] === true;
export const skips = (call: FakeCall) => call.values[3] === true;
const isBounded = (call: FakeCall) => call.values[4] !== null;
/** What a call brought: "a1 b2", "!" where it waits for locks, "!!" for one order without a bound. */
export const shown = (call: FakeCall) =>
  ordersOf(call)
    .map(({ marketId, price }) => `${marketId}${price ?? ""}`)
    .join(" ") + (waits(call) ? (isBounded(call) || isAtomic(call) ? " !" : " !!") : "");

export const accepted = ({ price }: OrderRequest) => ({
  code: null,
  message: null,
  replayed: false,
  body: String(price),
});
export const withCode = (code: string) => ({ code, message: null, replayed: false, body: null });
export const accept = (call: FakeCall) => ordersOf(call).map(accepted);

export const kindOf = (error: unknown) => (error as { kind?: string }).kind;
export const bodies = (outcomes: CommandResult[]) => outcomes.map(({ body }) => body);
export const tick = () => new Promise((resolve) => setImmediate(resolve));
export const ticks = async (count: number) => {
  for (let done = 0; done < count; done++) await tick();
};

/** A database whose calls wait until they are let go, each for itself. */
export function heldDatabase(
  answer: (call: FakeCall) => unknown[] = accept,
  { connections, ...options }: Partial<OrderGathererOptions> & { connections?: number } = {},
) {
  const held: { call: FakeCall; go: () => void }[] = [];
  const timers: { at: number; work: () => void }[] = [];
  let now = 0;
  const clock: Partial<OrderGathererOptions> = {
    now: () => now,
    later: (work, ms) => {
      timers.push({ at: now + ms, work });
      return () => undefined;
    },
  };
  const fake = fakePool({
    connections,
    answer: async (call) => {
      await new Promise<void>((go) => held.push({ call, go }));
      return answer(call);
    },
  });
  const gatherer = createOrderGatherer({ pool: fake.pool, retries, ...clock, ...options });
  return {
    ...gatherer,
    calls: () => fake.calls.map(shown),
    underWay: () => held.map(({ call }) => shown(call)),
    /** Ends the call that brought these orders. */
    end: async (name: string) => {
      const index = held.findIndex(({ call }) => shown(call) === name);
      if (index < 0) throw new Error(`${name} is not under way: ${fake.calls.map(shown).join()}`);
      held.splice(index, 1)[0]?.go();
      await ticks(4);
    },
    pass: (milliseconds: number) => {
      now += milliseconds;
      for (const timer of timers.splice(0)) {
        if (timer.at <= now) timer.work();
        else timers.push(timer);
      }
    },
  };
}

/** A clock that moves on whenever it is read. Timers are over at once. */
export function restlessClock(): Pick<OrderGathererOptions, "now" | "later"> {
  let now = 0;
  return {
    now: () => now++,
    later: (work) => {
      setImmediate(work);
      return () => undefined;
    },
  };
}

/** A database that answers at once. Time passes by timers. */
export function readyDatabase(
  answer: (call: FakeCall) => unknown[] = accept,
  options: Partial<OrderGathererOptions> = {},
) {
  let now = 0;
  const fake = fakePool({ answer });
  const clock: Partial<OrderGathererOptions> = {
    now: () => now,
    later: (work, ms) => {
      const at = now + ms;
      setImmediate(() => {
        now = Math.max(now, at);
        work();
      });
      return () => undefined;
    },
  };
  const gatherer = createOrderGatherer({ pool: fake.pool, retries, ...clock, ...options });
  return {
    ...gatherer,
    calls: () => fake.calls.map(shown),
    destroyed: fake.destroyed,
    pass: (milliseconds: number) => (now += milliseconds),
  };
}
