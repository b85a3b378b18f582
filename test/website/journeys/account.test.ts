import { execFile } from "node:child_process";
import { promisify } from "node:util";
import test from "ava";
import { testService } from "../../helpers/http/test_service.ts";
import { until } from "../../helpers/until.ts";
import { arrive } from "../arrive.ts";
import { journey } from "../journey.ts";
import { buyButton, fillTicket, makeOffered, sharesOf, statusesOf } from "../steps.ts";

/** Keys, live markets, proofs of balances and self-exclusion, in a real browser. */

const service = testService(test, { website: true, playMoneyCents: 100_000 });
const { call, operate } = service;

/** What curl gets as status for the owner of a key. */
async function curlStatus(key: string): Promise<string> {
  const { stdout } = await promisify(execFile)("curl", [
    ...["-s", "-o", "/dev/null", "-w", "%{http_code}"],
    ...["-H", `Authorization: Bearer ${key}`, `${service.url}/api/v1/me`],
  ]);
  return stdout;
}

journey("a key is shown once, works, and ends within a second of its end", async (t, browser) => {
  const { page, userId } = await arrive(browser, service);
  await page.goto("/account");
  await page.getByLabel("Name of the new key").fill("my bot");
  await page.getByRole("button", { name: "Create key" }).click();
  const key = await page.locator("code.key").innerText();
  t.is((await call("GET", "/api/v1/me", { key })).body.id, userId);
  t.is(await curlStatus(key), "200");

  await page.reload();
  await page.getByText("my bot").waitFor();
  t.false((await page.content()).includes(key));
  await page.getByRole("button", { name: "Revoke my bot" }).click();
  // By mistake: nothing happens.
  await page.getByRole("button", { name: "Back" }).click();
  t.is(await curlStatus(key), "200");
  await page.getByRole("button", { name: "Revoke my bot" }).click();
  const revoked = page.waitForResponse((response) => response.request().method() === "DELETE");
  await page.getByRole("button", { name: "Revoke for good" }).click();
  await revoked;
  const tookMs = await until("the key is refused", async () => (await curlStatus(key)) === "401");
  t.true(tookMs <= 1000, `${tookMs} ms`);
  await page.getByText("No keys yet").waitFor();
});

journey(
  "a limit holds at once when it is lowered, and waits when it is raised",
  async (t, browser) => {
    const { marketId } = await makeOffered(service, "Will it be warm?");
    const { page, userId } = await arrive(browser, service, { dayCents: 10_000 });
    await page.goto("/account#limits");
    await page.getByLabel("A day").fill("5");
    await page.getByRole("button", { name: "Save my limits" }).click();
    await page.getByText("Your limits are saved").waitFor();
    await page.getByText("€0.00 used of €5.00").waitFor();

    // 10 x 60 cents and the fee are more than 5.00.
    const words = "over your loss limit of €5.00 a day: €5.00 of it is left.";
    await page.goto(`/markets/${marketId}`);
    await fillTicket(page, 60, 10);
    await page.locator(".preview").getByText(words).waitFor();
    await buyButton(page).click();
    await page.getByRole("alert").getByText(words).waitFor();
    t.is(await sharesOf(service, userId), 0);

    await page.getByRole("alert").getByRole("link", { name: "See your limits" }).click();
    await page.getByLabel("A day").fill("50");
    const saved = page.waitForResponse((response) => response.request().method() === "PUT");
    await page.getByRole("button", { name: "Save my limits" }).click();
    const { day } = (await (await saved).json()) as { day: { pending: { at: string } } };
    const at: string = await page.evaluate(
      `new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" })
       .format(new Date(${JSON.stringify(day.pending.at)}))`,
    );
    await page.getByText(`€50.00 from ${at}`).waitFor();
    await page.getByText("€0.00 used of €5.00").waitFor();
    t.is(await page.getByLabel("A day").inputValue(), "5.00");
    const waitsMs = Date.parse(day.pending.at) - Date.now();
    t.true(waitsMs > 23.9 * 3_600_000 && waitsMs <= 24 * 3_600_000);
    // What holds is still the lower one.
    await page.goto(`/markets/${marketId}`);
    await fillTicket(page, 60, 10);
    await page.locator(".preview").getByText(words).waitFor();
  },
);

journey(
  "a raise that waits stays when another limit is saved, or is taken back",
  async (t, browser) => {
    const { page, userId } = await arrive(browser, service, { dayCents: 500 });
    const limits = async () =>
      (
        await service.database.pool.query(
          `select
           day_limit_cents::int as day, next_day_limit_cents::int as next,
           week_limit_cents::int as week
         from trading.traders as t join identity.users as u on u.id = t.user_id
         where u.public_id = $1`,
          [userId],
        )
      ).rows[0];
    await page.goto("/account#limits");
    await page.getByLabel("A day").fill("50");
    await page.getByRole("button", { name: "Save my limits" }).click();
    await page.getByText("What you raised or removed holds from the time beside it.").waitFor();
    t.is(await page.getByLabel("A day").inputValue(), "5.00", "what is in force");
    await page.locator("input[name=week]").fill("70");
    await page.getByRole("button", { name: "Save my limits" }).click();
    await page.getByText("€0.00 used of €70.00").waitFor();
    t.deepEqual(await limits(), { day: 500, next: 5000, week: 7000 });
    await page.getByRole("button", { name: "Keep €5.00 as the daily limit" }).click();
    await page.getByText("€50.00 from").waitFor({ state: "detached" });
    t.deepEqual(await limits(), { day: 500, next: null, week: 7000 });
  },
);

