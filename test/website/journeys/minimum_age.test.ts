import test from "ava";
import { testService } from "../../helpers/http/test_service.ts";
import { anybody } from "../../helpers/http/visitor.ts";
import { arrive } from "../arrive.ts";
import { visit } from "../browser.ts";
import { journey } from "../journey.ts";
import { press, tabTo, typeInto } from "../keyboard.ts";
import { buy, buyButton, fillTicket, makeOffered } from "../steps.ts";
import { look, views } from "../views.ts";

/** The minimum age: who signs up confirms it, and who did before is asked once. */

const service = testService(test, { website: true, playMoneyCents: 100_000 });
const setAge = (years: number) => service.operate("set_minimum_age", { years, reason: "a test" });

test.afterEach.always("no minimum age", () => setAge(0));

for (const view of views) {
  journey(`a sign-up by keyboard, ${view.theme}, ${view.width} px wide`, async (t, browser) => {
    await setAge(18);
    const { page, complaints } = await visit(browser, service.url, view);
    await page.goto("/sign-up");
    const box = page.getByRole("checkbox", { name: "I am 18 or older" });
    await box.waitFor();
    t.false(await box.isChecked(), "nobody says it for them");
    await look(t, page, "sign-up-age", view);

    const person = anybody();
    await typeInto(page, "E-mail", person.email);
    await typeInto(page, "Password", person.password);
    await page.keyboard.press("Enter");
    await page.getByText("Confirm that you are 18 or older.").waitFor();
    await tabTo(page, "I am 18 or older");
    await press(page, "Space");
    await tabTo(page, "Make my account");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "One more step before you can trade" }).waitFor();
    t.is(await page.getByText("Your age").count(), 0, "it is asked once");
    t.deepEqual(
      complaints.filter((complaint) => !complaint.includes("400")),
      [],
    );
  });

  journey(
    `a user from before is asked once, ${view.theme}, ${view.width} px wide`,
    async (t, browser) => {
      const { marketId } = await makeOffered(service, "Will it be asked?");
      const { page } = await arrive(browser, service, { width: view.width });
      await page.emulateMedia({ colorScheme: view.theme });
      await setAge(21);
      await page.goto(`/markets/${marketId}`);
      await fillTicket(page, 60, 5);
      await page.getByText("confirm your age if you are asked for it").waitFor();
      await page.getByRole("link", { name: "Do it now" }).click();
      await page.getByRole("heading", { name: "Your age" }).waitFor();
      t.is(await page.locator(".section").count(), 1, "the limits are set already");
      await look(t, page, "age", view);
      await tabTo(page, "I am 21 or older");
      await press(page, "Space");
      await tabTo(page, "Confirm my age");
      await page.keyboard.press("Enter");

      await page.waitForURL(`/markets/${marketId}`);
      await page.getByText(/^If YES: you win/).waitFor();
      t.is(await page.getByLabel("Shares", { exact: true }).inputValue(), "5", "as it was filled");
      await buyButton(page).click();
      await page.getByText("5 shares traded").waitFor();
      await buy(page, 60, 2);
      await page.getByText("2 shares traded").waitFor();
    },
  );
}
