import test from "ava";
import { testService } from "../../helpers/http/test_service.ts";
import { visit } from "../browser.ts";
import { journey } from "../journey.ts";

/** How many requests a visitor costs who reads a long list. */

const service = testService(test, { website: true });
const { operate } = service;

const MARKETS = 310;
const PAGES = 6;
/** How often each is asked. The headings of a page are not asked for if all are known by then. */
const most: Record<string, number> = {
  "/api/v1/markets": PAGES,
  "/api/v1/sparklines": PAGES,
  "/api/v1/event-headings": PAGES,
  "/api/v1/categories": 1,
  "/api/v1/exchange": 1,
  "/api/account/sign-up": 1,
};

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
  const reads = new Map<string, number>();
  page.on("request", (request) => {
    const { pathname } = new URL(request.url());
    if (pathname.startsWith("/api/")) reads.set(pathname, (reads.get(pathname) ?? 0) + 1);
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
  for (const [path, count] of reads) t.true(count <= (most[path] ?? 0), `${path}: ${count}`);
  t.deepEqual(complaints, []);
});
