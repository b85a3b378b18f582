import test from "ava";
import { testService } from "../../helpers/http/test_service.ts";
import { formatDateTime } from "../../../src/website/format.ts";
import { arrive } from "../arrive.ts";
import { visit } from "../browser.ts";
import { journey } from "../journey.ts";

/** What the page of a market says of its outcome: what decides it, and how it came about. */

const service = testService(test, { website: true, playMoneyCents: 100_000 });
const { makeMarket, operate } = service;

journey(
  "rules and source stand on a market, and then its resolution and correction with evidence",
  async (t, browser) => {
    const market_id = await makeMarket({ title: "Will it hail?" });
    const rules = "Hail at the station counts, <b>sleet</b> does not.";
    const setSource = (path: string) =>
      operate("set_market_source", {
        ...{ market_id, rules, source_url: `https://weather.example/${path}` },
      });
    await setSource("station?id=7");
    const { page, complaints } = await visit(browser, service.url);
    await page.goto(`/markets/${market_id}`);
    const panel = page.getByRole("region", { name: "Rules" });
    await panel.getByText("Hail at the station counts, <b>sleet</b> does not.").waitFor();
    const source = panel.getByRole("link", { name: "https://weather.example/station?id=7" });
    t.is(await source.getAttribute("href"), "https://weather.example/station?id=7");
    t.is(await source.getAttribute("rel"), "nofollow noopener noreferrer");

    const sourceOf = (path: string): Promise<void> =>
      panel.getByRole("link", { name: `https://weather.example/${path}` }).waitFor();
    await setSource("reloaded");
    await page.reload();
    await sourceOf("reloaded");
    // The page hears of the status, and reads the rules anew with it.
    await setSource("station?id=7");
    await operate("resolve_market", {
      ...{ market_id, outcome: "no" },
      evidence: "See https://weather.example/day, not javascript:alert(1).",
    });
    await operate("correct_resolution", {
      ...{ market_id, outcome: "custom", yes_payout_cents: 40, reason: "it hailed for a while" },
      evidence: "the log of the station",
    });
    await sourceOf("station?id=7");
    await page.reload();
    const entries = panel.getByRole("listitem");
    await entries.nth(1).waitFor();
    const [resolved, corrected] = await entries.allInnerTexts();
    t.regex(resolved!, /resolved it to NO: a YES share paid €0\.00, a NO share €1\.00/);
    t.regex(
      resolved!,
      /Evidence: See https:\/\/weather\.example\/day, not javascript:alert\(1\)\./,
    );
    t.regex(
      corrected!,
      /corrected it to partly YES, partly NO: a YES share paid €0\.40, a NO share €0\.60/,
    );
    t.regex(corrected!, /Why: it hailed for a while\s+Evidence: the log of the station/);
    const links = await panel
      .getByRole("link")
      .evaluateAll((all) => all.map((link) => link.getAttribute("href")));
    t.deepEqual(links, ["https://weather.example/station?id=7", "https://weather.example/day"]);
    t.deepEqual(complaints, []);
  },
);

journey(
  "an open page shows a correction within a minute, and never figures of two outcomes",
  async (t, browser) => {
    const market_id = await makeMarket({ title: "Will it drizzle?" });
    const resolve = (yes_payout_cents: number) => ({
      ...{ market_id, outcome: "custom", yes_payout_cents },
    });
    await operate("resolve_market", resolve(40));
    const { page, complaints } = await visit(browser, service.url);
    await page.clock.install();
    await page.goto(`/markets/${market_id}`);
    const head = page.locator(".market-head");
    const entries = page.getByRole("region", { name: "Rules" }).getByRole("listitem");
    const paid = (name: string, amount: string): Promise<void> =>
      head.locator(".facts div").filter({ hasText: name }).getByText(amount).waitFor();
    await paid("A YES share paid", "€0.40");
    t.is(await entries.count(), 1);

    // The market itself stays as it was: resolved partly YES, partly NO.
    await operate("correct_resolution", { ...resolve(70), reason: "a typing error" });
    await page.clock.fastForward(60_000);
    await paid("A YES share paid", "€0.70");
    await paid("A NO share paid", "€0.30");
    await head.getByText("Corrected", { exact: true }).waitFor();
    await head.locator(".chance").getByText("€0.70").waitFor();
    t.is(await entries.count(), 2);

    await operate("correct_resolution", { market_id, outcome: "no", reason: "it was dry" });
    const held = Promise.withResolvers<undefined>();
    await page.route("**/resolution", async (route) => {
      await held.promise;
      await route.continue();
    });
    const asked = page.waitForRequest("**/resolution");
    await page.clock.fastForward(60_000);
    await asked;
    const shown = (): Promise<string> => page.locator(".market").innerText();
    t.regex(await shown(), /A YES share paid\s+€0\.70/i);
    t.notRegex(await shown(), /Resolved:? NO/);
    held.resolve(undefined);
    await paid("A YES share paid", "€0.00");
    await paid("A NO share paid", "€1.00");
    await head.getByText("Resolved NO").waitFor();
    t.notRegex(await shown(), /Resolved partly/i);
    t.is(await entries.count(), 3);
    t.deepEqual(complaints, []);
  },
);

