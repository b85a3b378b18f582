import test from "ava";
import type { Browser } from "playwright-core";
import { crontab } from "../../../jobs/crontab.ts";
import { sendMail } from "../../../jobs/mail__send.ts";
import { smtpTransport } from "../../../src/mail/transport.ts";
import { makeQueue, startTestWorker } from "../../helpers/exchange/test_worker.ts";
import type { TestWorker } from "../../helpers/exchange/test_worker.ts";
import { openMailServer, readableMail } from "../../helpers/http/mail_server.ts";
import type { MailServer } from "../../helpers/http/mail_server.ts";
import { testService } from "../../helpers/http/test_service.ts";
import { anybody, makeVisitor } from "../../helpers/http/visitor.ts";
import { until } from "../../helpers/until.ts";
import { signIn } from "../arrive.ts";
import { visit } from "../browser.ts";
import { journey } from "../journey.ts";

/** What begins with a link: mails come from a worker by a real mail server, as in production. */

const service = testService(test, { website: true });
const { operate } = service;

let server: MailServer;
let sending: TestWorker;
test.serial.before("send mails", async () => {
  server = await openMailServer();
  await makeQueue(service.database);
  await operate("set_sign_up", { policy: "open", play_money_cents: 100_000 });
  const transport = smtpTransport({ smtpUrl: server.url, from: "exchange@site.example" });
  sending = await startTestWorker(service.database, {
    crontab: [...crontab, sendMail({ transport, siteUrl: service.url })],
  });
});
test.after.always("stop sending", async () => {
  await sending.close();
  await server.close();
});

/** The link of the newest mail with this subject, once it came. */
async function linkFor(address: string, subject: string): Promise<string> {
  const letters = () =>
    server
      .mailsTo(address)
      .map(({ message }) => readableMail(message))
      .filter((letter) => letter.includes(`Subject: ${subject}`));
  await until(`a mail “${subject}” came`, () => Promise.resolve(letters().length > 0));
  const link = /^http:\/\/127\.0\.0\.1:\d+\/\S+#\S+$/m.exec(letters().at(-1) ?? "")?.[0];
  if (link === undefined) throw new Error(`The mail has no link:\n${letters().at(-1)}`);
  return link;
}

/** A user who confirmed the address by the mail, and signed in on a page. */
async function arrive(browser: Browser) {
  const visitor = makeVisitor(service);
  const { email, password, ...names } = anybody();
  const body = { email, password, ...names };
  const answer = await visitor.call("POST", "/api/account/sign-up", { body });
  const link = await linkFor(email, "Confirm your e-mail address");
  const token = link.split("#")[1];
  await visitor.call("POST", "/api/account/email/confirm", { body: { token } });
  const { page } = await visit(browser, service.url);
  await page.goto("/sign-in?back=/portfolio");
  await signIn(page, email, password);
  await page.waitForURL("/portfolio");
  return { page, email, password, userId: answer.body.userId as string };
}

journey("a forgotten password is set anew by the link of a mail", async (t, browser) => {
  const { page: signedIn, email, password } = await arrive(browser);
  const { page, complaints } = await visit(browser, service.url);
  await page.goto("/sign-in");
  await page.getByLabel("E-mail").fill(email);
  await page.getByRole("link", { name: "Forgot your password?" }).click();
  await page.getByRole("heading", { name: "New password" }).waitFor();
  t.is(await page.getByLabel("E-mail").inputValue(), email);
  await page.getByRole("button", { name: "Send me a link" }).click();
  await page.getByText("If this address has an account").waitFor();

  const link = await linkFor(email, "Set a new password");
  await page.goto(link);
  await page
    .getByText("Besides the password, this account is opened by: 2 signed-in browsers.")
    .waitFor();
  await page.getByLabel("New password").fill("a better password");
  await page.getByRole("button", { name: "Set the password" }).click();
  await page.getByText("Your password is changed, and you are signed in").waitFor();
  t.is(new URL(page.url()).hash, "");
  await page.getByRole("link", { name: "Account", exact: true }).waitFor();
  await signedIn.goto("/account");
  await signedIn.getByText("Sign in to see this page").waitFor();
  t.deepEqual(complaints, []);

  // The link is used up, and the old password is not good any more.
  const { page: late } = await visit(browser, service.url);
  await late.goto(link);
  await late.getByText("This link was used before or is too old").waitFor();
  await late.goto("/sign-in");
  await signIn(late, email, password);
  await late.getByText("Wrong e-mail or password").waitFor();
  await late.getByText("Did you sign up and never confirm your address?").waitFor();
  await signIn(late, email, "a better password");
  await late.getByRole("link", { name: "Account", exact: true }).waitFor();
});

