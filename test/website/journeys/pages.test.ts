import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import AxeBuilder from "@axe-core/playwright";
import test from "ava";
import type { Pool } from "pg";
import type { Page } from "playwright-core";
import { testService } from "../../helpers/http/test_service.ts";
import { makeMember } from "../../helpers/http/visitor.ts";
import { openBrowser, scrollsSideways, visit } from "../browser.ts";
import { makeBusyExchange } from "../busy_exchange.ts";

/**
 * Every page in both themes, on a phone and on a desk: nothing sticks out, axe finds nothing, the
 * browser complains about nothing. With SCREENSHOTS, the pictures are kept in that folder.
 */

const service = testService(test, { website: true });
const folder = process.env.SCREENSHOTS;

let worker: Pool;
let marketIds: string[];
test.serial.before("fill the exchange", async () => {
  worker = service.database.connectAs("exchange_worker");
  await service.operate("set_sign_up", { policy: "open", play_money_cents: 100_000 });
  ({ marketIds } = await makeBusyExchange(service));
});

for (const theme of ["light", "dark"] as const) {
  for (const width of [375, 1280]) {
    test.serial(`pages in the ${theme} theme, ${width} px wide`, async (t) => {
      const browser = await openBrowser(t);
      if (browser === undefined) return;
      const { page, complaints } = await visit(browser, service.url, { width, theme });
      const look = async (name: string): Promise<void> => {
        await keep(page, `${name}-${theme}-${width}`);
        t.false(await scrollsSideways(page), `${name} scrolls sideways`);
        const { violations } = await new AxeBuilder({ page }).analyze();
        const found = violations.flatMap(({ id, nodes }) =>
          nodes.map(({ target }) => `${name}: ${id} at ${target.join(" ")}`),
        );
        t.deepEqual(found, []);
      };

      await page.goto("/");
      await page.getByText("Will a team from Spain").waitFor();
      await look("home");
      for (const name of ["sign-in", "sign-up", "reset", "help", "leaderboard", "portfolio"]) {
        await page.goto(`/${name}`);
        await page.waitForLoadState("networkidle");
        await look(name);
      }
      await page.goto(`/?query=nothing-like-this`);
      await page.getByText("No markets found").waitFor();
      await look("nothing-found");

      await signIn(page);
      const [marketId = ""] = marketIds;
      await page.goto(`/markets/${marketId}`);
      await page.getByLabel("Shares", { exact: true }).fill("25");
      await page.getByLabel("Price", { exact: true }).fill("40");
      await page.getByText("Cash afterwards").waitFor();
      await page.locator("canvas").first().waitFor();
      await look("market");
      await page.getByRole("button", { name: "Buy YES", exact: true }).click();
      await page.getByText("25 shares traded").waitFor();
      await page.getByLabel("Price", { exact: true }).fill("20");
      await page.getByRole("button", { name: "Buy YES", exact: true }).click();
      await page.getByText("waits in the book for").waitFor();
      await page
        .getByRole("button", { name: /^Change/ })
        .first()
        .click();
      await look("market-own");
      for (const name of ["portfolio", "account"]) {
        await page.goto(`/${name}`);
        await page.getByRole("heading", { level: 1 }).waitFor();
        await page.waitForTimeout(400);
        await look(`own-${name}`);
      }
      t.deepEqual(complaints, []);

      await page.goto("/nowhere");
      await look("not-found");
      t.true(complaints.every((text) => text.includes("404")));
    });
  }
}

/** Somebody with limits, money and no orders yet. */
async function signIn(page: Page): Promise<void> {
  const { visitor, person } = await makeMember(service, worker);
  const limits = { dayCents: 10_000, weekCents: 20_000, monthCents: null };
  await visitor.call("PUT", "/api/account/limits", { body: limits });
  await page.goto("/sign-in?back=/portfolio");
  await page.getByLabel("E-mail").fill(person.email);
  await page.getByLabel("Password").fill(person.password);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.waitForURL("/portfolio");
}

async function keep(page: Page, name: string): Promise<void> {
  if (folder === undefined) return;
  await mkdir(folder, { recursive: true });
  await page.screenshot({ path: join(folder, `${name}.png`), fullPage: true });
}
