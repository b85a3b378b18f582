import test from "ava";
import type { Page } from "playwright-core";
import { testService } from "../../helpers/http/test_service.ts";
import { until } from "../../helpers/until.ts";
import { arrive, signIn } from "../arrive.ts";
import { journey } from "../journey.ts";
import { buy, fillTicket, makeOffered, statusesOf } from "../steps.ts";

/** Forms about something that is changed elsewhere while they are open, also by another sign-in. */

const service = testService(test, { website: true, playMoneyCents: 100_000 });
const { operate } = service;

/** The limits of a user in force, and when any of them changes. */
async function limitsOf(userId: string): Promise<unknown> {
  const { rows } = await service.database.pool.query(
    `select day_limit_cents as day, week_limit_cents as week, month_limit_cents as month,
       coalesce(day_limit_changes_at, week_limit_changes_at, month_limit_changes_at) as changes_at
     from admin.users where user_id = $1`,
    [userId],
  );
  return rows[0];
}

async function profileOf(userId: string): Promise<unknown> {
  const { rows } = await service.database.pool.query(
    `select display_name as name, private, leaderboard_opt_out as off
     from identity.users where public_id = $1`,
    [userId],
  );
  return rows[0];
}

const limits = (day: number | null, week: number | null, month: number | null) => ({
  ...{ day, week, month, changes_at: null },
});

/** What the fields of the loss limits show. */
async function limitFields(page: Page): Promise<string[]> {
  const fields = ["day", "week", "month"].map((name) => page.locator(`input[name=${name}]`));
  return await Promise.all(fields.map((field) => field.inputValue()));
}

const saveLimits = (page: Page) => page.getByRole("button", { name: /my limits$/ });
const dayField = (page: Page) => page.getByLabel("A day");
const nameField = (page: Page) => page.locator("input[name=displayName]");

/** Makes a page read anew what it shows of its user, as it does when it is seen again. */
const lookAgain = (page: Page) =>
  page.evaluate(`document.dispatchEvent(new Event("visibilitychange"))`);

journey(
  "limits that an operator sets are in the form, and stay when it is saved",
  async (t, browser) => {
    const { page, userId } = await arrive(browser, service);
    await page.goto("/account");
    await saveLimits(page).waitFor();
    t.deepEqual(await limitFields(page), ["", "", ""]);
    const set = { day_cents: 1000, week_cents: 2000, month_cents: 3000 };
    await operate("set_loss_limits", { user_id: userId, ...set });
    await lookAgain(page);
    await page.getByText("used of €30.00").waitFor();
    t.deepEqual(await limitFields(page), ["10.00", "20.00", "30.00"]);
    await saveLimits(page).click();
    await page.getByText("Your limits are saved").waitFor();
    t.deepEqual(await limitsOf(userId), limits(1000, 2000, 3000));
  },
);

journey(
  "limits that changed while others were typed are shown before all are saved",
  async (t, browser) => {
    const { page, userId } = await arrive(browser, service);
    const other = await page.context().newPage();
    for (const one of [page, other]) {
      // Neither hears of what the other one does before it saves.
      await one.addInitScript("window.setInterval = () => 0; delete window.BroadcastChannel;");
      await one.addInitScript("window.BroadcastChannel = class { postMessage() {} };");
      await one.goto("/account");
      await saveLimits(one).waitFor();
    }
    await dayField(other).fill("4");
    await saveLimits(other).click();
    await other.getByText("Your limits are saved").waitFor();
    t.deepEqual(await limitFields(page), ["", "", ""]);

    await page.locator("input[name=week]").fill("15");
    await saveLimits(page).click();
    await page.getByText("Your limits were changed meanwhile").waitFor();
    t.deepEqual(await limitsOf(userId), limits(400, null, null));
    t.deepEqual(await limitFields(page), ["4.00", "15", ""]);
    await saveLimits(page).click();
    await page.getByText("Your limits are saved").waitFor();
    t.deepEqual(await limitsOf(userId), limits(400, 1500, null));
    t.deepEqual(await limitFields(page), ["4.00", "15.00", ""]);
  },
);

