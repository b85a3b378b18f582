import test from "ava";
import { testService } from "../../helpers/http/test_service.ts";
import { testClock } from "../../helpers/database/test_clock.ts";
import { until } from "../../helpers/until.ts";
import { arrive, signIn } from "../arrive.ts";
import { visit } from "../browser.ts";
import { journey } from "../journey.ts";
import {
  buy,
  buyButton,
  fillTicket,
  kindOfOrder,
  loseAnswer,
  makeOffered,
  previewed,
  sharesOf,
} from "../steps.ts";

/** What a market's page says of orders before they are sent, and of what becomes of them. */

const service = testService(test, { website: true, playMoneyCents: 100_000 });
const { call, makeTrader, operate } = service;

journey(
  "the ticket begins with the best price, and its figures follow the book",
  async (t, browser) => {
    const { marketId, maker } = await makeOffered(service, "Will it be foggy?");
    const { page, complaints } = await arrive(browser, service);
    await page.goto(`/markets/${marketId}`);
    const price = page.getByLabel("Price", { exact: true });
    await kindOfOrder(page, "Limit").check();
    t.is(await price.inputValue(), "60");
    await fillTicket(page, 70, 5);
    // 5 x 60 cents, and 7% of 5 x 0.6 x 0.4 = 8.4 cents.
    const preview = page.locator(".ticket .preview");
    await preview.getByText("€3.09").first().waitFor();
    const offer = { marketId, side: "no", price: 45, quantity: 5 };
    await call("POST", "/api/v1/orders", { key: maker.key, body: offer });
    // 5 x 55 cents, and 7% of 5 x 0.55 x 0.45 = 8.7 cents.
    await preview.getByText("€2.84").first().waitFor();

    await fillTicket(page, 20, 10);
    await preview.getByText("If that trades, it costs").waitFor();
    await preview.getByText("€2.00").waitFor();
    await preview.getByText("and pays, if YES is right").waitFor();
    await preview.getByText("€10.00").waitFor();

    await buy(page, 55, 5);
    await page.getByText("5 shares traded at 55¢ on average. Fee €0.09.").waitFor();
    t.is(await page.getByLabel("Shares", { exact: true }).inputValue(), "");
    t.is(await preview.count(), 0);
    await page.getByRole("radio", { name: /^NO/ }).check();
    await call("POST", "/api/v1/orders", {
      ...{ key: maker.key, body: { marketId, side: "yes", price: 48, quantity: 9 } },
    });
    await page.getByRole("button", { name: "Use 48 cents, an offer to buy YES" }).waitFor();
    await page.getByRole("button", { name: /^Sell your/ }).click();
    t.is(await price.inputValue(), "48");
    await page.getByLabel("Shares", { exact: true }).fill("6");
    const field = page
      .locator(".field")
      .filter({ has: page.getByLabel("Shares", { exact: true }) });
    await field.getByText("You hold 5 shares of YES, and can sell no more").waitFor();
    t.deepEqual(complaints, []);
  },
);

journey(
  "a market order that arrives late trades at no worse price than was shown",
  async (t, browser) => {
    const { marketId, maker } = await makeOffered(service, "Will it be muggy?");
    const { page, userId } = await arrive(browser, service);
    await page.goto(`/markets/${marketId}`);
    await kindOfOrder(page, "Shares now").check();
    await page.getByLabel("Shares", { exact: true }).fill("5");
    await page.locator(".preview").getByText("Highest price").waitFor();
    await page.context().setOffline(true);
    await buyButton(page).click();
    await page.getByText("No answer yet, trying again…").waitFor();
    // Meanwhile only two shares are left at the price that was shown.
    const { data } = await call("GET", "/api/v1/orders", { key: maker.key }).then(
      ({ body }) => body,
    );
    await call("PATCH", `/api/v1/orders/${data[0].id}`, { key: maker.key, body: { quantity: 2 } });
    const dear = { marketId, side: "no", price: 10, quantity: 100 };
    await call("POST", "/api/v1/orders", { key: maker.key, body: dear });
    // The longest wait is over 6 s: the order goes out when the network is there again.
    await page.waitForTimeout(7000);
    const online = Date.now();
    await page.context().setOffline(false);
    await page.getByText("2 shares traded at 60¢ on average.").waitFor();
    t.true(Date.now() - online < 3000);
    await page.getByText("The rest was cancelled").waitFor();
    t.is(await sharesOf(service, userId), 2);
  },
);

