import test from "ava";
import type { Page } from "playwright-core";
import { testService } from "../../helpers/http/test_service.ts";
import { until } from "../../helpers/until.ts";
import { arrive } from "../arrive.ts";
import { scrollsSideways } from "../browser.ts";
import { journey } from "../journey.ts";
import { buy, fillTicket, makeOffered } from "../steps.ts";

/** What a reader of the pages meets: shifts, small targets, long words, and rules said in time. */

const service = testService(test, { website: true, playMoneyCents: 100_000 });
const { call, makeTrader, operate } = service;

const LONG_WORD = "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamten".repeat(3);
const MOST_SHIFT = 0.1;
const LEAST_TARGET = 24;

let marketId: string;
test.serial.before("make markets, some with trades", async () => {
  const event_id = await operate("create_event", { category: "tests", title: LONG_WORD });
  for (let number = 0; number < 30; number++) {
    await operate("create_market", {
      ...{ category: "tests", title: `Will team ${number} win?` },
      ...(number % 3 === 0 && { event_id }),
    });
  }
  ({ marketId } = await makeOffered(service, `Will ${LONG_WORD} sell?`));
  const taker = await makeTrader();
  for (const price of [60, 61]) {
    const body = { marketId, side: "yes", price, quantity: 5 };
    await call("POST", "/api/v1/orders", { key: taker.key, body });
  }
});

/** The sum of all layout shifts without input, as browsers count them, once the page is at rest. */
async function shiftOf(page: Page, path: string): Promise<{ shift: number; sources: string[] }> {
  await page.addInitScript(`
    window.shifts = { shift: 0, sources: [] };
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) {
        if (entry.hadRecentInput) continue;
        window.shifts.shift += entry.value;
        for (const { node, previousRect, currentRect } of entry.sources) {
          const name = node?.className || node?.nodeName || "gone";
          const moved = previousRect.y + "+" + previousRect.height + " -> " + currentRect.y + "+" + currentRect.height;
          window.shifts.sources.push([entry.startTime, entry.value.toFixed(3), name, moved].join(" "));
        }
      }
    }).observe({ type: "layout-shift", buffered: true });
  `);
  // Answers come one after the other, and late.
  await page.route("**/api/**", async (route) => {
    if (!route.request().url().includes("stream")) {
      await new Promise((done) => setTimeout(done, 100 + 150 * Math.random()));
    }
    await route.continue();
  });
  await page.goto(path);
  await page.locator(".loading").first().waitFor();
  await until("everything is loaded", async () => (await page.locator(".loading").count()) === 0);
  await page.waitForTimeout(1500);
  // A timer of the page may have asked just now.
  await page.unrouteAll({ behavior: "wait" });
  return await page.evaluate("window.shifts");
}

for (const width of [1280, 390]) {
  journey(
    `at ${width} px home, market and portfolio do not jump while they load`,
    async (t, browser) => {
      const { page } = await arrive(browser, service, { width });
      await page.goto(`/markets/${marketId}`);
      await buy(page, 60, 5);
      await page.getByText("YES · 5 shares").waitFor();
      for (const path of ["/", `/markets/${marketId}`, "/portfolio"]) {
        const visitor = await page.context().newPage();
        const { shift, sources } = await shiftOf(visitor, path);
        t.log(path, shift.toFixed(3));
        t.true(shift < MOST_SHIFT, `${path}: ${shift}\n${sources.join("\n")}`);
        await visitor.close();
      }
    },
  );
}

/** Interactive elements that are too small, but for links within a line of text. */
const smallTargets = `
  [...document.querySelectorAll("a, button, input, select, summary")].flatMap((element) => {
    const target = element.matches("input[type=radio]") ? element.closest("label") : element;
    const { width, height } = target.getBoundingClientRect();
    if (width === 0 || element.closest(".skip, .unseen")) return [];
    const text = element.parentElement.textContent.trim();
    const isInText = element.matches("a") && text !== element.textContent.trim() &&
      getComputedStyle(element).display === "inline";
    if (isInText || (width >= ${LEAST_TARGET} && height >= ${LEAST_TARGET})) return [];
    return [element.outerHTML.slice(0, 80) + " " + width + "x" + height];
  })
`;

journey(
  "a long word does not widen a phone's page, and targets are large enough",
  async (t, browser) => {
    const { page } = await arrive(browser, service, { width: 390 });
    await page.goto(`/markets/${marketId}`);
    await buy(page, 60, 5);
    await page.getByText("YES · 5 shares").waitFor();
    await fillTicket(page, 50, 2);
    await page.getByRole("button", { name: "Buy YES", exact: true }).click();
    await page.getByRole("button", { name: /^Change/ }).waitFor();
    const small: Record<string, unknown> = {};
    const paths = ["/", `/markets/${marketId}`, "/portfolio", "/account", "/leaderboard", "/help"];
    for (const path of [...paths, "/sign-in", "/sign-up"]) {
      await page.goto(path);
      await page.locator("h1").first().waitFor();
      await until("it is loaded", async () => (await page.locator(".loading").count()) === 0);
      t.false(await scrollsSideways(page), path);
      const found = await page.evaluate<string[]>(smallTargets);
      if (found.length > 0) small[path] = found;
    }
    t.deepEqual(small, {});
  },
);

