import test from "ava";
import type { Locator, Page } from "playwright-core";
import { testService } from "../../helpers/http/test_service.ts";
import { until } from "../../helpers/until.ts";
import { arrive } from "../arrive.ts";
import { scrollsSideways, visit } from "../browser.ts";
import { journey } from "../journey.ts";
import { kindOfOrder, makeOffered, sharesOf } from "../steps.ts";

/** Buying for an amount, and the bar of both sides on phones. */

const service = testService(test, { website: true, playMoneyCents: 3000 });

/** Where it is: a click of Playwright would scroll before. */
async function tap(page: Page, button: Locator): Promise<void> {
  const { x, y, width, height } = (await button.boundingBox())!;
  await page.mouse.click(x + width / 2, y + height / 2);
}

journey("an impossible amount is said at its field before it is sent", async (t, browser) => {
  const { marketId } = await makeOffered(service, "Will it be too much?");
  const { page, userId, complaints } = await arrive(browser, service);
  const sent: string[] = [];
  page.on("request", (request) => {
    if (new URL(request.url()).pathname === "/api/v1/orders" && request.method() === "POST") {
      sent.push(request.url());
    }
  });
  await page.goto(`/markets/${marketId}`);
  const says = async (label: string, typed: string, words: string): Promise<void> => {
    const input = page.getByRole("textbox", { name: label, exact: true });
    await input.fill(typed);
    await page.locator(".field").filter({ has: input }).getByText(words).waitFor();
    t.is(await input.getAttribute("aria-invalid"), "true", typed);
  };
  const isFine = async (label: string, typed: string): Promise<void> => {
    const input = page.getByRole("textbox", { name: label, exact: true });
    await input.fill(typed);
    await page.locator(".preview dl").first().waitFor();
    t.is(await page.locator(".ticket [aria-invalid=true]").count(), 0, typed);
  };
  const noAmount = "Give an amount up to €10,000, such as 25 or 25.50.";
  for (const typed of ["0", "-5", "1.234", "10000.01"]) await says("Amount", typed, noAmount);
  await says("Amount", "31", "You have €30.00 in cash. Order less.");
  await isFine("Amount", "30");

  await kindOfOrder(page, "Shares now").check();
  const noShares = "Give a whole number of shares, from 1 to 10,000.";
  for (const typed of ["0", "1.5", "-1", "10001"]) await says("Shares", typed, noShares);
  // 48 x 60 cents and 7% of 48 x 0.6 x 0.4 = 80.64 cents are €29.61; with one more it is €30.23.
  const cash = "You have €30.00 in cash: that is enough for 48 shares at most.";
  await says("Shares", "49", cash);
  await isFine("Shares", "48");

  await kindOfOrder(page, "Limit").check();
  await says("Shares", "49", cash);
  for (const typed of ["0", "100", "5.5"]) {
    await says("Price", typed, "Give a price from 1 to 99 cents.");
  }
  await page.getByLabel("Price", { exact: true }).fill("60");
  // A share costs 60 and 1.68 cents of fee.
  const tooLittle = "This does not pay for one share at this price, with its fee.";
  await says("Amount", "0.61", tooLittle);
  await isFine("Amount", "0.62");

  await page.getByRole("radio", { name: "Sell" }).check();
  await page.getByLabel("Price", { exact: true }).fill("60");
  const noneHeld = "You hold no YES shares to sell.";
  await says("Shares", "1", noneHeld);
  t.deepEqual(sent, []);

  // One sentence, also after it was sent all the same.
  const ticket = page.locator(".ticket");
  const sentences = () => ticket.locator(".field-error, .notice-bad").allInnerTexts();
  t.deepEqual(await sentences(), [noneHeld]);
  await page.getByRole("button", { name: "Sell YES", exact: true }).click();
  await ticket.locator(".notice-bad").getByText(noneHeld).waitFor();
  t.is((await sentences()).length, 1);
  t.is(sent.length, 1);
  t.is(await sharesOf(service, userId), 0);
  t.deepEqual(
    complaints.filter((line) => !line.includes("400")),
    [],
  );
});