journey("a limit may be typed as in other languages, where that is plain", async (t, browser) => {
  const { page } = await arrive(browser, service);
  await page.goto("/account#limits");
  const limits = page.locator("#limits");
  await limits.getByLabel("A day").fill("1.000");
  await limits.getByText("euros, such as 25 or 1,000.50, or nothing.").waitFor();
  await limits.getByLabel("A day").fill("1.000,50");
  await limits.getByRole("button", { name: "Save my limits" }).click();
  await limits.getByText("€0.00 used of €1,000.50").waitFor();
  t.is(await limits.getByLabel("A day").inputValue(), "1000.50");
});

journey("what is used of each limit has a name of its own", async (t, browser) => {
  const { page, userId } = await arrive(browser, service);
  const set = { day_cents: 1000, week_cents: 2000, month_cents: 3000 };
  await operate("set_loss_limits", { user_id: userId, ...set });
  await page.goto("/account#limits");
  for (const limit of ["daily limit", "7-day limit", "30-day limit"]) {
    await page.getByRole("meter", { name: `Used of the ${limit}`, exact: true }).waitFor();
  }
  t.is(await page.getByRole("meter").count(), 3);
});

journey("an order on a live market counts down, and is cancelled before", async (t, browser) => {
  const event_id = await operate("create_event", {
    ...{ title: "A match", category: "tests", live: true, live_delay_ms: 60_000 },
  });
  const market = { title: "Will they score?", category: "tests", event_id };
  const marketId = await operate("create_market", market);
  const { page, userId } = await arrive(browser, service);
  await page.goto(`/markets/${marketId}`);
  await fillTicket(page, 30, 3);
  await page.getByRole("button", { name: "Buy YES", exact: true }).click();
  await page.getByText(/Released in \d+\.\d s/).waitFor();
  await page.getByRole("button", { name: "Cancel: Buy 3 YES at 30¢" }).click();
  await page.getByText("No open orders in this market").waitFor();
  t.deepEqual(await statusesOf(service, userId), ["cancelled"]);
});

journey("a session that is ended elsewhere signs the page out by itself", async (t, browser) => {
  const { page, userId } = await arrive(browser, service);
  await page.getByRole("heading", { name: "Positions" }).waitFor();
  await operate("end_sessions", { user_id: userId });
  await page.getByText("Sign in to see this page").waitFor();
  t.is(await page.getByRole("heading", { name: "Positions" }).count(), 0);
});

journey("self-exclusion is typed to be confirmed, and ends trading at once", async (t, browser) => {
  const marketId = await service.makeMarket({ title: "Will it end?" });
  const { page } = await arrive(browser, service);
  await page.goto("/account#exclusion");
  const button = page.getByRole("button", { name: "Exclude me for 7 days" });
  t.true(await button.isDisabled());
  await page.getByLabel(/to confirm/).fill("exclude me");
  await button.click();
  await page.getByText("You excluded yourself from trading until").waitFor();

  await page.goto(`/markets/${marketId}`);
  await page.getByRole("heading", { name: "You excluded yourself" }).waitFor();
  t.is(await page.locator(".ticket").count(), 0);
  await page.getByText("Your shares are paid out as their markets resolve").waitFor();
});

journey("the browser computes whether the cash is in the published total", async (t, browser) => {
  const { page } = await arrive(browser, service);
  const section = page.getByRole("region", { name: "Proof of balances" });
  await page.goto("/account#proof");
  await section.getByText("No proof was published yet").waitFor();

  await operate("publish_proof", {});
  const { rows } = await service.database.pool.query(
    `select encode(root, 'hex') as root, total_cents as total
     from ledger.balance_proofs order by id desc limit 1`,
  );
  const { root, total } = rows[0];
  const euros = `€${(Number(total) / 100).toLocaleString("en-IE", { minimumFractionDigits: 2 })}`;
  await page.reload();
  const words = new RegExp(`Your balance of €1,000.00 at .+ is in the published total of ${euros}`);
  await section.getByText(words).waitFor();
  await section.getByText(root).waitFor();

  await section.getByRole("link").click();
  await page.getByRole("heading", { name: "Proof of balances" }).waitFor();
  await page.getByText(root).waitFor();
  await page.getByRole("main").getByText(euros).waitFor();

  // An answer in which the exchange has a cent less of this user.
  await page.route("**/api/v1/me/proof", async (route) => {
    const response = await route.fetch();
    const proof = await response.json();
    await route.fulfill({ response, json: { ...proof, balanceCents: proof.balanceCents - 1 } });
  });
  await page.goto("/account#proof");
  const alert = section.getByRole("alert");
  await alert.getByText("This does not show that your balance of €999.99").waitFor();
  await alert.getByText("do not lead to the root").waitFor();
  t.is(await section.getByText(words).count(), 0);
});

journey("a user who came after the last proof reads that the next has them", async (t, browser) => {
  await operate("publish_proof", {});
  const { page } = await arrive(browser, service);
  await page.goto("/account#proof");
  await page.getByText("Your account is newer than the last proof").waitFor();
  t.is(await page.getByText("is in the published total").count(), 0);
});

journey("a frozen account says so, and not that trading was paused", async (t, browser) => {
  const { page, userId } = await arrive(browser, service);
  const key: string = await operate("create_api_key", { user_id: userId, name: "program" });
  const marketId = await service.makeMarket({ title: "Will it freeze?" });
  const body = { marketId, side: "yes", price: 40, quantity: 5 };
  t.is((await service.call("POST", "/api/v1/orders", { key, body })).status, 201);
  await operate("freeze_user", { user_id: userId, reason: "a question", keep_sessions: true });
  await page.goto("/account");
  await page.getByText("Your account is frozen.").waitFor();
  await page.goto("/portfolio");
  await page.getByText("Your account is frozen.").waitFor();
  await page.getByRole("radio", { name: "Orders", exact: true }).check();
  await page.getByRole("cell", { name: "Cancelled by the exchange" }).waitFor();
});
