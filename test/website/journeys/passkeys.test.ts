import test from "ava";
import type { Page } from "playwright-core";
import { testClock } from "../../helpers/database/test_clock.ts";
import { testService } from "../../helpers/http/test_service.ts";
import { makeMember, makeVisitor, takeMails } from "../../helpers/http/visitor.ts";
import { visit } from "../browser.ts";
import { plugIn } from "../device.ts";
import { journey } from "../journey.ts";
import { look, views } from "../views.ts";

/** Passkeys in a real browser, with the authenticator that Chromium has for tests. */

const service = testService(test, { website: true, playMoneyCents: 0 });

/** Passkeys belong to a name: browsers make none for an IP address. */
const namedUrl = () => service.url.replace("127.0.0.1", "localhost");

async function signInByPassword(
  page: Page,
  { email, password }: { email: string; password: string },
): Promise<void> {
  await page.goto("/sign-in?back=/account");
  await page.getByLabel("E-mail").fill(email);
  await page.getByLabel("Password").fill(password);
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
  await page.waitForURL("/account");
}

const byPasskey = (page: Page) => page.getByRole("button", { name: "Sign in with a passkey" });

journey("a passkey is added, signs in, and is removed", async (t, browser) => {
  const { person } = await makeMember(service);
  const { page, complaints } = await visit(browser, namedUrl());
  const device = await plugIn(page);
  await signInByPassword(page, person);
  await page.getByText("No passkeys yet").waitFor();
  await page.getByText("A new password by the link of a mail ends them").waitFor();
  await page.getByLabel("Name of the new passkey").fill("My laptop");
  await page.getByRole("button", { name: "Add a passkey" }).click();
  await page.getByText("The passkey is added").waitFor();
  t.is(await device.count(), 1);
  await page.getByText("never used").waitFor();

  await page.getByRole("button", { name: "Add a passkey" }).click();
  await page.getByText("This device has a passkey for your account already").waitFor();

  await page.getByRole("button", { name: "Sign out", exact: true }).click();
  await page.waitForURL("/");
  await page.goto("/sign-in?back=/account");
  await byPasskey(page).click();
  await page.waitForURL("/account");
  await page.getByText(/last used/).waitFor();

  await page.getByRole("button", { name: "Remove My laptop" }).click();
  await page.getByRole("button", { name: "Remove for good" }).click();
  await page.getByText("No passkeys yet").waitFor();
  // A request that was on its way when the session ended is refused.
  t.deepEqual(
    complaints.filter((line) => !line.includes("401")),
    [],
  );

  await page.getByRole("button", { name: "Sign out", exact: true }).click();
  await page.waitForURL("/");
  await page.goto("/sign-in");
  await byPasskey(page).click();
  await page.getByText("This passkey was not accepted").waitFor();
  t.true((await takeMails(service.worker)).some(({ kind }) => kind === "passkey_removed"));
});

journey("a person who cancels reads so, and can try again", async (t, browser) => {
  const { person } = await makeMember(service);
  const { page } = await visit(browser, namedUrl());
  const device = await plugIn(page);
  await device.agree(false);
  await page.goto("/sign-in");
  await byPasskey(page).click();
  await page.getByText("No passkey was used: you cancelled").waitFor();
  await signInByPassword(page, person);
  await page.getByRole("button", { name: "Add a passkey" }).click();
  await page.getByText("No passkey was made: you cancelled").waitFor();
  await device.agree(true);
  await page.getByRole("button", { name: "Add a passkey" }).click();
  await page.getByText("The passkey is added").waitFor();
  t.is(await device.count(), 1);
});

journey("ten minutes after the sign-in the page asks for another one", async (t, browser) => {
  const clock = testClock(service.database.pool);
  const { person } = await makeMember(service);
  const { page } = await visit(browser, namedUrl());
  const device = await plugIn(page);
  await signInByPassword(page, person);
  await page.getByText("No passkeys yet").waitFor();
  await clock.advance(600_000);
  await page.getByRole("button", { name: "Add a passkey" }).click();
  await page.getByRole("link", { name: "Sign in again" }).click();
  await page.getByLabel("E-mail").fill(person.email);
  await page.getByLabel("Password").fill(person.password);
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
  await page.waitForURL("/account#passkeys");
  await page.getByRole("button", { name: "Add a passkey" }).click();
  await page.getByText("The passkey is added").waitFor();
  await clock.release();
  t.is(await device.count(), 1);
});

journey("at an IP address the pages offer no passkeys", async (t, browser) => {
  const { person } = await makeMember(service);
  const { page } = await visit(browser, service.url);
  await signInByPassword(page, person);
  await page.getByText("This browser cannot make passkeys at this address").waitFor();
  await page.goto("/sign-in");
  await page.getByLabel("E-mail").waitFor();
  t.is(await byPasskey(page).count(), 0);
});

/** The path of the link in the mail for a new password. */
async function resetLink({ email }: { email: string }): Promise<string> {
  await makeVisitor(service).call("POST", "/api/account/password-reset", { body: { email } });
  const mail = (await takeMails(service.worker)).find(({ kind }) => kind === "password_reset");
  return `/reset#${mail?.token}`;
}

journey("a reset ends passkeys, or keeps all with one of them", async (t, browser) => {
  const { person } = await makeMember(service);
  const { page, complaints } = await visit(browser, namedUrl());
  await plugIn(page);
  await signInByPassword(page, person);
  await page.getByRole("button", { name: "Add a passkey" }).click();
  await page.getByText("The passkey is added").waitFor();
  await page.goto(await resetLink(person));
  await page.getByText("2 signed-in browsers, 1 passkey.").waitFor();
  await page.getByLabel("Keep all of it").check();
  await page.getByLabel("New password").fill("a better password");
  await page.getByRole("button", { name: "Set the password" }).click();
  await page
    .getByText("Your account is also opened by: 2 signed-in browsers, 1 passkey.")
    .waitFor();

  await page.goto(await resetLink(person));
  await page.getByLabel("New password").fill("an even better one");
  await page.getByRole("button", { name: "Set the password" }).click();
  await page.getByText("Nothing else opens your account.").waitFor();
  await page.goto("/account#passkeys");
  await page.getByText("No passkeys yet").waitFor();
  t.deepEqual(complaints, []);
});

for (const view of views) {
  const { theme, width } = view;
  journey(`pages with passkeys in the ${theme} theme, ${width} px wide`, async (t, browser) => {
    const { person } = await makeMember(service);
    const { page } = await visit(browser, namedUrl(), view);
    const device = await plugIn(page);
    await device.agree(false);
    await page.goto("/sign-in");
    await byPasskey(page).click();
    await page.getByText("No passkey was used: you cancelled").waitFor();
    await look(t, page, "sign-in-passkey", view);
    await device.agree(true);
    await signInByPassword(page, person);
    await page.getByRole("button", { name: "Add a passkey" }).click();
    await page.getByText("The passkey is added").waitFor();
    await page.getByRole("button", { name: /^Remove/ }).click();
    await look(t, page, "account-passkeys", view);
  });
}