/** A market whose orders wait 2.5 s for their release. */
async function makeLive(title: string): Promise<{ event_id: string; market_id: string }> {
  const about = { title: "The final", category: "tests" };
  const live = { live: true, live_delay_ms: 2500 };
  const event_id = await operate("create_event", { ...about, ...live });
  const market_id = await operate("create_market", { ...about, title, event_id });
  return { event_id, market_id };
}

async function release(): Promise<void> {
  const clock = testClock(service.database.pool);
  await clock.advance(3000);
  await operate("run_due", {});
  await clock.release();
  service.context.outboxRelay.ring();
}

journey("a live market says so, and what becomes of an order there", async (t, browser) => {
  const { event_id, market_id } = await makeLive("Will they win?");
  const guest = await visit(browser, service.url);
  for (const path of ["/", `/events/${event_id}`, `/markets/${market_id}`]) {
    await guest.page.goto(path);
    await guest.page.getByText("Live: orders wait 2.5 s").first().waitFor();
  }
  const maker = await makeTrader();
  const offer = { marketId: market_id, side: "no", price: 40, quantity: 100 };
  await call("POST", "/api/v1/orders", { key: maker.key, body: offer });
  await release();

  const { page } = await arrive(browser, service);
  await page.goto(`/markets/${market_id}`);
  await page.getByRole("button", { name: "Use 60 cents, an offer to sell YES" }).waitFor();
  await page.getByRole("textbox", { name: "Amount" }).fill("12.50");
  await page.getByText("If the book stays as it is").waitFor();
  // 20 x 60 cents, and 7% of 20 x 0.6 x 0.4 = 33.6 cents.
  await page.locator(".preview").getByText("€12.34").first().waitFor();
  await buyButton(page).click();
  await page.getByText("You can cancel it until then.").waitFor();
  await page.getByRole("button", { name: "Cancel: Buy YES, budget €12.50" }).waitFor();
  await release();
  await page.getByText("20 shares traded at 60¢ on average. Fee €0.34.").waitFor();
  t.is(await page.getByText("You can cancel it until then.").count(), 0);
});

journey(
  "an order of a live market has its button and its outcome at once, however little may be read",
  async (t, browser) => {
    const { market_id } = await makeLive("Will they lead?");
    const { page } = await arrive(browser, service);
    let areListsHeld = false;
    await page.route(/\/api\/v1\/orders(\?.*)?$/, async (route) => {
      if (areListsHeld && route.request().method() === "GET") return;
      const response = await route.fetch();
      // Rounds of reads are 30 s apart from now on.
      const few = { "RateLimit-Policy": '"v1-auth";q=100;w=60', RateLimit: '"v1-auth";r=1' };
      await route.fulfill({ response, headers: { ...response.headers(), ...few } });
    });
    await page.goto(`/markets/${market_id}`);
    await page.getByText("No open orders in this market").waitFor();
    const row = page.getByRole("button", { name: "Cancel: Buy 3 YES at 20¢" });
    areListsHeld = true;

    await buy(page, 20, 3);
    await row.click();
    await page.getByText("You cancelled the order. Nothing was traded.").waitFor();
    t.is(await row.count(), 0);

    await buy(page, 20, 3);
    await row.waitFor();
    await page.getByText("You can cancel it until then.").waitFor();
    await release();
    await page.getByText("Your order waits in the book for 3 shares.").waitFor();
    await page.getByText("0 of 3 filled").waitFor();
  },
);

