import test from "ava";
import type { Page } from "playwright-core";
import { testService } from "../../helpers/http/test_service.ts";
import { makeMember, takeMails } from "../../helpers/http/visitor.ts";
import { visit } from "../browser.ts";
import { makeBusyExchange } from "../busy_exchange.ts";
import type { BusyExchange } from "../busy_exchange.ts";
import { journey } from "../journey.ts";
import { fillTicket, previewed } from "../steps.ts";
import { look, views } from "../views.ts";

/**
 * Every page in both themes, on a phone and on a desk: nothing sticks out, axe finds nothing, the
 * browser complains about nothing. With SCREENSHOTS, the pictures are kept in that folder.
 */

const service = testService(test, { website: true, playMoneyCents: 100_000 });

let exchange: BusyExchange;
test.serial.before("fill the exchange", async () => {
  exchange = await makeBusyExchange(service);
  await service.operate("publish_proof", {});
});

for (const view of views) {
  const { theme, width } = view;
  journey(`public pages in the ${theme} theme, ${width} px wide`, async (t, browser) => {
    const { page, complaints } = await visit(browser, service.url, view);
    const go = async (path: string, name: string, text: string): Promise<void> => {
      await page.goto(path);
      await page.getByText(text).first().waitFor();
      await page.waitForLoadState("networkidle");
      await look(t, page, name, view);
    };
    const { emptyMarketId, eventId, pausedMarketId, resolvedMarketId } = exchange;
    await go("/", "home", "Will a team from Spain");
    await go("/events", "events", "Next ECB rate decision");
    await go("/sign-in", "sign-in", "Forgot your password?");
    await go("/sign-up", "sign-up", "of play money");
    await go("/reset", "reset", "Send me a link");
    for (const [path, name, text] of await linksOfMails()) await go(path, name, text);
    await go("/help", "help", "Fee calculator");
    await go("/proof", "proof", "all users together had");
    await go("/pages/help-lines", "own-page", "These lines are free");
    await page.getByRole("link", { name: "Privacy" }).click();
    await page.getByRole("heading", { name: "Privacy" }).waitFor();
    await page.getByRole("link", { name: "How it works" }).click();
    await page.getByText("Fee calculator").waitFor();
    await page.goBack();
    await page.getByRole("heading", { name: "Privacy" }).waitFor();
    await go("/leaderboard", "leaderboard", "Settled volume");
    await go("/portfolio", "portfolio", "Sign in to see this page");
    await go(`/events/${eventId}`, "event", "The next regular monetary policy meeting");
    await go("/?query=nothing-like-this", "nothing-found", "No markets found");
    // Their streams stay open, so the network is never idle.
    const markets = { empty: emptyMarketId, paused: pausedMarketId, resolved: resolvedMarketId };
    for (const [name, id] of Object.entries(markets)) {
      await page.goto(`/markets/${id}`);
      await page.getByText("No trades yet", { exact: true }).waitFor();
      await page.locator(".chart-empty").waitFor();
      await page.getByRole("link", { name: "Next ECB rate decision" }).waitFor();
      await look(t, page, `market-${name}`, view);
    }
    t.deepEqual(complaints, []);

    await go("/nowhere", "not-found", "There is no such page");
    await go("/pages/nowhere", "no-own-page", "There is no such page");
    await go(`/markets/${eventId}`, "no-market", "There is no such market");
    t.is(await page.title(), "Market not found · pgmarkets");
    await go(`/events/${emptyMarketId}`, "no-event", "There is no such event");
    t.is(await page.title(), "Event not found · pgmarkets");
    for (const name of ["confirm", "reset", "sign-in"]) {
      await go(`/${name}#jl_unknown`, `old-${name}`, "This link was used before or is too old");
    }
    t.true(
      complaints.every((text) => /40[04]/.test(text)),
      complaints.join("\n"),
    );
  });

  journey(`own pages in the ${theme} theme, ${width} px wide`, async (t, browser) => {
    const { page, complaints } = await visit(browser, service.url, view);
    await signIn(page);
    const [marketId = ""] = exchange.marketIds;
    await page.goto(`/markets/${marketId}`);
    await fillTicket(page, 40, 25);
    await previewed(page);
    await page.locator(".chart-end").first().waitFor();
    await look(t, page, "market", view);
    await page.getByRole("button", { name: "Buy YES", exact: true }).click();
    await page.getByText("25 shares traded").waitFor();
    await fillTicket(page, 20, 25);
    await page.getByRole("button", { name: "Buy YES", exact: true }).click();
    await page.getByText("waits in the book for").waitFor();
    await page
      .getByRole("button", { name: /^Change/ })
      .first()
      .click();
    await page.getByRole("button", { name: /^Show all \d+ levels$/ }).click();
    await page.getByLabel("Shares", { exact: true }).fill("25");
    await previewed(page);
    await look(t, page, "market-own", view);

    await page.goto("/portfolio");
    await page
      .getByRole("region", { name: "Trades", exact: true })
      .getByText("Bought YES")
      .filter({ visible: true })
      .waitFor();
    await look(t, page, "own-portfolio", view);
    for (const name of ["Orders", "Statement"]) {
      await page.getByRole("radio", { name }).check();
      await page.getByRole("region", { name, exact: true }).waitFor();
      await look(t, page, `own-${name.toLowerCase()}`, view);
    }
    await service.operate("publish_proof", {});
    await page.goto("/account");
    await page.getByText("This one").waitFor();
    await page.getByText("No keys yet").waitFor();
    await page.getByText("is in the published total of").waitFor();
    await look(t, page, "own-account", view);
    await page.getByLabel("Name of the new key").fill("my bot");
    await page.getByRole("button", { name: "Create key" }).click();
    await page.getByRole("button", { name: "I have it" }).click();
    await page.getByRole("button", { name: "Revoke my bot" }).click();
    await page.getByRole("dialog").waitFor();
    await look(t, page, "own-dialog", view);
    t.deepEqual(complaints, []);
  });

  journey(`pages whose data fails, ${theme}, ${width} px wide`, async (t, browser) => {
    const { page } = await visit(browser, service.url, view);
    await signIn(page);
    const [marketId = ""] = exchange.marketIds;
    const market = `/markets/${marketId}`;
    const failures: [name: string, path: string, fails: string, status: number, then: string][] = [
      ["home", "/", "/api/v1/markets?*", 503, "Will a team from Spain"],
      ["events", "/events", "/api/v1/events?*", 503, "Next ECB rate decision"],
      ["market", market, `/api/v1${market}`, 500, "Rules"],
      ["portfolio", "/portfolio", "/api/v1/orders", 503, "Shares at the last"],
      ["history", "/portfolio", "/api/v1/me/fills?*", 500, "Nothing here yet"],
      ["leaderboard", "/leaderboard", "/api/v1/leaderboard?*", 500, "Nobody has realised"],
      ["account", "/account", "/api/account", 500, "Signed-in browsers"],
    ];
    for (const [name, path, fails, status, then] of failures) {
      const pattern = `**${fails}`;
      await page.route(pattern, (route) => route.fulfill({ status, json: { error: "No" } }));
      await page.goto(path);
      await page.getByText("This could not be loaded").waitFor();
      await page.getByText("Something went wrong on our side. Please try again.").waitFor();
      await look(t, page, `failed-${name}`, view);
      await page.unroute(pattern);
      await page.getByRole("button", { name: "Try again" }).click();
      await page.getByText(then).first().waitFor();
      t.is(await page.getByText("This could not be loaded").count(), 0);
    }
  });
}

