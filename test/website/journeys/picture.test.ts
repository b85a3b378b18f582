import test from "ava";
import { testService } from "../../helpers/http/test_service.ts";
import { arrive } from "../arrive.ts";
import { makeMarketWithPast } from "../busy_exchange.ts";
import { journey } from "../journey.ts";
import { buy, fillTicket, previewed } from "../steps.ts";

/**
 * Makes the picture of the README:
 * `PICTURE=docs/images/market.webp npm run test:website`
 */

const service = testService(test, { website: true, playMoneyCents: 100_000 });
const file = process.env.PICTURE;

journey(
  "a market that was traded for a week has its line, its book and a ticket",
  async (t, browser) => {
    const marketId = await makeMarketWithPast(service);
    const { page, complaints } = await arrive(browser, service);
    await page.goto(`/markets/${marketId}`);
    await buy(page, 70, 30);
    await page.getByText("30 shares traded").waitFor();
    await page.reload();
    await page.getByText("YES · 30 shares").waitFor();
    await fillTicket(page, 66, 50);
    await previewed(page);
    await page.locator(".chart-line").first().waitFor();
    const label = page.getByRole("img", { name: /^Price of YES in the last week/ });
    t.regex((await label.getAttribute("aria-label")) ?? "", /^Price of YES .*: from 3\d% to 6\d%/);
    t.deepEqual(complaints, []);
    if (file !== undefined) await page.screenshot({ path: file });
  },
);
