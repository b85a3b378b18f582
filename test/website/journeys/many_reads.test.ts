import test from "ava";
import type { Page } from "playwright-core";
import { testService } from "../../helpers/http/test_service.ts";
import { arrive } from "../arrive.ts";
import { visit } from "../browser.ts";
import { journey } from "../journey.ts";
import { buy, makeOffered, statusesOf } from "../steps.ts";

/** Pages that read a lot, and what is left for others at the same address. */

const service = testService(test, { website: true, playMoneyCents: 100_000 });
const { call, makeMarket, operate } = service;

const limitVisitors = (max_requests: number, window_seconds: number) =>
  operate("set_rate_limit", { bucket: "v1", max_requests, window_seconds });

/** The paths of what a page reads of the API while it does something. */
async function readsOf(page: Page, act: () => Promise<unknown>): Promise<string[]> {
  const reads: string[] = [];
  const note = (request: { url: () => string }): void => {
    const { pathname } = new URL(request.url());
    if (pathname.startsWith("/api/v1/")) reads.push(pathname);
  };
  page.on("request", note);
  await act();
  await page.waitForLoadState("networkidle");
  page.off("request", note);
  return reads.sort();
}

journey(
  "a second load of the home page reads the markets, and whether trading is paused",
  async (t, browser) => {
    const about = { title: "The final", category: "tests" };
    const starts_at = "2100-01-01T12:00:00Z";
    const event_id = await operate("create_event", { ...about, starts_at });
    await operate("create_market", { ...about, title: "Will they win?", event_id });
    await makeMarket({ title: "Will it rain?" });
    const { page } = await visit(browser, service.url);
    const first = await readsOf(page, () => page.goto("/"));
    await page.getByRole("link", { name: "The final" }).waitFor();
    t.false(
      first.some((path) => path.endsWith("/rules")),
      "the event is not live yet",
    );
    const second = await readsOf(page, () => page.reload());
    t.deepEqual(second, ["/api/v1/exchange", "/api/v1/markets"]);
    await page.getByRole("link", { name: "The final" }).waitFor();
  },
);

journey(
  "429: visitors use up what an address may read; a user still sells, and a visitor's page comes back",
  async (t, browser) => {
    const { marketId } = await makeOffered(service, "Will the sun shine?");
    const { page } = await arrive(browser, service);
    await page.goto(`/markets/${marketId}`);
    await buy(page, 60, 5);
    await page.getByText("YES · 5 shares").waitFor();

    await limitVisitors(20, 5);
    t.teardown(() => limitVisitors(1_000_000, 1));
    const answers = await Promise.all(
      Array.from({ length: 21 }, () => call("GET", "/api/v1/categories")),
    );
    t.true(answers.some(({ status }) => status === 429));
    const guest = await visit(browser, service.url);
    await guest.page.goto(`/markets/${marketId}`);
    await guest.page.getByText("This could not be loaded").first().waitFor();
    await page.reload();
    await page
      .getByRole("button", { name: /^Sell your/ })
      .first()
      .waitFor();
    await page.getByRole("heading", { name: "Will the sun shine?" }).waitFor();
    t.is(await page.getByText("This could not be loaded").count(), 0);

    await guest.page.getByRole("heading", { name: "Will the sun shine?" }).waitFor();
  },
);

journey(
  "429 for the token is said as such, once for all, and the page comes back",
  async (t, browser) => {
    const { marketId } = await makeOffered(service, "Will it be bright?");
    const { page, userId } = await arrive(browser, service);
    let isRefused = true;
    let questions = 0;
    let held = Promise.resolve();
    await page.route("**/api/auth/token", async (route) => {
      if (!isRefused) {
        await route.continue();
        return;
      }
      questions++;
      await held;
      const headers = { "Retry-After": "2" };
      await route.fulfill({ status: 429, headers, json: { error: "Too many requests" } });
    });
    const orders: string[] = [];
    page.on("request", (request) => {
      const { pathname } = new URL(request.url());
      if (request.method() === "POST" && pathname === "/api/v1/orders") orders.push(pathname);
    });
    await page.goto(`/markets/${marketId}`);
    await page.getByText("Try again in 2 seconds").first().waitFor();
    t.is(await page.getByText("The server gave no answer").count(), 0);
    await buy(page, 60, 5);
    await page.locator(".ticket").getByRole("alert").getByText("Too many requests").waitFor();
    t.is(await page.getByText("It is not known whether").count(), 0);
    t.deepEqual(orders, []);

    await page.goto("about:blank");
    questions = 0;
    let refuse = (): void => undefined;
    held = new Promise((done) => (refuse = done));
    await page.goto("/portfolio");
    await page.getByRole("heading", { name: "Portfolio" }).waitFor();
    // Effects, which ask, run after the next frame.
    await page.evaluate(
      "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))",
    );
    refuse();
    await page.getByText("Try again in 2 seconds").first().waitFor();
    t.is(questions, 1);
    isRefused = false;
    await page.getByRole("heading", { name: "Positions" }).waitFor();
    t.deepEqual(await statusesOf(service, userId), []);
  },
);

journey(
  "few requests are left: what is older than a trade says so until it is read",
  async (t, browser) => {
    const { marketId } = await makeOffered(service, "Will it be warm?");
    const { page } = await arrive(browser, service);
    let held = Promise.resolve();
    await page.route(/\/api\/(v1|account)/, async (route) => {
      if (route.request().url().includes("/positions")) await held;
      const response = await route.fetch();
      const left = {
        ...{ ratelimit: '"v1-user";r=40', "ratelimit-policy": '"v1-user";q=120;w=60' },
      };
      await route.fulfill({ response, headers: { ...response.headers(), ...left } });
    });
    await page.goto(`/markets/${marketId}`);
    await page.getByText("You hold no shares in this market.").waitFor();
    await buy(page, 60, 5);
    await page.getByText("YES · 5 shares").waitFor();
    let release = (): void => undefined;
    held = new Promise((done) => (release = done));
    await buy(page, 60, 4);
    await page.getByText("4 shares traded").waitFor();
    const note = page.getByText("what just happened is not in these figures yet");
    await note.waitFor();
    release();
    await page.getByText("YES · 9 shares").waitFor();
    await note.waitFor({ state: "detached" });
    t.is(await note.count(), 0);
  },
);
