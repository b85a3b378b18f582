import { setTimeout as sleep } from "node:timers/promises";
import test from "ava";
import { sharedTurns } from "../../src/website/api/turns.ts";
import { until } from "../helpers/until.ts";

/** Node has the same locks as browsers. */

let counter = 0;

/** Windows that ask for the same turns, and what they were told. */
function windowsOf(turns: number) {
  const group = counter++;
  const names = Array.from({ length: turns }, (_, at) => `turns-${group}-${at}`);
  const takeTurn = sharedTurns(navigator.locks, names);
  return () => {
    const told: string[] = [];
    const end = takeTurn({
      onWait: () => told.push("wait"),
      onTurn: () => told.push("turn"),
    });
    return { told, end };
  };
}

test("as many have a turn as there are, and the next one when one is over", async (t) => {
  const open = windowsOf(2);
  const [first, second, third, fourth] = [open(), open(), open(), open()];
  await until("two wait", async () => third.told.length + fourth.told.length === 2);
  t.deepEqual([first.told, second.told], [["turn"], ["turn"]]);
  t.deepEqual([third.told, fourth.told], [["wait"], ["wait"]]);
  second.end();
  await until("one more has a turn", async () => third.told.length + fourth.told.length === 3);
  first.end();
  await until("all had one", async () => third.told.length + fourth.told.length === 4);
  t.deepEqual(
    [third.told, fourth.told],
    [
      ["wait", "turn"],
      ["wait", "turn"],
    ],
  );
  const fifth = open();
  await until("the fifth waits", async () => fifth.told.length > 0);
  t.deepEqual(fifth.told, ["wait"], "a turn is held once");
  for (const { end } of [third, fourth, fifth]) end();
});

test("who waits no longer gets no turn, and keeps nobody from it", async (t) => {
  const open = windowsOf(1);
  const first = open();
  const second = open();
  await until("the second waits", async () => second.told.length > 0);
  second.end();
  const early = open();
  early.end();
  const last = open();
  await until("the last waits", async () => last.told.length > 0);
  first.end();
  await until("the last has its turn", async () => last.told.includes("turn"));
  await sleep(20);
  t.deepEqual([second.told, early.told], [["wait"], []]);
  last.end();
});
