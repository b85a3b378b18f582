import { readFile } from "node:fs/promises";
import test from "ava";
import { testClock } from "../../helpers/database/test_clock.ts";
import { testService } from "../../helpers/http/test_service.ts";
import { makeMember } from "../../helpers/http/visitor.ts";
import { signIn } from "../arrive.ts";
import { visit } from "../browser.ts";
import { journey } from "../journey.ts";
import { makeOffered } from "../steps.ts";
import { look, views } from "../views.ts";

/** The value of an account by day: its picture, its table and its file. */

const service = testService(test, { website: true, playMoneyCents: 0 });
const { call, operate } = service;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);
const shown = new Intl.DateTimeFormat("en-IE", { dateStyle: "medium", timeZone: "UTC" });

journey(
  "three days of an account, with a deposit, a trade and another deposit",
  async (t, browser) => {
    const clock = testClock(service.database.pool);
    const today = Math.floor(Date.now() / DAY_MS) * DAY_MS;
    const noon = (daysAgo: number): Date => new Date(today - daysAgo * DAY_MS + DAY_MS / 2);
    await clock.freeze(noon(3));
    const { marketId, maker } = await makeOffered(service, "Will the sun shine?");
    const { visitor, person, userId } = await makeMember(service);
    const limits = { dayCents: null, weekCents: null, monthCents: null };
    await visitor.call("PUT", "/api/account/limits", { body: limits });
    await operate("deposit", { user_id: userId, amount_cents: 5000, reference: "first" });

    // 10 shares at 60, and 16.8 cents of fee. Then somebody bids 30.
    await clock.freeze(noon(2));
    const key: string = await operate("create_api_key", { user_id: userId, name: "bot" });
    const order = { marketId, side: "yes", price: 60, quantity: 10 };
    t.is((await call("POST", "/api/v1/orders", { key, body: order })).status, 201);
    const bid = { marketId, side: "yes", price: 30, quantity: 4 };
    t.is((await call("POST", "/api/v1/orders", { key: maker.key, body: bid })).status, 201);
    await clock.freeze(noon(1));
    await operate("deposit", { user_id: userId, amount_cents: 1000, reference: "second" });
    await clock.freeze(new Date(Math.max(Date.now(), today + HOUR_MS)));
    for (let done = 1; done > 0;) {
      const { rows } = await service.worker.query("select jobs.value_accounts() as done");
      done = Number(rows[0].done);
    }
    await clock.release();

    for (const view of views) {
      const { page, complaints } = await visit(browser, service.url, view);
      await page.goto("/sign-in?back=/portfolio");
      await signIn(page, person.email, person.password);
      const panel = page.getByRole("region", { name: "Account value by day" });
      const picture = panel.getByRole("img");
      await picture.waitFor();
      t.is(
        await picture.getAttribute("aria-label"),
        "Account value by day: from €50.00 to €56.83, paid in €60.00",
      );
      // A third of the picture each: 50, 46.83, 56.83.
      await panel.locator(".chart-line").first().waitFor();
      const path = (await panel.locator(".chart-picture .line-0").first().getAttribute("d")) ?? "";
      const lefts = [...path.matchAll(/[MH]([\d.]+)/g)].map(([, x]) => Number(x));
      const width = lefts.at(-1) ?? 0;
      for (const [index, left] of lefts.entries()) {
        t.true(Math.abs(left - (index * width) / 3) < 0.1, path);
      }
      await picture.hover({ position: { x: width / 2, y: 100 } });
      await panel.getByText(`${shown.format(noon(2))}: €46.83, €50.00`).waitFor();

      await panel.getByText("The same as a table").click();
      const rows = await panel.getByRole("row").allInnerTexts();
      t.deepEqual(
        rows.map((row) => row.split("\t").map((cell) => cell.trim())),
        [
          ["Day (UTC)", "Value", "Cash", "Shares", "Paid in"],
          [shown.format(noon(1)), "€56.83", "€53.83", "€3.00", "€60.00"],
          [shown.format(noon(2)), "€46.83", "€43.83", "€3.00", "€50.00"],
          [shown.format(noon(3)), "€50.00", "€50.00", "€0.00", "€50.00"],
        ],
      );
      const download = page.waitForEvent("download");
      await panel.getByRole("button", { name: "Save as CSV" }).click();
      t.is(
        await readFile(await (await download).path(), "utf8"),
        [
          "day,valueCents,balanceCents,exitCents,depositsCents",
          `${dayOf(Number(noon(3)))},5000,5000,0,5000`,
          `${dayOf(Number(noon(2)))},4683,4383,300,5000`,
          `${dayOf(Number(noon(1)))},5683,5383,300,6000`,
          "",
        ].join("\r\n"),
      );
      await look(t, page, "account-value", view);
      for (const period of ["90 d", "1 y"]) {
        const answer = page.waitForResponse((response) => response.url().includes("account/value"));
        await panel.getByRole("radio", { name: period }).check();
        t.is((await (await answer).json()).data.length, 3);
      }
      t.deepEqual(complaints, []);
    }
  },
);