journey(
  "an amendment is shown before it is sent, and what it did afterwards",
  async (t, browser) => {
    const { marketId } = await makeOffered(service, "Will it be icy?");
    const { page } = await arrive(browser, service);
    await page.goto(`/markets/${marketId}`);
    await buy(page, 30, 10);
    await page.getByText("waits in the book for 10 shares").waitFor();
    await page.getByRole("button", { name: "Change: Buy 10 YES at 30¢" }).click();
    const form = page.locator("form.amend");
    await form.getByLabel("Shares in all").fill("4");
    await form.getByText("keeps its place in the queue, and waits for 4 shares").waitFor();
    await form.getByLabel("Price").fill("60");
    await form.getByText("takes the place of this one").waitFor();
    // 4 x 60 cents, and 7% of 4 x 0.6 x 0.4 = 6.7 cents.
    await form.getByText("€2.47").first().waitFor();
    await form.getByRole("button", { name: "Save the change" }).click();
    await page.getByText("4 shares traded at 60¢ on average. Fee €0.07.").waitFor();
    t.is(await page.getByText("waits in the book for").count(), 0);
  },
);

journey(
  "a limit that the present order uses up does not speak against its change",
  async (t, browser) => {
    const { marketId } = await makeOffered(service, "Will it be limited?");
    const { page } = await arrive(browser, service, { dayCents: 1000 });
    await page.goto(`/markets/${marketId}`);
    await buy(page, 5, 120);
    await page.getByRole("button", { name: "Change: Buy 120 YES at 5¢" }).click();
    const form = page.locator("form.amend");
    // 6.00 EUR now and 9.60 EUR then: each is within the limit, both together are not.
    await form.getByLabel("Price").fill("8");
    await form.getByText("Whether your loss limits allow it is known when you save it").waitFor();
    await form.getByRole("button", { name: "Save the change" }).click();
    await page.getByText("Changed to “Buy 120 YES at 8¢”").waitFor();
    t.is(await page.getByText("over your loss limit").count(), 0);
  },
);

journey("what is wrong with an order is said where it is wrong", async (t, browser) => {
  const { marketId } = await makeOffered(service, "Will it be brisk?");
  const { page } = await arrive(browser, service);
  await page.goto(`/markets/${marketId}`);
  const focused = () => page.evaluate<string>("document.activeElement.name");
  await buyButton(page).click();
  await page.getByText("Give an amount up to €10,000").waitFor();
  t.is(await focused(), "budget");
  await kindOfOrder(page, "Limit").check();
  await buyButton(page).click();
  await page.getByText("Give a whole number of shares, from 1 to 10,000.").waitFor();
  t.is(await focused(), "quantity");
  await page.getByText("More options").click();
  await page.getByLabel("Post only").check();
  await page.getByText("More options: Post only").click();
  await page.getByLabel("Price", { exact: true }).fill("100");
  await buyButton(page).click();
  await until("the wrong price has the focus", async () => (await focused()) === "price");

  await page.getByText("More options: Post only").click();
  await page.getByLabel("Post only").uncheck();
  await buy(page, 30, 10);
  const change = page.getByRole("button", { name: "Change: Buy 10 YES at 30¢" });
  await change.click();
  const form = page.locator("form.amend");
  const save = form.getByRole("button", { name: "Save the change" });
  await form.getByLabel("Shares in all").fill("0");
  await form.getByText("Give a whole number of shares, from 1 to 10,000.").waitFor();
  t.is(await form.getByText("filled already").count(), 0);
  await form.getByLabel("Shares in all").fill("10");
  await form.getByLabel("Price").fill("100");
  await form.getByText("Give a price from 1 to 99 cents.").waitFor();
  t.true(await save.isDisabled());
  await form.getByLabel("Price").fill("99");
  t.is(await form.getByText("Give a price").count(), 0);
  // What the server said of other terms goes with them.
  await page.route("**/api/v1/orders/*", async (route) => {
    if (route.request().method() !== "PATCH") await route.continue();
    else await route.fulfill({ status: 400, json: { error: "this is not possible" } });
  });
  await save.click();
  await form.getByText("This is not possible.").waitFor();
  await form.getByLabel("Price").fill("40");
  await form.getByText("This is not possible.").waitFor({ state: "detached" });
  await page.unrouteAll({ behavior: "wait" });

  const body = { marketId, side: "no", price: 70, quantity: 3 };
  const filler = await makeTrader();
  await call("POST", "/api/v1/orders", { key: filler.key, body });
  await page.getByText("3 of 10 filled").waitFor();
  await form.getByLabel("Shares in all").fill("3");
  await form.getByText("from 4 to 10,000. 3 shares of it are filled already.").waitFor();
});