journey("the head says until when an outcome can be disputed", async (t, browser) => {
  const market_id = await makeMarket({ title: "Will it thaw?" });
  await operate("resolve_market", { market_id, outcome: "no" });
  const resolution = `/api/v1/markets/${market_id}/resolution`;
  const { resolvedAt } = (await service.call("GET", resolution)).body;
  const { page, complaints } = await visit(browser, service.url);
  const facts = page.locator(".market-head .facts");
  const untilMs = Date.parse(resolvedAt) + 72 * 3_600_000;
  const says = async (name: string): Promise<void> => {
    await page.goto(`/markets/${market_id}`);
    const fact = facts.locator("div").filter({ hasText: name });
    const until = formatDateTime(new Date(untilMs).toISOString());
    await fact.getByText(until, { exact: true }).waitFor();
  };
  await says("Can be disputed until");
  // The page goes by the server's clock.
  await page.route(`**${resolution}`, async (route) => {
    const response = await route.fetch();
    const headers = { ...response.headers(), date: new Date(untilMs + 1000).toUTCString() };
    await route.fulfill({ response, headers });
  });
  await says("Could be disputed until");
  await operate("set_dispute_window", { hours: 0, reason: "a test" });
  await page.goto(`/markets/${market_id}`);
  await facts.getByText("A NO share paid").waitFor();
  t.is(await facts.getByText("be disputed").count(), 0);
  await operate("set_dispute_window", { hours: 72, reason: "a test" });
  t.deepEqual(complaints, []);
});

journey(
  "a user who held shares disputes the outcome once, and reads the answer",
  async (t, browser) => {
    const market_id = await makeMarket({ title: "Will it snow?" });
    const { page, userId, complaints } = await arrive(browser, service);
    const key: string = await operate("create_api_key", { user_id: userId, name: "bot" });
    const sets = { marketId: market_id, quantity: 2 };
    t.is((await service.call("POST", "/api/v1/positions/split", { key, body: sets })).status, 200);
    await operate("resolve_market", { market_id, outcome: "no" });
    await page.goto(`/markets/${market_id}`);
    const panel = page.getByRole("region", { name: "Rules" });
    await panel.getByLabel("What is wrong with this outcome?").fill("It snowed <b>at noon</b>.");
    await panel.getByRole("button", { name: "Dispute the outcome" }).click();
    await panel.getByText("It waits for an answer.").waitFor();
    await panel.getByText("It snowed <b>at noon</b>.").waitFor();
    t.is(await panel.getByRole("button", { name: "Dispute the outcome" }).count(), 0);

    const { rows } = await service.database.pool.query(
      "select dispute_id from admin.disputes where user_id = $1",
      [userId],
    );
    await operate("answer_dispute", { ...rows[0], answer: "Not at the station." });
    await page.reload();
    await panel.getByText("Answer: Not at the station.").waitFor();
    t.is(await panel.getByLabel("What is wrong with this outcome?").count(), 0);

    await operate("correct_resolution", { market_id, outcome: "yes", reason: "it did snow" });
    await page.reload();
    await panel.getByLabel("What is wrong with this outcome?").waitFor();
    await panel.getByText("Answer: Not at the station.").waitFor();

    const other = await arrive(browser, service);
    await other.page.goto(`/markets/${market_id}`);
    await other.page.getByText("You hold no shares in this market.").waitFor();
    t.is(await other.page.getByLabel("What is wrong with this outcome?").count(), 0);
    t.deepEqual([...complaints, ...other.complaints], []);
  },
);
