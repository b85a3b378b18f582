import test from "ava";
import { testService } from "../../helpers/http/test_service.ts";
import { visit } from "../browser.ts";
import { journey } from "../journey.ts";

/** How many requests a visitor costs who reads a long list. */

const service = testService(test, { website: true });
const { operate } = service;

const MARKETS = 310;
/** Three for each 50 markets; the exchange's status, the categories, and who may sign up. */
const MOST_REQUESTS = 18 + 3;

test.serial.before("make events with markets", async () => {
  let event_id: unknown;
  for (let number = 0; number < MARKETS; number++) {
    const about = { category: "tests" };
    if (number % 4 === 0) {
      event_id = await operate("create_event", { ...about, title: `Match ${number}` });
    }
    await operate("create_market", { ...about, title: `Will side ${number} win?`, event_id });
  }
});

journey("300 markets with their events and small charts: 21 requests", async (t, browser) => {
  const { page, complaints } = await visit(browser, service.url);
  const reads: string[] = [];
  page.on("request", (request) => {
    const { pathname, search } = new URL(request.url());
    if (pathname.startsWith("/api/")) reads.push(pathname + search.slice(0, 40));
  });
  await page.goto("/");
  const rows = page.locator(".market-row");
  for (const shown of [25, 50, 100, 150, 200, 250]) {
    await rows.nth(shown - 1).waitFor();
    await rows.nth(shown - 1).scrollIntoViewIfNeeded();
    await page.getByRole("button", { name: "Show more" }).click();
  }
  await rows.nth(299).waitFor();
  await rows.nth(299).scrollIntoViewIfNeeded();
  await page.waitForLoadState("networkidle");
  t.true((await page.getByRole("link", { name: /^Match / }).count()) >= 75);
  t.true(reads.length <= MOST_REQUESTS, `${reads.length}: ${reads.join("\n")}`);
  t.deepEqual(complaints, []);
});
