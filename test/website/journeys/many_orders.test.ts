import test from "ava";
import type { Page } from "playwright-core";
import { testService } from "../../helpers/http/test_service.ts";
import { arrive } from "../arrive.ts";
import { journey } from "../journey.ts";
import { buy, buyButton, fillTicket, makeOffered, previewed, statusesOf } from "../steps.ts";

/** How many requests orders cost, with the limits that an exchange has by itself. */

const service = testService(test, { website: true, limited: true, playMoneyCents: 100_000 });

interface Request {
  name: string;
  status: number;
}

/** Notes what a page asks of the API from now on, and the answers. Streams are left out. */
function watchRequests(page: Page): Request[] {
  const requests: Request[] = [];
  page.on("response", (response) => {
    const { pathname } = new URL(response.url());
    if (!pathname.startsWith("/api/") || pathname.includes("/stream")) return;
    const path = pathname.replaceAll(/[0-9a-f-]{36}/g, ":id");
    requests.push({ name: `${response.request().method()} ${path}`, status: response.status() });
  });
  return requests;
}

/** Longer than any round of reads is put off while there is enough left. */
const ALL_READ_MS = 2500;

journey("an order is previewed, sent, and read once; so is a cancel", async (t, browser) => {
  const { marketId } = await makeOffered(service, "Will it be dry?");
  const { page } = await arrive(browser, service);
  // What is asked for comes from the order: nothing is asked for every few seconds.
  await page.addInitScript("window.setInterval = () => 0");
  await page.goto(`/markets/${marketId}`);
  await page.getByText("You hold no shares in this market.").waitFor();
  await page.waitForTimeout(ALL_READ_MS);

  const requests = watchRequests(page);
  // A preview follows the book: where the order takes over a second, it is asked for again.
  const asked = (): string[] => {
    // The chart reads again after trades, at a pace of its own.
    const names = requests
      .splice(0)
      .map(({ name }) => name)
      .filter((name) => !name.endsWith("/candles"));
    const isAgain = (name: string, place: number): boolean =>
      name.endsWith("/preview") && names.indexOf(name) < place;
    return names.filter((name, place) => !isAgain(name, place)).sort();
  };
  const order = async (price: number): Promise<void> => {
    await fillTicket(page, price, 5);
    await previewed(page);
    await buyButton(page).click();
  };
  const reads = ["GET /api/account/positions", "GET /api/v1/orders"];
  const sent = ["POST /api/v1/orders", "POST /api/v1/orders/preview"];

  await order(60);
  // 5 x 60 cents, and 7% of 5 x 0.6 x 0.4 = 8.4 cents of fee, rounded up.
  await page.getByText("5 shares traded at 60¢ on average. Fee €0.09.").waitFor();
  await page.locator(".cash").getByText("€996.91").waitFor();
  await page.getByText("YES · 5 shares").waitFor();
  await page.waitForTimeout(ALL_READ_MS);
  // The trade changed the volume.
  t.deepEqual(asked(), [...reads, "GET /api/v1/markets/:id", ...sent].sort());

  await order(20);
  await page.getByText("waits in the book for 5 shares").waitFor();
  const cancel = page.getByRole("button", { name: "Cancel: Buy 5 YES at 20¢" });
  await cancel.waitFor();
  await page.waitForTimeout(ALL_READ_MS);
  t.deepEqual(asked(), [...reads, ...sent]);

  await cancel.click();
  await page.getByText("No open orders in this market").waitFor();
  await page.getByText("You cancelled the order. Nothing was traded.").waitFor();
  await page.waitForTimeout(ALL_READ_MS);
  t.deepEqual(asked(), ["DELETE /api/v1/orders/:id", ...reads, "GET /api/v1/orders/:id"]);
});

