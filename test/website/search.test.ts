import test from "ava";
import { eventSearchOf, eventsPath } from "../../src/website/components/events/event_search.ts";
import {
  moreThan,
  pageCountOf,
  pathOf,
  searchOf,
} from "../../src/website/components/home/search.ts";

const search = (text: string) => searchOf(new URLSearchParams(text));

test("an address says what is listed, and what it does not say is as usual", (t) => {
  t.deepEqual(search(""), {
    ...{ query: "", category: "", sort: "volume", status: "open", shown: 25 },
  });
  t.deepEqual(search("query=ECB&category=sports&sort=newest&status=closed&shown=50"), {
    ...{ query: "ECB", category: "sports", sort: "newest", status: "closed", shown: 50 },
  });
  t.like(search("sort=worst&status=&shown=x"), { sort: "volume", status: "open", shown: 25 });
});

test("another search keeps the rest and begins with the first markets", (t) => {
  t.is(pathOf(search("")), "/");
  const before = search("query=a%26b&sort=newest&shown=50");
  t.is(pathOf(before, { category: "sports" }), "/?query=a%26b&category=sports&sort=newest");
  t.is(pathOf(before, { query: "", sort: "volume" }), "/");
  t.is(pathOf(before, { shown: 100 }), "/?query=a%26b&sort=newest&shown=100");
  t.deepEqual(search(pathOf(before, { shown: 100 }).slice(2)), { ...before, shown: 100 });
});

test("a list grows to ten pages of 50, whatever number an address has", (t) => {
  const steps: number[] = [];
  for (let shown: number | undefined = 25; shown !== undefined; shown = moreThan(shown)) {
    steps.push(shown);
  }
  t.deepEqual(steps, [25, 50, 100, 150, 200, 250, 300, 350, 400, 450, 500]);
  const read = ["-1", "26", "51", "1e9", "Infinity", "NaN"];
  t.deepEqual(
    read.map((shown) => search(`shown=${shown}`).shown),
    [25, 50, 100, 500, 500, 25],
  );
  t.deepEqual([25, 50, 100, 500].map(pageCountOf), [1, 1, 2, 10]);
});

test("the page of events has an address for each search and each page", (t) => {
  const events = (text: string) => eventSearchOf(new URLSearchParams(text));
  t.deepEqual(events("page=0&sort=worst"), { query: "", sort: "volume", status: "open", page: 1 });
  for (const page of ["-1", "1e3", "1.5", "99999", "x"]) t.is(events(`page=${page}`).page, 1, page);
  t.is(eventsPath(events("")), "/events");
  const before = events("query=a%26b&status=closed&page=3");
  t.is(eventsPath(before, { page: 4 }), "/events?query=a%26b&status=closed&page=4");
  t.is(eventsPath(before, { sort: "newest" }), "/events?query=a%26b&sort=newest&status=closed");
});