journey("a session that ends in the middle of an order leads back to it", async (t, browser) => {
  const { marketId } = await makeOffered(service, "Will it be balmy?");
  const { page, userId, email, password } = await arrive(browser, service);
  await page.goto(`/markets/${marketId}`);
  await fillTicket(page, 60, 7);
  await previewed(page);
  const isOrder = (url: URL) => url.pathname === "/api/v1/orders";
  const answers: ("lost" | "ended")[] = ["ended", "lost", "ended"];
  await page.route(isOrder, async (route) => {
    const answer = route.request().method() === "POST" ? answers.shift() : undefined;
    if (answer === "ended") {
      await page.context().clearCookies();
      await route.fulfill({ status: 401, json: { error: "Unauthorized" } });
    } else if (answer === "lost") {
      await loseAnswer(route);
    } else await route.continue();
  });
  const signInAgain = async (): Promise<void> => {
    await page.getByRole("link", { name: "Sign in", exact: true }).last().click();
    await signIn(page, email, password);
    await page.waitForURL(`/markets/${marketId}`);
  };
  await buyButton(page).click();
  await page.getByText("You are signed out. The order was not placed.").waitFor();
  t.is(await sharesOf(service, userId), 0);
  await signInAgain();

  // The first attempt was carried out, the second one met the end of the session.
  await buy(page, 60, 7);
  await page.getByText("It is not known whether the order was placed").waitFor();
  await signInAgain();
  await page.getByRole("button", { name: "Send it again" }).click();
  await page.getByText("is placed, once").waitFor();
  t.is(await sharesOf(service, userId), 7);
});

journey("a session that ended without the user says so, and leads back", async (t, browser) => {
  const { marketId } = await makeOffered(service, "Will it be breezy?");
  const { page, email, password } = await arrive(browser, service);
  const notice = page.getByText("You were signed out.");
  await page.goto(`/markets/${marketId}`);
  await page.context().clearCookies();
  await page.reload();
  await notice.waitFor();
  await fillTicket(page, 60, 7);
  await page.getByRole("link", { name: "Sign in to trade" }).waitFor();
  await page.getByRole("link", { name: "Sign in again" }).click();
  await page.waitForURL(`/sign-in?back=${encodeURIComponent(`/markets/${marketId}`)}`);
  await notice.waitFor({ state: "detached" });
  await signIn(page, email, password);
  await page.waitForURL(`/markets/${marketId}`);
  await buyButton(page).waitFor();
  t.is(await notice.count(), 0);

  await page.goto("/account");
  await page.getByRole("button", { name: "Sign out", exact: true }).click();
  await page.waitForURL("/");
  await page.getByRole("link", { name: "Sign in", exact: true }).waitFor();
  t.is(await notice.count(), 0);
});

journey("a refusal is over when the order would be taken", async (t, browser) => {
  const marketId = await service.makeMarket({ title: "Will it be gusty?" });
  const { key } = await service.makeTrader();
  const { page } = await arrive(browser, service);
  await page.goto(`/markets/${marketId}`);
  const kind = page.locator(".ticket-hint");
  await kindOfOrder(page, "Shares now").check();
  await page.getByLabel("Shares", { exact: true }).fill("7");
  await page.locator(".preview").getByText("Nobody offers YES now").waitFor();
  await buyButton(page).click();
  const refusal = page.locator(".ticket").getByRole("alert");
  await refusal.getByText("Nobody offers YES now").waitFor();
  const body = { marketId, side: "no", price: 40, quantity: 100 };
  t.is((await service.call("POST", "/api/v1/orders", { key, body })).status, 201);
  await previewed(page);
  await refusal.waitFor({ state: "detached" });

  await kindOfOrder(page, "Limit").check();
  await kind.getByText("or an amount").waitFor();
  await page.getByRole("radio", { name: "Sell", exact: true }).check();
  await kind.getByText("Trades at this price or better").waitFor();
  t.is(await kind.getByText("amount").count(), 0);
});

