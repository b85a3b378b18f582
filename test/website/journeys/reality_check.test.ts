import test from "ava";
import type { Page } from "playwright-core";
import { testClock } from "../../helpers/database/test_clock.ts";
import { testService } from "../../helpers/http/test_service.ts";
import { arrive } from "../arrive.ts";
import { journey } from "../journey.ts";
import { focused, press, tabTo } from "../keyboard.ts";
import { buy, makeOffered } from "../steps.ts";
import { look, views } from "../views.ts";

/** The reality check: how it is asked for, what it shows, and how it is answered. */

const service = testService(test, { website: true, playMoneyCents: 100_000 });
const QUARTER_MS = 15 * 60_000;

const reminder = (page: Page) => page.getByRole("dialog", { name: /^You have been here for/ });
/** The next answer about the reality check. */
const nextAnswer = (page: Page, method: string) =>
  page.waitForResponse(
    (response) =>
      response.url().endsWith("/account/reality-check") && response.request().method() === method,
  );
/** A quarter of an hour for the server. The session is seen before and after it. */
const passQuarter = () => testClock(service.database.pool).advance(QUARTER_MS);

/** A reload that finds no reminder due. */
async function reloadUnreminded(page: Page): Promise<void> {
  const answer = nextAnswer(page, "GET");
  await page.reload();
  await (await answer).finished();
}

/** Answers a reminder, and waits until the server knows. */
async function answer(page: Page, act: () => Promise<void>): Promise<void> {
  const answered = nextAnswer(page, "POST");
  await act();
  await (await answered).finished();
}

async function askForReminders(page: Page): Promise<void> {
  await page.goto("/account");
  await page.getByRole("heading", { name: "Reality check" }).waitFor();
  await tabTo(page, "Never");
  await press(page, "ArrowRight");
  await tabTo(page, "Save the reminder");
  await page.keyboard.press("Enter");
  await page.getByText("You are reminded every 15 minutes.").waitFor();
}

for (const view of views) {
  journey(
    `a reminder by keyboard alone, ${view.theme}, ${view.width} px wide`,
    async (t, browser) => {
      const { marketId } = await makeOffered(service, "Will time fly?");
      const { page } = await arrive(browser, service, { width: view.width });
      await page.emulateMedia({ colorScheme: view.theme });
      await page.goto(`/markets/${marketId}`);
      await buy(page, 60, 10);
      await page.getByText("10 shares traded").waitFor();
      await askForReminders(page);
      await look(t, page, "reality-check-setting", view);

      await passQuarter();
      await page.reload();
      await reminder(page).waitFor();
      await page.getByRole("heading", { name: "You have been here for 15 minutes" }).waitFor();
      // 600 cents, and 7% of 10 x 0.60 x 0.40 is 16.8 cents of fee, rounded up.
      await reminder(page).getByText("€6.17").waitFor();
      t.is((await focused(page)).name, "Go on");
      await look(t, page, "reality-check", view);
      t.is((await press(page, "Tab")).name, "See my history");
      t.is((await press(page, "Tab")).name, "Take a break");
      t.is((await press(page, "Tab")).name, "Sign out");
      t.is((await press(page, "Shift+Tab")).name, "Take a break");

      // It comes back until it is answered, and then no more.
      await page.reload();
      await reminder(page).waitFor();
      await answer(page, () => page.keyboard.press("Escape"));
      await reminder(page).waitFor({ state: "hidden" });
      await reloadUnreminded(page);
      t.is(await reminder(page).count(), 0);

      await passQuarter();
      await page.reload();
      await page.getByRole("heading", { name: "You have been here for 30 minutes" }).waitFor();
      await tabTo(page, "Take a break");
      await answer(page, () => page.keyboard.press("Enter"));
      await page.waitForURL("/account#exclusion");
      t.is(await reminder(page).count(), 0);

      await passQuarter();
      await page.reload();
      await answer(page, () =>
        reminder(page).getByRole("link", { name: "See my history" }).click(),
      );
      await page.waitForURL("/portfolio");
      await page.getByRole("heading", { name: "History" }).waitFor();

      await passQuarter();
      await page.reload();
      await page.getByRole("heading", { name: "You have been here for 1 hour" }).waitFor();
      await reminder(page).getByRole("button", { name: "Sign out" }).click();
      await page.getByRole("link", { name: "Sign in" }).first().waitFor();
      t.is(await reminder(page).count(), 0);
    },
  );
}

journey("of two windows side by side one reminds, without a reload", async (t, browser) => {
  const { page } = await arrive(browser, service);
  await askForReminders(page);
  const other = await page.context().newPage();
  const windows = [page, other];
  for (const window of windows) {
    await window.clock.install();
    await window.goto("/portfolio");
    await window.getByRole("heading", { name: "Portfolio", exact: true }).waitFor();
  }
  const shown = async () =>
    (await Promise.all(windows.map((window) => reminder(window).count()))).filter(Boolean).length;
  const fastForward = (ms: number) =>
    Promise.all(windows.map((window) => window.clock.fastForward(ms)));
  await passQuarter();
  await fastForward(QUARTER_MS + 1000);
  const shows = await Promise.race(
    windows.map(async (window) => {
      await reminder(window).waitFor();
      return window;
    }),
  );
  t.is(await shown(), 1);
  await answer(shows, () => reminder(shows).getByRole("button", { name: "Go on" }).click());
  for (const window of windows) await window.reload();
  await fastForward(1000);
  t.is(await shown(), 0);

  // The window with the turn is closed: the other one reminds.
  await passQuarter();
  await shows.close();
  const left = windows.find((window) => window !== shows)!;
  await left.clock.fastForward(QUARTER_MS + 1000);
  await reminder(left).waitFor();
  t.true(await reminder(left).isVisible());
});