journey(
  "a profile that became private elsewhere stays so when a name is saved",
  async (t, browser) => {
    const { page, userId } = await arrive(browser, service);
    await page.addInitScript("window.setInterval = () => 0");
    await page.goto("/account");
    const isPrivate = page.getByRole("checkbox", { name: /^Private profile/ });
    await isPrivate.waitFor();
    await service.database.pool.query(
      "update identity.users set private = true where public_id = $1",
      [userId],
    );
    t.false(await isPrivate.isChecked());
    await nameField(page).fill("Dora Renamed");
    await page.getByRole("button", { name: "Save my profile" }).click();
    await page.getByText("Your profile is saved").waitFor();
    t.deepEqual(await profileOf(userId), { name: "Dora Renamed", private: true, off: false });
    t.true(await isPrivate.isChecked());
  },
);

journey(
  "what one user typed is neither shown to the next one nor sent for them",
  async (t, browser) => {
    const { marketId } = await makeOffered(service, "Will it be crisp?");
    const first = await arrive(browser, service);
    const second = await arrive(browser, service);
    const { page } = first;
    const [market, deaf, entry] = [
      ...[await page.context().newPage(), await page.context().newPage()],
      await page.context().newPage(),
    ];
    // This one does not hear in time that somebody else has signed in.
    await deaf!.addInitScript(
      `addEventListener("storage", (event) => event.stopImmediatePropagation())`,
    );
    await market.goto(`/markets/${marketId}`);
    await fillTicket(market, 60, 7);
    for (const one of [page, deaf!]) {
      await one.goto("/account");
      await dayField(one).fill("5");
      await nameField(one).fill("Not the second");
    }
    const before = await profileOf(second.userId);

    // Nobody signed out.
    await entry!.goto("/sign-in?back=/account");
    await signIn(entry!, second.email, second.password);
    await entry!.waitForURL("/account");
    await entry!.getByText(second.email).waitFor();

    await page.getByText(second.email).waitFor();
    t.is(await dayField(page).inputValue(), "");
    t.not(await nameField(page).inputValue(), "Not the second");
    // It begins with an amount, and without a number of shares.
    await market.getByLabel("Shares", { exact: true }).waitFor({ state: "detached" });
    t.is(await market.getByRole("textbox", { name: "Amount" }).inputValue(), "");
    await deaf!.getByRole("button", { name: "Save my profile" }).click();
    await deaf!.getByText(second.email).waitFor();
    t.is(await nameField(deaf!).inputValue(), await nameField(page).inputValue());
    t.deepEqual(await profileOf(second.userId), before);

    await saveLimits(page).click();
    await page.getByText("Your limits are saved").waitFor();
    t.deepEqual(await limitsOf(second.userId), limits(null, null, null));
    t.deepEqual(await limitsOf(first.userId), limits(null, null, null));
  },
);

journey("an order without an answer is not sent for the next user", async (t, browser) => {
  const { marketId } = await makeOffered(service, "Will it be damp?");
  const { page, userId } = await arrive(browser, service);
  const second = await arrive(browser, service);
  const isOrder = (url: URL) => url.pathname === "/api/v1/orders";
  let isCut = true;
  await page.route(isOrder, async (route) => {
    if (isCut && route.request().method() === "POST") await route.abort();
    else await route.continue();
  });
  await page.goto(`/markets/${marketId}`);
  await buy(page, 60, 7);
  await page.getByText("has no answer yet").waitFor();
  const entry = await page.context().newPage();
  await entry.goto("/sign-in?back=/portfolio");
  await signIn(entry, second.email, second.password);
  await entry.waitForURL("/portfolio");
  isCut = false;
  await page.getByText("has no answer yet").waitFor({ state: "detached" });
  // The notice is gone with its user; the sending ends when its next attempt is due.
  await until("the order is sent no more", async () => {
    const kept = await page.evaluate(`sessionStorage.getItem("pgmarkets.pending-orders")`);
    return JSON.parse(kept as string)[0].state === "unknown";
  });
  t.is(await page.getByRole("button", { name: "Send it again" }).count(), 0);
  t.deepEqual(await statusesOf(service, userId), []);
  t.deepEqual(await statusesOf(service, second.userId), []);
});