journey("an e-mail address is changed by the link that the new one gets", async (t, browser) => {
  const { page, email, password } = await arrive(browser);
  const newEmail = anybody().email;
  await page.goto("/account#email");
  await page.getByLabel("New address").fill(newEmail);
  await page.getByLabel("Your password").fill(password);
  await page.getByRole("button", { name: "Change my address" }).click();
  await page.getByText("A mail with a link is on its way").waitFor();
  await page.getByText(`${newEmail} is yours once you follow the link`).waitFor();

  const link = await linkFor(newEmail, "Confirm your e-mail address");
  const { page: scanner } = await visit(browser, service.url);
  await scanner.goto(link);
  await scanner.getByText("You are not signed in here as this account").waitFor();
  await scanner.getByRole("button", { name: "Confirm" }).click();
  await scanner.waitForLoadState("networkidle");
  t.is(await scanner.getByText("is confirmed").count(), 0);
  await page.goto(link);
  await page.getByText("its present one no more").waitFor();
  await page.getByText("New address", { exact: true }).waitFor();
  await page.waitForLoadState("networkidle");
  t.is(await page.getByText("is confirmed").count(), 0, "a load does nothing");
  await page.getByRole("button", { name: "Confirm" }).click();
  await page.getByText(`${newEmail} is confirmed.`).waitFor();
  await page.goto("/account#email");
  await page.locator("#email").getByText(newEmail).waitFor();
  await until("the old address heard of it", () =>
    Promise.resolve(
      server
        .mailsTo(email)
        .some(({ message }) => message.includes("Your e-mail address was changed")),
    ),
  );
  t.is(await page.getByText(email).count(), 0);
});

journey("a link that was used says that the address is confirmed already", async (t, browser) => {
  const { page, email, password } = await arrive(browser);
  const link = await linkFor(email, "Confirm your e-mail address");
  const again = page.getByRole("link", { name: "Send me another mail" });
  await page.goto(link);
  await page.getByText(`${email} is confirmed already.`).waitFor();
  t.is(await again.count(), 0);
  t.is(await page.getByText("This link was used before").count(), 0);

  // An address that waits may be what the link was for.
  await page.goto("/account#email");
  await page.getByLabel("New address").fill(anybody().email);
  await page.getByLabel("Your password").fill(password);
  await page.getByRole("button", { name: "Change my address" }).click();
  await page.getByText("A mail with a link is on its way").waitFor();
  await page.goto(link);
  await again.waitFor();
  await page.getByText("This link was used before").waitFor();

  const { page: visitor } = await visit(browser, service.url);
  await visitor.goto(link);
  await visitor.getByText("This link was used before").waitFor();
  t.is(await visitor.getByText("is confirmed already").count(), 0);
});

journey("the link of a sign-up names the address, and calls it no new one", async (t, browser) => {
  const { email, password, ...names } = anybody();
  const body = { email, password, ...names };
  await makeVisitor(service).call("POST", "/api/account/sign-up", { body });
  const { page } = await visit(browser, service.url);
  await page.goto(await linkFor(email, "Confirm your e-mail address"));
  const address = page.getByRole("definition").filter({ hasText: email });
  await address.waitFor();
  t.is(await address.locator("xpath=preceding-sibling::dt[1]").innerText(), "E-mail");
});

journey("an invited person signs up while sign-up needs an invitation", async (t, browser) => {
  await operate("set_sign_up", { policy: "invitation", play_money_cents: 100_000 });
  try {
    const { page } = await visit(browser, service.url);
    await page.goto("/sign-up");
    await page.getByText("You need an invitation to sign up").waitFor();
    t.is(await page.getByRole("button", { name: "Make my account" }).count(), 0);

    const person = anybody();
    await operate("invite_user", { email: person.email });
    const link = await linkFor(person.email, "You are invited");
    // The link comes while the page is open already: its address differs behind the # only.
    await page.goto(link);
    await page.getByLabel("E-mail").fill(person.email);
    await page.getByLabel("Password").fill(person.password);
    await page.getByRole("button", { name: "Make my account" }).click();
    await page.getByRole("heading", { name: "One more step before you can trade" }).waitFor();
    await page.getByRole("link", { name: "All settings" }).click();
    await page.locator("#email").getByText("Confirmed", { exact: true }).waitFor();
  } finally {
    await operate("set_sign_up", { policy: "open", play_money_cents: 100_000 });
  }
});

journey("a sign-in link of an operator signs in once", async (t, browser) => {
  const { userId, email } = await arrive(browser);
  const path = await operate("sign_in_link", { user_id: userId });
  const { page, complaints } = await visit(browser, service.url);
  await page.goto(path);
  await page.getByRole("button", { name: "Sign in to this account" }).click();
  await page.getByRole("link", { name: "Account", exact: true }).click();
  await page.locator("#email").getByText(email).waitFor();
  t.deepEqual(complaints, []);

  const { page: late } = await visit(browser, service.url);
  await late.goto(path);
  await late.getByText("This link was used before or is too old").waitFor();
  t.false((await late.content()).includes(path.split("#")[1]));
  await until("a mail about it came", () =>
    Promise.resolve(
      server.mailsTo(email).some(({ message }) => message.includes("A link of our support")),
    ),
  );
});
