import test from "ava";
import { ladderOf } from "../../src/website/components/market/ladder_rows.ts";

const level = (price: number, quantity: number) => ({ price, quantity });

test("an offer to buy NO is one to sell YES at the rest of 100", (t) => {
  const book = {
    yesBids: [level(40, 10), level(38, 5)],
    noBids: [level(55, 7), level(50, 3)],
  };
  t.deepEqual(ladderOf(book, 8), {
    bids: [
      { price: 40, quantity: 10, depth: 10 },
      { price: 38, quantity: 5, depth: 15 },
    ],
    asks: [
      { price: 45, quantity: 7, depth: 7 },
      { price: 50, quantity: 3, depth: 10 },
    ],
    deepest: 15,
    spread: 5,
  });
});

test("an empty side has no spread, and only the best levels are shown", (t) => {
  t.deepEqual(ladderOf({ yesBids: [], noBids: [] }, 8), {
    ...{ bids: [], asks: [], deepest: 0, spread: null },
  });
  const yesBids = [level(9, 1), level(8, 1), level(7, 1)];
  t.deepEqual(
    ladderOf({ yesBids, noBids: [] }, 2).bids.map(({ price }) => price),
    [9, 8],
  );
});