journey(
  "a bar on phones leads to the ticket, where an amount becomes shares",
  async (t, browser) => {
    const { marketId } = await makeOffered(service, "Will the sun shine?");
    const { page, userId, complaints } = await arrive(browser, service, { width: 390 });
    await page.goto(`/markets/${marketId}`);
    const bar = page.getByRole("group", { name: "Choose a side" });
    const yes = bar.getByRole("button", { name: "Yes 60¢" });
    const amounts = page.getByRole("group", { name: "Buy for an amount, fee included" });
    const shares = page.getByLabel("Shares", { exact: true });
    // It is in the window before anybody scrolls.
    await yes.waitFor();
    const { y, height } = (await bar.boundingBox())!;
    t.true(y + height <= 800, `${y} ${height}`);
    t.false(await scrollsSideways(page));
    await tap(page, bar.getByRole("button", { name: "No –" }));
    await page.getByRole("button", { name: "Buy NO", exact: true }).waitFor();
    t.true(await kindOfOrder(page, "Amount").isChecked(), "the ticket begins with it");
    await kindOfOrder(page, "Limit").check();
    t.true(await amounts.getByRole("button", { name: "€20" }).isDisabled());
    // The ticket has both sides: the bar is away while it is in view.
    await yes.waitFor({ state: "hidden" });
    await page.evaluate("scrollTo(0, 0)");
    await yes.waitFor();
    await tap(page, yes);
    const amount = page.getByRole("textbox", { name: "Amount" });
    t.true(await amount.evaluate((field) => field === field.ownerDocument.activeElement));
    const order = page.locator(".ticket input:not([type=radio])");
    t.is(await order.first().getAttribute("name"), "budget", "the amount is first");
    const field = (await amount.boundingBox())!;
    t.true(field.y >= 0 && field.y + field.height <= y);

    // A share costs 60 and 1.68 cents of fee.
    for (const [label, count, pays] of [
      ["€5", 8, "€4.94"],
      ["€20", 32, "€19.74"],
      ["Max", 48, "€29.61"],
    ] as const) {
      await amounts.getByRole("button", { name: label, exact: true }).click();
      t.is(await shares.inputValue(), String(count));
      await page.locator(".preview").getByText(pays, { exact: true }).first().waitFor();
    }
    // Another price is another number of shares; a number of shares is no amount.
    await amount.fill("9.99");
    t.is(await shares.inputValue(), "16");
    await page.getByLabel("Price", { exact: true }).fill("50");
    t.is(await shares.inputValue(), "19");
    await page.getByLabel("Price", { exact: true }).fill("60");
    await shares.fill("4");
    t.is(await amount.inputValue(), "");
    await page.locator(".preview").getByText("€2.47", { exact: true }).first().waitFor();
    await kindOfOrder(page, "Amount").check();
    await amounts.getByRole("button", { name: "€5", exact: true }).click();
    t.is(await amount.inputValue(), "5.00");
    await page.locator(".preview").getByText("€4.94", { exact: true }).first().waitFor();
    await page.getByRole("button", { name: "Buy YES", exact: true }).click();
    await page.getByText("8 shares traded").waitFor();
    t.is(await sharesOf(service, userId), 8);
    const limits = { day_cents: 1000, week_cents: 2000, month_cents: null };
    await service.operate("set_loss_limits", { user_id: userId, ...limits, immediate: true });
    await page.reload();
    await amounts.getByRole("button", { name: "Max" }).click();
    t.is(await amount.inputValue(), "5.06", "€4.94 of the limit are used");
    await page.locator(".preview").getByText("€4.94", { exact: true }).first().waitFor();
    // What is left of the limit is renewed with the cash, and not only with the next refusal.
    const isRenewal = (url: string): boolean => new URL(url).pathname === "/api/account";
    const options = { timeout: 5000 };
    const renewed = page.waitForResponse((response) => isRenewal(response.url()), options);
    await page.getByRole("button", { name: "Buy YES", exact: true }).click();
    await renewed;
    await until("the limit is renewed", async () => {
      await amounts.getByRole("button", { name: "Max" }).click();
      return (await amount.inputValue()) === "0.12";
    });
    await page.getByRole("radio", { name: "Sell" }).check();
    t.is(await amounts.count(), 0);
    t.deepEqual(complaints, []);

    const desk = await visit(browser, service.url);
    await desk.page.goto(`/markets/${marketId}`);
    await desk.page.getByRole("heading", { name: "Order book" }).waitFor();
    t.is(await desk.page.getByRole("group", { name: "Choose a side" }).count(), 0);
  },
);
