import test from "ava";
import { testService } from "../../helpers/http/test_service.ts";
import { anybody } from "../../helpers/http/visitor.ts";
import { until } from "../../helpers/until.ts";
import { arrive } from "../arrive.ts";
import { visit } from "../browser.ts";
import { journey } from "../journey.ts";
import { focused, press, tabTo, typeInto } from "../keyboard.ts";
import { makeOffered } from "../steps.ts";

/** Everything by keyboard alone. Each key is checked: the focus is never lost, and can be seen. */

const service = testService(test, { website: true, playMoneyCents: 100_000 });

journey(
  "from signing up to a trade, an amendment and a cancel, by keyboard",
  async (t, browser) => {
    await makeOffered(service, "Will keys do?");
    const person = anybody();
    const { page, complaints } = await visit(browser, service.url);
    await page.goto("/");
    await page.getByText("Will keys do?").waitFor();
    t.is((await press(page, "Tab")).name, "Skip to content");
    await tabTo(page, "Sign up");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Sign up" }).waitFor();
    await typeInto(page, "E-mail", person.email);
    await typeInto(page, "Password", person.password);
    await tabTo(page, "Make my account");
    await page.keyboard.press("Enter");

    await page.getByRole("heading", { name: "One more step before you can trade" }).waitFor();
    await page.getByLabel("A day").waitFor();
    await tabTo(page, /^Low/);
    await page.keyboard.press("Space");
    t.is(await page.getByLabel("A day").inputValue(), "20.00");
    await typeInto(page, "A day", "50");
    await tabTo(page, "Confirm my limits");
    await page.keyboard.press("Space");
    await page.getByText("Will keys do?").waitFor();
    await tabTo(page, /^Will keys do\?/);
    await page.keyboard.press("Enter");

    await page.getByRole("heading", { name: "Will keys do?" }).waitFor();
    await tabTo(page, "Buy");
    await tabTo(page, /^YES/);
    t.regex((await press(page, "ArrowRight")).name, /^NO/);
    t.regex((await press(page, "ArrowLeft")).name, /^YES/);
    await tabTo(page, "Amount");
    t.is((await press(page, "ArrowRight")).name, "Limit");
    t.is((await press(page, "ArrowRight")).name, "Shares now");
    t.is((await press(page, "ArrowLeft")).name, "Limit");
    await typeInto(page, "Price", "60");
    await typeInto(page, "Shares", "5");
    await page.keyboard.press("Enter");
    await page.getByText("5 shares traded").waitFor();

    await press(page, "Shift+Tab");
    await page.keyboard.type("20");
    await typeInto(page, "Shares", "5");
    await tabTo(page, "Buy YES");
    await page.keyboard.press("Space");
    await page.getByText("waits in the book for 5 shares").waitFor();
    t.is((await focused(page)).name, "Buy YES");
    await page.getByRole("button", { name: "Change: Buy 5 YES at 20¢" }).waitFor();
    await tabTo(page, "Change: Buy 5 YES at 20¢");
    await page.keyboard.press("Enter");
    // The focus moves after the form is painted.
    await page.locator("form.amend input:focus").waitFor();
    t.is((await focused(page)).name, "Price");
    t.is((await press(page, "Escape")).name, "Change: Buy 5 YES at 20¢");
    t.is(await page.locator("form.amend").count(), 0);
    await tabTo(page, "Cancel: Buy 5 YES at 20¢");
    await page.keyboard.press("Enter");
    await page.getByText("No open orders in this market").waitFor();
    // The button is gone, and the focus stays where it was.
    t.regex((await focused(page)).name, /^Your open orders/);
    await press(page, "Tab");
    t.deepEqual(complaints, []);
  },
);

journey(
  "a dialog keeps the focus inside, is closed by Escape, and gives it back",
  async (t, browser) => {
    const { page } = await arrive(browser, service);
    await page.goto("/account#keys");
    await page.getByLabel("Name of the new key").fill("my bot");
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "I have it" }).click();
    await tabTo(page, "Revoke my bot");
    await page.keyboard.press("Enter");
    const dialog = page.getByRole("dialog", { name: "Revoke “my bot”?" });
    await dialog.waitFor();
    t.is((await focused(page)).name, "Back");
    for (let count = 0; count < 5; count++) {
      await page.keyboard.press("Tab");
      // The browser's own bar comes between the last and the first element of a dialog.
      const { name, tag } = await focused(page);
      t.true(["Revoke for good", "Back"].includes(name) || tag === "BODY", name);
    }
    await page.keyboard.press("Escape");
    // A closed dialog is on the page for a moment more, in which its button does nothing.
    await page.locator("dialog").waitFor({ state: "detached" });
    t.is((await focused(page)).name, "Revoke my bot");

    await page.keyboard.press("Space");
    await dialog.waitFor();
    await tabTo(page, "Revoke for good", "Shift+Tab");
    await page.keyboard.press("Enter");
    await page.getByText("No keys yet").waitFor();
    t.is(await dialog.count(), 0);
    t.regex((await focused(page)).name, /^API keys/);
  },
);

journey(
  "skipping to the content keeps the token of a link and what was typed",
  async (t, browser) => {
    const { page } = await visit(browser, service.url);
    await page.goto("/sign-up#jl_token");
    await page.getByLabel("E-mail").fill("ann@test.example");
    await page.getByRole("link", { name: "Skip to content" }).focus();
    await page.keyboard.press("Enter");
    await until("the content has the focus", async () => (await focused(page)).tag === "MAIN");
    t.is(new URL(page.url()).hash, "#jl_token");
    t.is(await page.getByLabel("E-mail").inputValue(), "ann@test.example");
    t.is((await press(page, "Tab")).name, "E-mail");
  },
);