journey("what no answer says of a loss limit is read after it", async (t, browser) => {
  const { marketId } = await makeOffered(service, "Will it be damp?");
  const { page } = await arrive(browser, service, { dayCents: 500 });
  await page.addInitScript("window.setInterval = () => 0");
  await page.goto(`/markets/${marketId}`);
  await page.getByText("You hold no shares in this market.").waitFor();
  await buy(page, 60, 5);
  await page.getByText("YES · 5 shares").waitFor();
  await fillTicket(page, 60, 6);
  // 5.00 less 5 x 60 cents and 9 cents of fee.
  await page.getByText("your loss limit of €5.00 a day: €1.91 of it is left").waitFor();
  t.is(await page.locator(".cash .number").innerText(), "€996.91");
});

journey("a hidden page reads nothing, and everything when it is seen again", async (t, browser) => {
  const { marketId, maker } = await makeOffered(service, "Will it be dull?");
  const { page } = await arrive(browser, service);
  await page.addInitScript("window.setInterval = () => 0");
  await page.goto(`/markets/${marketId}`);
  await buy(page, 45, 10);
  await page.getByText("0 of 10 filled").waitFor();
  await page.waitForTimeout(ALL_READ_MS);
  const see = (isSeen: boolean) =>
    page.evaluate(
      `Object.defineProperty(document, "hidden", { value: ${!isSeen}, configurable: true });
       document.dispatchEvent(new Event("visibilitychange"))`,
    );
  const requests = watchRequests(page);
  await see(false);
  const body = { marketId, side: "no", price: 55, quantity: 4 };
  await service.call("POST", "/api/v1/orders", { key: maker.key, body });
  await page.waitForTimeout(ALL_READ_MS);
  t.deepEqual(requests, []);
  await see(true);
  await page.getByText("4 of 10 filled").waitFor();
  await page.getByText("4 shares traded").waitFor();
});

/** 25 in a minute. */
const ORDERS = 25;
const EVERY_MS = 2400;

journey(
  "25 orders in a minute from one window all go through, and a cancel",
  async (t, browser) => {
    const { marketId } = await makeOffered(service, "Will it be wet?");
    const { page, userId } = await arrive(browser, service);
    await page.goto(`/markets/${marketId}`);
    await page.getByText("You hold no shares in this market.").waitFor();
    // The tests before came from the same address.
    await service.database.pool.query("truncate rate_limits.grants, rate_limits.windows");
    const requests = watchRequests(page);
    const begunAt = performance.now();
    for (let number = 0; number < ORDERS; number++) {
      const isFilled = number % 2 === 0;
      await fillTicket(page, isFilled ? 60 : 20 + number, 1);
      await previewed(page);
      await buyButton(page).click();
      const words = isFilled ? "1 share traded at 60¢" : "waits in the book for 1 share";
      await page.locator(".ticket").getByText(words).waitFor();
      const nextAt = begunAt + (number + 1) * EVERY_MS;
      await page.waitForTimeout(Math.max(0, nextAt - performance.now()));
    }
    await page.getByRole("button", { name: "Cancel: Buy 1 YES at 21¢" }).click();
    await page
      .getByRole("button", { name: "Cancel: Buy 1 YES at 21¢" })
      .waitFor({ state: "detached" });
    t.log(`${requests.length} requests`);
    // On a slow machine the page reads more often, and a preview may have to come again.
    t.deepEqual(
      requests.filter(({ name, status }) => status >= 400 && !name.endsWith("/preview")),
      [],
    );
    const statuses = Array.from({ length: ORDERS }, (_, number) => {
      if (number === 1) return "cancelled";
      return number % 2 === 0 ? "filled" : "open";
    });
    t.deepEqual(await statusesOf(service, userId), statuses);

    // The page ends up right, however little was left.
    await page.getByText("YES · 13 shares").waitFor();
    t.is(await page.getByRole("button", { name: /^Cancel: / }).count(), 11);
    // 13 x 60 cents, and each time 7% of 0.6 x 0.4 = 1.7 cents of fee, rounded up.
    await page.locator(".cash").getByText("€991.94").waitFor();
  },
);
