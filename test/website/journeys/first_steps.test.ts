import test from "ava";
import { testService } from "../../helpers/http/test_service.ts";
import { anybody, makeMember } from "../../helpers/http/visitor.ts";
import { until } from "../../helpers/until.ts";
import { visit } from "../browser.ts";
import { journey } from "../journey.ts";
import { fillTicket, kindOfOrder, makeOffered } from "../steps.ts";
import { look, views } from "../views.ts";

/** The way of a visitor from the first page to the first trade. */

const service = testService(test, { website: true, playMoneyCents: 100_000 });
const { operate } = service;

for (const view of views) {
  journey(
    `from play money to a trade, ${view.theme}, ${view.width} px wide`,
    async (t, browser) => {
      const { marketId } = await makeOffered(service, "Will it begin?");
      const { page, complaints } = await visit(browser, service.url, view);
      await page.goto("/");
      await page.getByText("Start with €1,000 of play money").waitFor();
      await look(t, page, "play-money", view);

      await page.goto(`/markets/${marketId}`);
      await page.getByRole("radio", { name: /^NO/ }).check();
      await page.getByRole("radio", { name: /^YES/ }).check();
      await fillTicket(page, 61, 7);
      await page.getByText("More options").click();
      await page.getByRole("checkbox", { name: /^Immediate or cancel/ }).check();
      // 7 x 60 cents and 7% of 7 x 0.6 x 0.4 = 11.8 cents, by the book.
      await page.getByText("If YES: you win +€2.68 (pays €7.00)").waitFor();
      await page.locator(".preview").getByText("€4.32", { exact: true }).first().waitFor();
      await look(t, page, "ticket-of-a-visitor", view);
      await page.getByRole("link", { name: "Sign up and buy" }).click();

      const person = anybody();
      await page.getByLabel("E-mail").fill(person.email);
      await page.getByLabel("Password").fill(person.password);
      t.is(await page.locator("form input").count(), 2);
      await look(t, page, "sign-up-two-fields", view);
      await page.getByRole("button", { name: "Make my account" }).click();

      await page.getByRole("heading", { name: "One more step before you can trade" }).waitFor();
      t.is(await page.locator(".section").count(), 1, "no wall of settings");
      const ends = "An account that is not confirmed within 30 days ends.";
      await page.getByText(ends).waitFor();
      const limit = (name: string) => page.getByLabel(name).inputValue();
      const limits = async () => [
        await limit("A day"),
        await limit("7 days"),
        await limit("30 days"),
      ];
      const low = page.getByRole("button", { name: /^Low/ });
      const none = page.getByRole("button", { name: "No limits" });
      t.is(await none.getAttribute("aria-pressed"), "true");
      await low.click();
      t.deepEqual(await limits(), ["20.00", "50.00", "100.00"]);
      t.is(await low.getAttribute("aria-pressed"), "true");
      await none.click();
      t.deepEqual(await limits(), ["", "", ""]);
      await page.getByRole("button", { name: /^Medium/ }).click();
      await page.getByLabel("A day").fill("45");
      await look(t, page, "first-limits", view);
      await page.getByRole("button", { name: "Confirm my limits" }).click();

      await page.waitForURL(`/markets/${marketId}`);
      await page.getByText(/^If YES: you win/).waitFor();
      t.is(await page.getByLabel("Price", { exact: true }).inputValue(), "61");
      t.is(await page.getByLabel("Shares", { exact: true }).inputValue(), "7");
      await page.getByText("More options: Immediate or cancel").waitFor();
      await page.getByRole("button", { name: "Buy YES", exact: true }).click();
      await page.getByText("7 shares traded").waitFor();
      await page.reload();
      await page.getByText("YES · 7 shares").waitFor();
      const amount = page.getByRole("textbox", { name: "Amount" });
      t.is(await amount.inputValue(), "", "it is done");
      t.is(await page.getByLabel("Shares", { exact: true }).count(), 0, "it begins with an amount");

      await page.goto("/account");
      t.is(await page.getByLabel("A day").inputValue(), "45.00");
      t.is(await page.getByRole("textbox", { name: "30 days" }).inputValue(), "400.00");
      const handle = await page.getByLabel("Handle").inputValue();
      t.is(await page.getByLabel("Name", { exact: true }).inputValue(), handle);
      t.false(person.email.includes(handle), "nothing of the address is shown to others");
      const notice = page.locator(".notice").filter({ hasText: ends });
      await notice.getByText("cannot make API keys or passkeys").waitFor();
      await notice.getByText("if you sign out you cannot sign in again").waitFor();

      const dialog = page.getByRole("dialog");
      const signOut = { name: "Sign out", exact: true } as const;
      await page.getByRole("button", signOut).click();
      await dialog.getByText(`${person.email} is not confirmed yet.`).waitFor();
      await look(t, page, "sign-out-unconfirmed", view);
      await dialog.getByRole("button", { name: "Back" }).click();
      await dialog.waitFor({ state: "detached" });
      await page.getByRole("button", signOut).click();
      await dialog.getByRole("button", signOut).click();
      await page.getByRole("link", { name: "Sign in" }).first().waitFor();
      t.deepEqual(complaints, []);
    },
  );
}

journey("who only signs in finds the ticket as well, and nobody after them", async (t, browser) => {
  const { marketId } = await makeOffered(service, "Will it go on?");
  const { page } = await visit(browser, service.url);
  const people = [await makeMember(service), await makeMember(service)];
  await page.goto(`/markets/${marketId}`);
  await fillTicket(page, 44, 12);
  const shares = page.getByLabel("Shares", { exact: true });
  for (const [
    index,
    {
      person: { email, password },
    },
  ] of people.entries()) {
    await page.goto(`/sign-in?back=/markets/${marketId}`);
    await page.getByLabel("E-mail").fill(email);
    await page.getByLabel("Password").fill(password);
    await page.getByRole("button", { name: "Sign in", exact: true }).click();
    await page.waitForURL(`/markets/${marketId}`);
    await page.getByRole("button", { name: "Buy YES", exact: true }).waitFor();
    if (index > 0) await kindOfOrder(page, "Limit").check();
    const kept = index === 0 ? "12" : "";
    await until("the ticket is ready", async () => (await shares.inputValue()) === kept);
    t.is(await shares.inputValue(), kept);
    await page.goto("/account");
    await page.getByRole("button", { name: "Sign out", exact: true }).click();
    await page.getByRole("link", { name: "Sign in" }).first().waitFor();
  }
});

journey(
  "play money and accounts are offered only to those who may have them",
  async (t, browser) => {
    t.teardown(() => operate("set_sign_up", { policy: "open", play_money_cents: 100_000 }));
    for (const [policy, play_money_cents] of [
      ["open", 0],
      ["invitation", 100_000],
      ["closed", 100_000],
    ] as const) {
      await operate("set_sign_up", { policy, play_money_cents });
      const { page } = await visit(browser, service.url);
      const answer = page.waitForResponse((response) =>
        response.url().endsWith("/account/sign-up"),
      );
      await page.goto("/");
      await answer;
      await page.getByText("Will it begin?").or(page.getByText("No markets")).first().waitFor();
      t.is(await page.locator(".play-money").textContent(), "", policy);
      const signUp = page.getByRole("link", { name: "Sign up" });
      if (policy === "closed") await signUp.first().waitFor({ state: "detached" });
      for (const path of ["/", "/sign-in", "/portfolio"]) {
        await page.goto(path);
        const state = policy === "closed" ? "detached" : "visible";
        await signUp.last().waitFor({ state });
      }
    }
  },
);
