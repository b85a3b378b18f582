import test from "ava";
import { testService } from "../../helpers/http/test_service.ts";
import { makeMember } from "../../helpers/http/visitor.ts";
import { signIn } from "../arrive.ts";
import { visit } from "../browser.ts";
import { journey } from "../journey.ts";
import { look, views } from "../views.ts";

/** Shares of an exclusive event are converted and redeemed on its page. */

const service = testService(test, { website: true, playMoneyCents: 100_000 });
const { call, operate } = service;

/** The shares that a user holds in an event, such as "Ann yes 10". */
async function sharesOf(userId: string): Promise<string[]> {
  const { rows } = await service.database.pool.query(
    `select format('%s %s %s', m.outcome_name, p.side, p.quantity) as held
     from trading.positions as p
     join identity.users as u on u.id = p.user_id
     join catalog.markets as m on m.id = p.market_id
     where u.public_id = $1 and p.quantity > 0
     order by 1`,
    [userId],
  );
  return rows.map(({ held }) => held);
}

journey("NO of two of four outcomes become cash and YES of the others", async (t, browser) => {
  const about = { category: "tests" };
  const event_id: string = await operate("create_event", {
    ...{ ...about, title: "Who wins?", exclusive: true },
  });
  const ids: Record<string, string> = {};
  for (const name of ["Ann", "Bob", "Cem", "Dora"]) {
    ids[name] = await operate("create_market", {
      ...{ ...about, event_id, title: `Will ${name} win?`, outcome_name: name },
    });
  }
  const { visitor, person, userId } = await makeMember(service);
  const limits = { dayCents: null, weekCents: null, monthCents: null };
  await visitor.call("PUT", "/api/account/limits", { body: limits });
  const key: string = await operate("create_api_key", { user_id: userId, name: "program" });
  const split = async (name: string, quantity: number): Promise<void> => {
    const body = { marketId: ids[name], quantity };
    t.is((await call("POST", "/api/v1/positions/split", { key, body })).status, 200);
  };
  const path = `/events/${event_id}`;
  const first = await visit(browser, service.url);
  await first.page.goto(`/sign-in?back=${path}`);
  await signIn(first.page, person.email, person.password);
  await first.page.getByText("Exactly one of them resolves YES.").waitFor();
  t.is(await first.page.getByText("Convert NO shares").count(), 0);
  // Open while the user gets the shares elsewhere: 30 euros become 10 and 20 of both sides.
  await split("Ann", 10);
  await split("Bob", 20);
  await first.page.getByRole("heading", { name: "Convert NO shares" }).waitFor();

  for (const view of views) {
    const { page, complaints } = await visit(browser, service.url, view);
    await page.goto(`/sign-in?back=${path}`);
    await signIn(page, person.email, person.password);
    await page.getByText("You get of each of Cem, Dora").waitFor();
    await look(t, page, "convert", view);
    t.deepEqual(complaints, []);
    await page.close();
  }

  const { page } = first;
  const form = page.getByRole("region", { name: "Convert NO shares" });
  const figure = (name: string, value: string) =>
    form.locator(".figures > div", { hasText: name }).getByText(value, { exact: true }).waitFor();
  const shares = form.getByLabel("Shares of each");
  t.is(await shares.inputValue(), "10");
  await figure("You get in cash", "€10.00");
  await figure("You get of each of Cem, Dora", "10 YES");
  await figure("Cash afterwards", "€980.00");
  // Of one outcome alone there is no cash.
  await form.getByLabel("Ann: 10").uncheck();
  t.is(await shares.inputValue(), "20");
  await figure("You get in cash", "€0.00");
  await figure("You get of each of Ann, Cem, Dora", "20 YES");
  await shares.fill("21");
  await form.getByText("You hold fewer shares than that").waitFor();
  await form.getByLabel("Ann: 10").check();
  await shares.fill("4");
  await figure("You get in cash", "€4.00");
  await figure("Cash afterwards", "€974.00");

  // The first request is lost on its way, and the second one has the same key.
  const keys: (string | undefined)[] = [];
  await page.route("**/convert", async (route) => {
    keys.push(route.request().headers()["idempotency-key"]);
    if (keys.length === 1) await route.abort();
    else await route.continue();
  });
  const button = form.getByRole("button", { name: "Convert" });
  const asked = page.getByRole("dialog", { name: "Convert these shares?" });
  const convert = asked.getByRole("button", { name: "Convert" });
  const gain = "€4.00 of cash and 4 YES of each of Cem, Dora.";
  const before = ["Ann no 10", "Ann yes 10", "Bob no 20", "Bob yes 20"];
  // Enter before the preview has come asks when it comes, unless something else was typed.
  const held: (() => Promise<void>)[] = [];
  await page.route("**/convert/preview", (route) => {
    held.push(() => route.continue());
  });
  await shares.fill("3");
  await page.keyboard.press("Enter");
  await form.getByRole("button", { name: "One moment…" }).waitFor();
  // The preview of 4 is known already.
  await shares.fill("4");
  await button.waitFor();
  await shares.fill("5");
  await page.keyboard.press("Enter");
  await form.getByRole("button", { name: "One moment…" }).waitFor();
  t.is(await asked.count(), 0);
  await page.unroute("**/convert/preview");
  for (const answer of held) await answer().catch(() => undefined);
  await asked.getByText("5 NO of each of Ann, Bob become").waitFor();
  await asked.getByRole("button", { name: "Back" }).click();
  await shares.fill("4");
  await figure("You get in cash", "€4.00");
  await button.click();
  await asked.getByText(`4 NO of each of Ann, Bob become ${gain}`).waitFor();
  await asked.getByRole("button", { name: "Back" }).click();
  t.deepEqual(await sharesOf(userId), before);
  await button.click();
  await convert.click();
  await asked.getByText("The server gave no answer.").waitFor();
  t.deepEqual(await sharesOf(userId), before);
  // Also after the question was closed.
  await page.keyboard.press("Escape");
  await button.click();
  await convert.click();
  await page.getByText(`Converted: you got ${gain}`).waitFor();
  t.is(keys.length, 2);
  t.is(keys[0], keys[1]);
  await page.locator(".cash").getByText("€974.00").waitFor();
  t.deepEqual(await sharesOf(userId), [
    ...["Ann no 6", "Ann yes 10", "Bob no 16", "Bob yes 20", "Cem yes 4", "Dora yes 4"],
  ]);

  // Now there are 4 complete sets of YES.
  await page.getByText("You hold 4 shares of YES of every outcome").waitFor();
  await page.getByRole("button", { name: "Redeem for cash" }).click();
  const question = page.getByRole("dialog", { name: "Redeem for €4.00?" });
  await question.getByRole("button", { name: "Redeem for cash" }).click();
  await page.getByText("Redeemed: you got €4.00 of cash.").waitFor();
  await page.locator(".cash").getByText("€978.00").waitFor();
  t.deepEqual(await sharesOf(userId), ["Ann no 6", "Ann yes 6", "Bob no 16", "Bob yes 16"]);
  await form.getByLabel("Bob: 16").waitFor();

  await page.goto("/portfolio");
  await page.getByRole("radio", { name: "Statement" }).check();
  const statement = page.getByRole("region", { name: "Statement", exact: true });
  const link = (what: RegExp) =>
    statement.getByRole("row", { name: what }).getByRole("link", { name: "Who wins?" });
  await link(/^.* YES shares of all outcomes turned into cash/).waitFor();
  t.is(await link(/NO shares turned into YES shares and cash/).getAttribute("href"), path);
  await page.goto(path);

  // A market that is paused ends the offer to convert.
  await operate("set_market_status", { market_id: ids.Dora, status: "paused" });
  await page.reload();
  await page.getByText("Exactly one of them resolves YES.").waitFor();
  t.is(await form.count(), 0);

  // So does a self-exclusion.
  await operate("set_market_status", { market_id: ids.Dora, status: "open" });
  await page.reload();
  await form.waitFor();
  await operate("self_exclude", { user_id: userId, until: "2090-01-01T00:00:00Z" });
  await page.reload();
  await form.waitFor({ state: "detached" });
});
