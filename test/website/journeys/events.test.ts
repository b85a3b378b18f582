import test from "ava";
import type { Page } from "playwright-core";
import { testService } from "../../helpers/http/test_service.ts";
import { until } from "../../helpers/until.ts";
import { visit } from "../browser.ts";
import { journey } from "../journey.ts";
import { look, views } from "../views.ts";

/** The list of events: search, order, status, pages, and the way to an event. */

const service = testService(test, { website: true });
const { operate } = service;

test.serial.before("make 27 open events and one that is over", async () => {
  await operate("create_category", { slug: "sports", name: "Sports" });
  const make = async (title: string, values: object = {}): Promise<string> => {
    const event_id = await operate("create_event", { title, category: "sports" });
    const market = { title: `Will ${title} be won?`, category: "sports", event_id, ...values };
    return await operate("create_market", market);
  };
  for (let number = 1; number <= 26; number++) await make(`Race ${number}`);
  await make("The long regatta", { close_time: "2090-01-01T00:00:00Z" });
  const over = await make("The old regatta");
  await operate("resolve_market", { market_id: over, outcome: "no" });
});

const rows = (page: Page) => page.locator(".event-row");
const titles = (page: Page) => page.locator(".event-row .market-title").allInnerTexts();

journey("events are found, sorted and paged, and lead to their pages", async (t, browser) => {
  for (const view of views) {
    const { page, complaints } = await visit(browser, service.url, view);
    await page.goto("/");
    await page.getByRole("navigation", { name: "Main" }).getByText("Events").click();
    await rows(page).nth(24).waitFor();
    t.is(await rows(page).count(), 25);
    await page.getByText("Page 1 of 2").waitFor();
    await look(t, page, "events", view);

    await page.getByRole("radio", { name: "Closing soon" }).check();
    await until("what closes is first", async () => (await titles(page))[0] === "The long regatta");
    const first = await titles(page);
    await page.getByRole("link", { name: "Next" }).click();
    await page.getByText("Page 2 of 2").waitFor();
    t.is(await page.evaluate<number>("scrollY"), 0);
    t.is(await rows(page).count(), 2);
    t.is(new Set([...first, ...(await titles(page))]).size, 27);
    t.is(await page.getByRole("link", { name: "Next" }).count(), 0);
    await page.goBack();
    await page.getByText("Page 1 of 2").waitFor();
    t.deepEqual(await titles(page), first);

    await page.getByRole("searchbox", { name: "Search events" }).fill("regatta");
    await until("one is open", async () => (await rows(page).count()) === 1);
    t.deepEqual(await titles(page), ["The long regatta"]);
    await page.getByRole("radio", { name: "Closed" }).check();
    await until("one is over", async () => (await titles(page))[0] === "The old regatta");
    t.is(new URL(page.url()).search, "?query=regatta&sort=closing&status=closed");
    await page.getByRole("link", { name: "The old regatta" }).click();
    await page.getByRole("heading", { name: "The old regatta" }).waitFor();
    await page.getByText("Resolved NO").waitFor();

    await page.goto("/events?query=nothing-like-this");
    await page.getByText("No events found").waitFor();
    await look(t, page, "events-none", view);
    await page.getByRole("link", { name: "see all events" }).click();
    await rows(page).nth(24).waitFor();
    t.deepEqual(complaints, []);
  }
});
