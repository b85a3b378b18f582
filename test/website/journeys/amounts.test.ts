import test from "ava";
import type { Locator, Page } from "playwright-core";
import { testService } from "../../helpers/http/test_service.ts";
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
    await page.getByRole("radio", { name: "Sell" }).check();
    t.is(await amounts.count(), 0);
    t.deepEqual(complaints, []);

    const desk = await visit(browser, service.url);
    await desk.page.goto(`/markets/${marketId}`);
    await desk.page.getByRole("heading", { name: "Order book" }).waitFor();
    t.is(await desk.page.getByRole("group", { name: "Choose a side" }).count(), 0);
  },
);
