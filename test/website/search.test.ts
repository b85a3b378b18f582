import test from "ava";
import { moreThan, pagesOf, pathOf, searchOf } from "../../src/website/components/home/search.ts";

const search = (text: string) => searchOf(new URLSearchParams(text));

test("an address says what is listed, and what it does not say is as usual", (t) => {
  t.deepEqual(search(""), {
    ...{ query: "", category: "", sort: "volume", status: "open", shown: 12 },
  });
  t.deepEqual(search("query=ECB&category=sports&sort=newest&status=closed&shown=36"), {
    ...{ query: "ECB", category: "sports", sort: "newest", status: "closed", shown: 36 },
  });
  t.like(search("sort=worst&status=&shown=x"), { sort: "volume", status: "open", shown: 12 });
});

test("another search keeps the rest and begins with the first markets", (t) => {
  t.is(pathOf(search("")), "/");
  const before = search("query=a%26b&sort=newest&shown=36");
  t.is(pathOf(before, { category: "sports" }), "/?query=a%26b&category=sports&sort=newest");
  t.is(pathOf(before, { query: "", sort: "volume" }), "/");
  t.is(pathOf(before, { shown: 48 }), "/?query=a%26b&sort=newest&shown=48");
  t.deepEqual(search(pathOf(before, { shown: 48 }).slice(2)), { ...before, shown: 48 });
});

test("a list grows to ten pages of 48, whatever number an address has", (t) => {
  const steps: number[] = [];
  for (let shown: number | undefined = 12; shown !== undefined; shown = moreThan(shown)) {
    steps.push(shown);
  }
  t.deepEqual(steps, [12, 24, 36, 48, 96, 144, 192, 240, 288, 336, 384, 432, 480]);
  const read = ["-1", "13", "49", "1e9", "Infinity", "NaN"];
  t.deepEqual(
    read.map((shown) => search(`shown=${shown}`).shown),
    [12, 24, 96, 480, 480, 12],
  );
  t.deepEqual(pagesOf(36), [{ page: 1, limit: 36 }]);
  t.deepEqual(pagesOf(96), [
    { page: 1, limit: 48 },
    { page: 2, limit: 48 },
  ]);
});
