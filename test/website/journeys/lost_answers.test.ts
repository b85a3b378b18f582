import test from "ava";
import type { Page, Route } from "playwright-core";
import { testService } from "../../helpers/http/test_service.ts";
import { until } from "../../helpers/until.ts";
import { arrive } from "../arrive.ts";
import { journey } from "../journey.ts";
import {
  buy,
  buyButton,
  fillTicket,
  loseAnswer,
  makeOffered,
  sharesOf,
  statusesOf,
} from "../steps.ts";

/** What pages say and do while the answer to a command is on its way, or lost. */

const service = testService(test, { website: true, playMoneyCents: 100_000 });

const isOrders = (url: URL) => url.pathname === "/api/v1/orders";

/** What becomes of the orders that the page sends, until it is said anew. */
async function withAnswers(page: Page, first: (route: Route) => Promise<void>) {
  let answer = first;
  await page.route(isOrders, async (route) => {
    await (route.request().method() === "POST" ? answer(route) : route.continue());
  });
  return (next: typeof answer): void => {
    answer = next;
  };
}

const tooMany = (route: Route) =>
  route.fulfill({ status: 429, json: { error: "Too many requests" } });

journey(
  "an order in doubt is not called rejected by an answer that says nothing of it",
  async (t, browser) => {
    const { marketId } = await makeOffered(service, "Will it be in doubt?");
    const { page, userId } = await arrive(browser, service);
    await page.goto(`/markets/${marketId}`);
    const answerBy = await withAnswers(page, loseAnswer);
    await buy(page, 60, 7);
    await page.getByText("has no answer yet").waitFor();
    await page.reload();
    const again = page.getByRole("button", { name: "Send it again" });
    await again.waitFor();
    answerBy(tooMany);
    await again.click();
    await page.getByText("It is not known whether your order “Buy 7 YES at 60¢”").waitFor();
    answerBy((route) => route.continue());
    await again.click();
    await page.getByText("is placed, once").waitFor();
    t.is(await sharesOf(service, userId), 7);
    t.is((await statusesOf(service, userId)).length, 1);
  },
);

journey("a preview does not say to try again what may have been done", async (t, browser) => {
  const { marketId } = await makeOffered(service, "Will it be dim?");
  const { page } = await arrive(browser, service);
  await page.clock.install();
  await page.goto(`/markets/${marketId}`);
  await page.getByText("You hold no shares in this market.").waitFor();
  let previews = 0;
  await page.route("**/api/v1/orders**", async (route) => {
    if (route.request().url().endsWith("/preview")) previews++;
    await route.abort();
  });
  await buy(page, 60, 7);
  await page.getByText("has no answer yet").waitFor();
  const before = previews;
  await page.clock.runFor(60_000);
  await page.getByText("It is not known whether your order").waitFor();
  await page.clock.runFor(5000);
  await page.getByText("see the notice at the top of the page").waitFor();
  t.true(previews > before);
  t.is(await page.getByText("Check your connection").count(), 0);
});

journey("an order that was sent a day ago is not sent again", async (t, browser) => {
  const { marketId } = await makeOffered(service, "Will it be late?");
  const { page, userId } = await arrive(browser, service);
  await page.goto(`/markets/${marketId}`);
  await withAnswers(page, loseAnswer);
  await buy(page, 60, 7);
  await page.getByText("has no answer yet").waitFor();
  await page.reload();
  const again = page.getByRole("button", { name: "Send it again" });
  await again.waitFor();

  // The page stands there for a day, and its button as well.
  await page.evaluate("{ const now = Date.now; Date.now = () => now() + 23 * 3600 * 1000; }");
  await again.click();
  await page.evaluate(`{
    const name = "pgmarkets.pending-orders";
    const kept = JSON.parse(sessionStorage.getItem(name));
    for (const { pending } of kept) pending.sentAt -= 23 * 3600 * 1000;
    sessionStorage.setItem(name, JSON.stringify(kept));
  }`);
  await page.reload();
  await page.getByText("It was sent too long ago to be sent again").waitFor();
  t.is(await again.count(), 0);
  await page.getByRole("button", { name: "Drop it" }).click();
  t.is((await statusesOf(service, userId)).length, 1);
});

journey(
  "what is typed while an order is on its way stays, and the order is told of",
  async (t, browser) => {
    const { marketId } = await makeOffered(service, "Will it be slow?");
    const { page, userId } = await arrive(browser, service);
    await page.goto(`/markets/${marketId}`);
    let answer = (): void => undefined;
    const slow = async (route: Route): Promise<void> => {
      await new Promise<void>((resolve) => (answer = resolve));
      await route.continue();
    };
    await withAnswers(page, slow);
    const shares = page.getByLabel("Shares", { exact: true });

    await buy(page, 60, 5);
    await page.getByRole("button", { name: "Sending…" }).waitFor();
    await fillTicket(page, 60, 77);
    answer();
    await page.getByText("Buy 5 YES at 60¢: 5 shares traded").waitFor();
    t.is(await shares.inputValue(), "77");

    await buy(page, 60, 6);
    await page.getByRole("button", { name: "Sending…" }).waitFor();
    await shares.fill("8");
    await shares.press("Enter");
    await page.getByRole("link", { name: "Portfolio", exact: true }).click();
    answer();
    await page.getByText("Your order “Buy 6 YES at 60¢” in “Will it be slow?” is placed").waitFor();
    t.is(await sharesOf(service, userId), 11);
  },
);

journey("a key that was made without an answer is in the list", async (t, browser) => {
  const { page } = await arrive(browser, service);
  await page.route("**/api/account/keys", async (route) => {
    if (route.request().method() === "POST") await loseAnswer(route);
    else await route.continue();
  });
  await page.goto("/account");
  await page.getByLabel("Name of the new key").fill("bot");
  await page.getByRole("button", { name: "Create key" }).click();
  await page.getByText("The server gave no answer").waitFor();
  await page.getByRole("button", { name: "Revoke bot" }).waitFor();

  await page.unroute("**/api/account/keys");
  await page.getByLabel("Name of the new key").fill("second");
  await page.getByRole("button", { name: "Create key" }).click();
  await page.getByText("copy the key now").waitFor();
  await page.getByRole("button", { name: "Revoke second" }).click();
  await page.getByRole("button", { name: "Revoke for good" }).click();
  await page.getByText("copy the key now").waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Revoke second" }).waitFor({ state: "detached" });
  t.is(await page.getByRole("button", { name: "Revoke bot" }).count(), 1);
});

journey("half a time is not taken for none", async (t, browser) => {
  const { marketId } = await makeOffered(service, "Will it end?");
  const { page, userId } = await arrive(browser, service);
  await page.goto(`/markets/${marketId}`);
  await fillTicket(page, 10, 3);
  await page.getByText("More options").click();
  const time = page.getByLabel("Cancel at");
  await time.focus();
  await page.keyboard.type("02012031");
  await buyButton(page).click();
  await page.getByText("Give a date and a time.").waitFor();
  t.deepEqual(await statusesOf(service, userId), []);
  await time.fill("2031-01-02T03:04");
  await buyButton(page).click();
  await page.getByText("Your order waits in the book").waitFor();
  const placed = async () => (await statusesOf(service, userId)).join() === "open";
  await until("the order rests", placed);
  await page.getByText("until 2 Jan 2031, 03:04").first().waitFor();
});
