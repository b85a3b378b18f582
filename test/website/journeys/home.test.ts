import test from "ava";
import type { Page } from "playwright-core";
import { testService } from "../../helpers/http/test_service.ts";
import { until } from "../../helpers/until.ts";
import { scrollsSideways, visit } from "../browser.ts";
import { journey } from "../journey.ts";

/** The list of all markets: what its address says, and the way back to it. */

const service = testService(test, { website: true });
const { operate } = service;

test.serial.before("make categories with markets", async () => {
  for (const [slug, name] of [
    ["technology", "Technology"],
    ["sports", "Sports"],
  ]) {
    await operate("create_category", { slug, name });
  }
  for (let number = 1; number <= 63; number++) {
    await operate("create_market", { title: `Will chip ${number} sell?`, category: "technology" });
  }
  for (const title of ["Will the ECB team win?", "Will the other team win?"]) {
    await operate("create_market", { title, category: "sports" });
  }
});

const rows = (page: Page) => page.locator(".market-row");
const showMore = (page: Page) => page.getByRole("button", { name: "Show more" });
const scrollY = (page: Page) => page.evaluate<number>("scrollY");

journey(
  "all markets of a category are listed, and Back returns to the place",
  async (t, browser) => {
    const { page, complaints } = await visit(browser, service.url);
    await page.goto("/");
    await page.getByRole("link", { name: "Technology" }).click();
    for (const shown of [25, 50]) {
      await rows(page)
        .nth(shown - 1)
        .waitFor();
      t.is(await rows(page).count(), shown);
      await showMore(page).click();
    }
    await rows(page).nth(62).waitFor();
    t.is(await rows(page).count(), 63);
    t.is(await showMore(page).count(), 0);

    const last = rows(page).nth(60).getByRole("link");
    await last.scrollIntoViewIfNeeded();
    const before = await scrollY(page);
    t.true(before > 1000);
    await last.click();
    await page.getByRole("heading", { name: "Order book" }).waitFor();
    t.is(await scrollY(page), 0);
    await page.goBack();
    await rows(page).nth(62).waitFor();
    await until("the place is the same", async () => (await scrollY(page)) === before);
    await page.reload();
    await rows(page).nth(62).waitFor();
    await until("the place is the same", async () => (await scrollY(page)) === before);
    t.deepEqual(complaints, []);
  },
);

journey("a market without a trade has no chance in the list, and says why", async (t, browser) => {
  const { page } = await visit(browser, service.url);
  await page.goto("/?category=sports");
  const row = rows(page).filter({ hasText: "Will the ECB team win?" });
  await row.getByText("no trade yet").waitFor();
  t.is(await row.getByText("by the last trade").count(), 0);
});

journey("the search field, the filters and the address agree", async (t, browser) => {
  const { page } = await visit(browser, service.url);
  const field = page.getByRole("searchbox", { name: "Search markets" });
  const listed = async (count: number, query: string) => {
    await until(`${count} markets for "${query}"`, async () => {
      return (await rows(page).count()) === count && (await field.inputValue()) === query;
    });
  };
  await page.goto("/");
  await page.getByRole("radio", { name: "Newest" }).check();
  await field.fill("ECB");
  await listed(1, "ECB");
  await page.getByRole("link", { name: "Technology" }).click();
  await listed(0, "ECB");
  t.true(await page.getByRole("radio", { name: "Newest" }).isChecked());
  await page.getByRole("link", { name: "Sports" }).click();
  await listed(1, "ECB");
  await field.fill("");
  await listed(2, "");
  await page.goBack();
  await listed(0, "ECB");
  await page.getByRole("link", { name: "Markets", exact: true }).click();
  await listed(25, "");
  t.true(await page.getByRole("radio", { name: "Most traded" }).isChecked());
});

journey("letters of twice the size do not widen the page of a phone", async (t, browser) => {
  const about = { title: "A match", category: "sports", starts_at: new Date().toISOString() };
  const event_id = await operate("create_event", { ...about, live: true });
  await operate("create_market", { title: "Who scores?", category: "sports", event_id });
  const { page } = await visit(browser, service.url, { width: 390 });
  await page.goto("/?category=sports");
  await page.getByText(/^Live: orders wait/).waitFor();
  await page.evaluate("document.documentElement.style.fontSize = '200%'");
  t.false(await scrollsSideways(page));
});

journey("in the colours of the system what is chosen is unlike the others", async (t, browser) => {
  const { page } = await visit(browser, service.url);
  await page.goto("/help");
  await page.getByRole("radio", { name: "Dark" }).waitFor();
  await page.emulateMedia({ forcedColors: "active" });
  const backgrounds: string[] = await page.evaluate(
    `[...document.querySelectorAll(".choice-option span")].map((one) => getComputedStyle(one).backgroundColor)`,
  );
  t.is(new Set(backgrounds).size, 2);
});

journey("a long name leaves its figure on one line", async (t, browser) => {
  const { page } = await visit(browser, service.url);
  await page.goto("/help");
  await page.getByRole("radio", { name: "Dark" }).waitFor();
  const [lines, height]: [number, number] = await page.evaluate(`(() => {
    const list = document.createElement("dl");
    list.className = "figures";
    list.style.inlineSize = "220px";
    list.innerHTML = "<div><dt>" + "Team, ".repeat(60) + "</dt><dd>10 shares</dd></div>";
    document.body.append(list);
    const figure = list.querySelector("dd");
    const range = document.createRange();
    range.selectNodeContents(figure);
    return [range.getClientRects().length, figure.offsetHeight];
  })()`);
  t.is(lines, 1);
  t.true(height > 0);
});
