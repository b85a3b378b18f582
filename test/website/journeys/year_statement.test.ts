import { readFile } from "node:fs/promises";
import test from "ava";
import type { Page } from "playwright-core";
import { testService } from "../../helpers/http/test_service.ts";
import { until } from "../../helpers/until.ts";
import { arrive } from "../arrive.ts";
import { journey } from "../journey.ts";
import { buy, makeOffered } from "../steps.ts";
import { look } from "../views.ts";

/** The tax year in the portfolio: its figures, its files, and its print. */

const service = testService(test, { website: true, playMoneyCents: 100_000 });

async function savedBy(page: Page, button: string): Promise<string> {
  const download = page.waitForEvent("download");
  await page.getByRole("button", { name: button }).click();
  return await readFile(await (await download).path(), "utf8");
}

for (const width of [390, 1280]) {
  journey(`a year as text, as files and on paper, ${width} px wide`, async (t, browser) => {
    const title = `Will the year end at ${width}?`;
    const { marketId } = await makeOffered(service, title);
    const { page, complaints } = await arrive(browser, service, { width });
    await page.goto(`/markets/${marketId}`);
    // 5 x 60 cents, and 8.4 cents of fee, rounded up; the resolution pays 5 euros.
    await buy(page, 60, 5);
    await page.getByText("5 shares traded").waitFor();
    await service.operate("resolve_market", { market_id: marketId, outcome: "yes" });
    await page.goto("/portfolio");
    await page.getByRole("radio", { name: "Tax year" }).check();
    const year = page.locator(".printed");
    await year.getByRole("row", { name: "At the end €1,001.91" }).waitFor();
    for (const name of [
      "At the start €0.00",
      "Bonus (1) +€1,000.00",
      "Trade (1) -€3.09",
      "Payout of a resolved market (1) +€5.00",
      `${title} €0.09 +€1.91`,
    ]) {
      t.is(await year.getByRole("row", { name }).count(), 1, name);
    }
    for (const theme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme: theme });
      await look(t, page, "tax-year", { theme, width });
    }

    const file = JSON.parse(await savedBy(page, "Save as JSON"));
    t.deepEqual([file.closingCents, file.realisedCents, file.feeCents], [100_191, 191, 9]);
    const amounts = file.entries.map((entry: { amountCents: number }) => entry.amountCents);
    t.deepEqual(amounts, [100_000, -309, 500]);
    t.is((await savedBy(page, "Save as CSV")).trim().split(/\r?\n/).length, 4);

    await page.evaluate("window.print = () => { window.printed = true; }");
    await page.getByRole("button", { name: "Print with all movements" }).click();
    await until("it prints", () => page.evaluate("window.printed === true"));
    await page.emulateMedia({ media: "print" });
    t.true(await year.getByRole("row", { name: /Trade -€3.09 €996.91$/ }).isVisible());
    t.false(await page.getByRole("heading", { name: "Portfolio" }).isVisible());
    t.false(await page.getByRole("button", { name: "Save as JSON" }).isVisible());
    t.deepEqual(complaints, []);
  });
}