journey("the heads of trades stand apart, also beside a long zone", async (t, browser) => {
  const context = await browser.newContext({ baseURL: service.url, timezoneId: "Asia/Kolkata" });
  const page = await context.newPage();
  await page.goto(`/markets/${marketId}`);
  await page.getByRole("columnheader", { name: "Time, GMT+5:30" }).waitFor();
  // From the end of a head's text to the beginning of the next one's.
  const gaps = await page.evaluate<number[]>(`
    [...document.querySelectorAll(".trades th")].map((head) => {
      const text = new Range();
      text.selectNodeContents(head);
      return text.getBoundingClientRect();
    }).flatMap(({ left }, index, all) => index === 0 ? [] : [left - all[index - 1].right])
  `);
  t.is(gaps.length, 3);
  t.true(Math.min(...gaps) >= 8, gaps.join(" "));
});

journey("a limit above that of a longer time is said before it is saved", async (t, browser) => {
  const { page } = await arrive(browser, service);
  await page.goto("/account#limits");
  const limits = page.locator("#limits");
  await limits.getByLabel("A day").fill("200");
  await limits.getByLabel("7 days").fill("100");
  await limits.getByText("The limit of a day is above that of 7 days").waitFor();
  await limits.getByLabel("A day").fill("20");
  await limits.getByText("is above that of").waitFor({ state: "detached" });
  await limits.getByRole("button", { name: "Save my limits", exact: true }).click();
  await limits.getByText("Your limits are saved").waitFor();
  t.is(await limits.getByText("is above that of").count(), 0);
});

journey("who excluded themselves sees no ticket, and no second offer", async (t, browser) => {
  const { page } = await arrive(browser, service);
  await page.goto(`/markets/${marketId}`);
  await buy(page, 60, 5);
  await page.getByText("YES · 5 shares").waitFor();
  // What others of this file ask for buys all of the shares, a part or none.
  const sellNow = page.getByText(/sell .*now for|nobody buys now/i).filter({ visible: true });
  await sellNow.waitFor();
  await page.goto("/account#exclusion");
  const section = page.locator("#exclusion");
  await section.getByLabel(/Type/).fill("exclude me");
  await section.getByRole("button", { name: /^Exclude me/ }).click();
  await section.getByText("You excluded yourself").waitFor();
  t.is(await section.getByRole("button").count(), 0);
  await page.goto(`/markets/${marketId}`);
  await page.getByRole("heading", { name: "You excluded yourself" }).waitFor();
  await page.getByText("YES · 5 shares").waitFor();
  t.is(await page.getByRole("button", { name: "Buy YES", exact: true }).count(), 0);
  t.is(await page.getByRole("button", { name: /^Sell your/ }).count(), 0);
  t.is(await sellNow.count(), 0);
  await page.goto("/portfolio");
  await page.getByRole("region", { name: "Table of positions" }).waitFor();
  t.is(await sellNow.count(), 0);
});

journey(
  "an order of a market that has been resolved cannot be changed any more",
  async (t, browser) => {
    const { marketId: id } = await makeOffered(service, "Will it end?");
    const { page } = await arrive(browser, service);
    await page.goto(`/markets/${id}`);
    await buy(page, 50, 2);
    await page.getByRole("button", { name: /^Change/ }).waitFor();
    // The user's own reads stay behind: only the market is read anew.
    await page.route(/\/api\/v1\/orders\?/, () => undefined);
    await operate("resolve_market", { market_id: id, outcome: "yes" });
    await page.getByRole("heading", { name: "Resolved: YES" }).waitFor();
    t.is(await page.getByRole("button", { name: /^(Change|Cancel)/ }).count(), 0);
  },
);

journey(
  "the chance is the middle of a narrow spread, and selling says what it pays",
  async (t, browser) => {
    const { marketId: id, maker } = await makeOffered(service, "Will it be narrow?");
    const { page } = await arrive(browser, service);
    await page.goto(`/markets/${id}`);
    await page.getByText("No price yet").waitFor();
    await buy(page, 60, 5);
    await page.getByText("last trade", { exact: true }).waitFor();
    const body = { marketId: id, side: "yes", price: 56, quantity: 3 };
    await call("POST", "/api/v1/orders", { key: maker.key, body });
    await page.getByText("middle of bid and ask").waitFor();
    t.is(await page.locator(".chance-number").textContent(), "58%");
    // 3 x 56 less the fee: 7% of 3 x 0.56 x 0.44, rounded up.
    await page.goto("/portfolio");
    await page.getByText("Sell 3 of 5 now for €1.62").filter({ visible: true }).waitFor();
  },
);

journey("times are in the language of the page, with their zone", async (t, browser) => {
  const closes = await operate("create_market", {
    ...{ category: "tests", title: "Will it close?", close_time: "2100-05-06T07:08:00Z" },
  });
  const context = await browser.newContext({
    ...{ baseURL: service.url, locale: "de-DE", timezoneId: "Asia/Tokyo" },
  });
  const page = await context.newPage();
  await page.goto(`/markets/${closes}`);
  const date = page.getByText("6 May 2100, 16:08 GMT+9");
  await date.waitFor();
  t.is(await date.count(), 1);
});