journey("what became of an order is said until the next one begins", async (t, browser) => {
  const { marketId } = await makeOffered(service, "Will it be sultry?");
  const { page } = await arrive(browser, service);
  await page.goto(`/markets/${marketId}`);
  const notice = page.locator(".ticket .notice-good");
  const words = /^\d.* · Buy 7 YES at 60¢: 7 shares traded at 60¢ on average/;
  const noticed: string[] = [];
  for (let time = 0; time < 2; time++) {
    await fillTicket(page, 60, 7);
    await notice.waitFor({ state: "detached" });
    await buyButton(page).click();
    await notice.getByText("on average").waitFor();
    noticed.push(await notice.innerText());
    t.regex(noticed[time]!, words);
    await page.waitForTimeout(1000);
  }
  t.not(noticed[0], noticed[1], "two equal orders are told apart by their times");
  await buyButton(page).click();
  await notice.waitFor({ state: "detached" });

  await buy(page, 60, 2);
  await notice.getByText("Buy 2 YES at 60¢: 2 shares").waitFor();
  const other = await page.context().newPage();
  await other.goto("/account");
  await other.getByRole("button", { name: "Sign out", exact: true }).click();
  await page.getByRole("link", { name: "Sign in to trade" }).waitFor();
  await notice.waitFor({ state: "detached" });
});

journey("orders without an answer are on every page, and can be stopped", async (t, browser) => {
  const first = await makeOffered(service, "Will it be mild?");
  const second = await makeOffered(service, "Will it be wild?");
  const { page, userId } = await arrive(browser, service);
  const isCut = (url: URL) => url.pathname === "/api/v1/orders";
  await page.route(isCut, async (route) => {
    if (route.request().method() === "POST") await route.abort();
    else await route.continue();
  });
  for (const [{ marketId }, shares] of [
    [first, 7],
    [second, 8],
  ] as const) {
    await page.goto("/");
    await page.evaluate(
      `history.pushState(null, "", "/markets/${marketId}"); dispatchEvent(new PopStateEvent("popstate"))`,
    );
    await buy(page, 60, shares);
    await page.getByText(`“Buy ${shares} YES at 60¢”`).waitFor();
  }
  await page.getByRole("link", { name: "Help" }).first().click();
  await page.getByText("“Buy 8 YES at 60¢” in “Will it be wild?” has no answer yet").waitFor();
  await page.getByRole("button", { name: "Stop trying" }).click();
  await page.getByText("It is not known whether your order “Buy 8 YES").waitFor();

  await page.reload();
  await page.getByText("Your order “Buy 7 YES at 60¢” in “Will it be mild?” was being").waitFor();
  await page.getByText("It is not known whether your order “Buy 8 YES").waitFor();
  await page.unroute(isCut);
  const again = page.getByRole("button", { name: "Send it again" });
  await again.first().click();
  await page.getByText("“Buy 7 YES at 60¢” in “Will it be mild?” is placed, once").waitFor();
  await again.click();
  await page.getByText("“Buy 8 YES at 60¢” in “Will it be wild?” is placed, once").waitFor();
  t.is(await sharesOf(service, userId), 15);
});

journey("the chart follows the system when that turns dark", async (t, browser) => {
  const { marketId } = await makeOffered(service, "Will it get dark?");
  const taker = await makeTrader();
  const body = { marketId, side: "yes", price: 60, quantity: 1 };
  await call("POST", "/api/v1/orders", { key: taker.key, body });
  const { page } = await visit(browser, service.url);
  await page.goto(`/markets/${marketId}`);
  const colour = `getComputedStyle(document.querySelector(".chart-end")).fill`;
  await page.locator(".chart-end").waitFor();
  const light = await page.evaluate<string>(colour);
  await page.emulateMedia({ colorScheme: "dark" });
  await until("the chart is dark", async () => (await page.evaluate(colour)) !== light);
  t.not(await page.evaluate(colour), light);
});
