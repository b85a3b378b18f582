import test from "ava";
import { makeHeldMarkets } from "../../src/worker/held_markets.ts";

test("a market is passed over for longer each time it is found locked, up to a second", (t) => {
  let at = 0;
  const long: number[] = [];
  const held = makeHeldMarkets({ now: () => at, onLong: (market) => long.push(market) });
  const pauses: number[] = [];
  for (let time = 0; time < 6; time++) {
    held.hold(7);
    const from = at;
    while (held.list().includes(7)) at += 1;
    pauses.push(at - from);
  }
  t.deepEqual(pauses, [125, 250, 500, 1000, 1000, 1000]);
  t.deepEqual(long, [7], "told once");
});

test("two calls that find it locked at the same time count once", (t) => {
  let at = 0;
  const held = makeHeldMarkets({ now: () => at, onLong: () => undefined });
  held.hold(7);
  held.hold(7);
  at = 125;
  t.deepEqual(held.list(), []);
});

test("a market that was found free starts with the shortest time again", (t) => {
  let at = 0;
  const held = makeHeldMarkets({ now: () => at, onLong: () => undefined });
  held.hold(7);
  held.hold(8);
  at = 200;
  held.hold(7);
  t.deepEqual(held.list(), [7]);
  held.release(7);
  t.deepEqual(held.list(), []);
  held.hold(7);
  at = 326;
  t.deepEqual(held.list(), []);
});