/** Links of each kind that have a page, with a word of it. */
async function linksOfMails(): Promise<[path: string, name: string, text: string][]> {
  const { visitor, person, userId } = await makeMember(service);
  const { email, password } = person;
  const newEmail = `new-${email}`;
  await visitor.call("POST", "/api/account/email", { body: { email: newEmail, password } });
  await visitor.call("POST", "/api/account/password-reset", { body: { email } });
  const mails = await takeMails(service.worker);
  const tokenOf = (kind: string) => mails.find((mail) => mail.kind === kind)?.token;
  return [
    [`/confirm#${tokenOf("confirm_email")}`, "confirm-link", "its present one no more"],
    [`/reset#${tokenOf("password_reset")}`, "reset-link", "1 signed-in browser"],
    [await service.operate("sign_in_link", { user_id: userId }), "sign-in-link", "of our support"],
  ];
}

/** Somebody with limits, money and no orders yet. */
async function signIn(page: Page): Promise<void> {
  const { visitor, person } = await makeMember(service);
  const limits = { dayCents: 10_000, weekCents: 20_000, monthCents: null };
  await visitor.call("PUT", "/api/account/limits", { body: limits });
  await page.goto("/sign-in?back=/portfolio");
  await page.getByLabel("E-mail").fill(person.email);
  await page.getByLabel("Password").fill(person.password);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.waitForURL("/portfolio");
}
