import test from "ava";
import type { Locator } from "playwright-core";
import { copies } from "../../helpers/database/copies.ts";
import { withClient } from "../../helpers/database/test_database.ts";
import { testService } from "../../helpers/http/test_service.ts";
import { makeMember } from "../../helpers/http/visitor.ts";
import { journey } from "../journey.ts";
import { confirm, staffPages, staffPassword } from "../staff_pages.ts";
import { look, views } from "../views.ts";

/** The pages of staff in a real browser, with the authenticator that Chromium has for tests. */

const service = testService(test);
const { welcome } = staffPages(test, service);

// Before rules ask for the approval of others.
journey("a YES is moved: both markets are previewed and in the result", async (t, browser) => {
  const event_id: string = await service.operate("create_event", {
    ...{ title: "Who wins?", category: "tests", exclusive: true },
  });
  const wrong = await service.makeMarket({ title: "Will the first win?", event_id });
  const right = await service.makeMarket({ title: "Will the other win?", event_id });
  const [one, two] = await service.makeTraders(2);
  for (const [marketId, quantity] of [
    [wrong, 10],
    [right, 30],
  ] as const) {
    await service.place(one, marketId, { side: "yes", price: 50, quantity });
    await service.place(two, marketId, { side: "no", price: 50, quantity });
  }
  await service.operate("resolve_market", { market_id: wrong, outcome: "yes" });
  await service.operate("resolve_market", { market_id: right, outcome: "no" });

  const { page, complaints } = await welcome(browser, "Cleo");
  await page.goto(`/operator/markets/${right}`);
  await page.getByText("that one becomes NO in the same call").waitFor();
  await page.getByLabel("Outcome to look at").selectOption("yes");
  await page.getByRole("button", { name: "Preview" }).click();
  await page.getByRole("heading", { name: "Will the other win?: YES" }).waitFor();
  await page.getByRole("heading", { name: "Will the first win?: NO" }).waitFor();
  for (const paid of ["€30.00", "€10.00"]) await page.getByText(paid).first().waitFor();
  await page.getByText("Correct the resolution", { exact: true }).click();
  await page.getByLabel("Outcome", { exact: true }).selectOption("yes");
  await page.getByLabel("Reason", { exact: true }).first().fill("The finish was read wrongly");
  await confirm(page, "Correct it", "Correct “Will the other win?” to YES? A YES share is paid");
  const form = page.locator("form").filter({ hasText: "Correct it" });
  await form.getByRole("status").getByText("Will the first win?").waitFor();
  t.is(await page.getByRole("heading", { name: "Will the other win?: YES" }).count(), 0);
  const { rows } = await service.database.pool.query(
    "select resolved_outcome from catalog.markets where public_id = any ($1) order by title",
    [[wrong, right]],
  );
  t.deepEqual(rows, [{ resolved_outcome: "no" }, { resolved_outcome: "yes" }]);
  for (const kind of ["market", "event", "user", "proposal"]) {
    await page.goto(`/operator/${kind}s/01900000-0000-7000-8000-000000000000`);
    await page.getByText(`There is no such ${kind}.`).waitFor();
  }
  t.deepEqual(
    complaints.filter((line) => !line.includes("401")),
    [],
  );
});

journey("two members of staff resolve a market, and the audit has both", async (t, browser) => {
  const marketId = await service.makeMarket({ title: "Will two agree?" });
  const [winner, loser] = await service.makeTraders(2);
  await service.place(winner, marketId, { side: "yes", price: 60, quantity: 10 });
  await service.place(loser, marketId, { side: "no", price: 40, quantity: 10 });
  await service.operate("set_market_status", { market_id: marketId, status: "closed" });

  const { page, complaints } = await welcome(browser, "Anna");
  const second = await welcome(browser, "Ben");
  await service.operate("set_approval_rule", { command: "resolve_market", role: "markets" });
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByRole("heading", { name: "Sign in" }).waitFor();
  await page.getByLabel("E-mail").fill("anna@staff.example");
  await page.getByLabel("Password").fill("another password");
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByText("do not belong to one member of staff").waitFor();
  await page.getByLabel("Password").fill(staffPassword);
  await page.getByRole("button", { name: "Sign in" }).click();

  await page.getByRole("link", { name: /markets wait for their outcome/ }).click();
  await page.getByRole("link", { name: "Will two agree?" }).click();
  await page.waitForURL(`/operator/markets/${marketId}`);
  await page.getByLabel("Outcome to look at").selectOption("yes");
  await page.getByRole("button", { name: "Preview" }).click();
  // 10 pairs of shares: YES gets a euro each, NO gets nothing.
  await page.getByText("€10.00").first().waitFor();
  await page.getByText("Resolve", { exact: true }).click();
  await page.getByLabel("Outcome", { exact: true }).selectOption("yes");
  await page.getByLabel("Evidence", { exact: true }).fill("The minutes of the council.");
  await confirm(page, "Resolve the market", "", [
    "€10.00 is paid for this market, to 1 position of 1 user.",
    "The minutes of the council.",
  ]);
  await page.getByText("Another member of staff must approve this.").waitFor();
  await page.getByLabel("Why you propose it").fill("the council said so");
  await page.getByRole("button", { name: "Propose" }).click();
  await page.getByRole("link", { name: "See the proposal" }).click();
  await page.getByText("You proposed this.").waitFor();
  t.is(await page.getByText("No calls.").count(), 0);
  t.is(await page.getByRole("button", { name: "Approve and carry out" }).count(), 0);

  await second.page.reload();
  await second.page.getByRole("link", { name: /proposals that wait/ }).click();
  await second.page.getByRole("link", { name: "resolve_market" }).click();
  await second.page.getByText("the council said so").waitFor();
  await confirm(second.page, "Approve and carry out", "", [
    "A YES share is paid €1.00, a NO share nothing.",
    "resolve_market is carried out at once:",
    "The minutes of the council.",
  ]);
  await second.page.getByText("What it returned").waitFor();

  await page.goto(`/operator/markets/${marketId}?show=audit`);
  const audit = page.getByRole("region", { name: "Audit", exact: true });
  for (const [member, action] of [
    ["Anna", "propose"],
    ["Ben", "resolve_market"],
  ] as const) {
    await audit.getByRole("row").filter({ hasText: member }).filter({ hasText: action }).waitFor();
  }
  const { rows } = await service.database.pool.query(
    "select status, resolved_outcome from catalog.markets where public_id = $1",
    [marketId],
  );
  t.deepEqual(rows, [{ status: "resolved", resolved_outcome: "yes" }]);
  // Who is not signed in, or gives a wrong password, gets 401.
  t.deepEqual(
    [...complaints, ...second.complaints].filter((line) => !line.includes("401")),
    [],
  );
});

journey("a key that staff make for a user is shown to who approves it", async (t, browser) => {
  const { userId } = await service.makeTrader();
  const { page } = await welcome(browser, "Quentin");
  const second = (await welcome(browser, "Yolanda")).page;
  await service.operate("set_approval_rule", { command: "create_api_key", role: "users" });
  await page.goto(`/operator/users/${userId}`);
  await page.getByText("New API key", { exact: true }).click();
  await page.getByRole("textbox", { name: "Name", exact: true }).fill("of support");
  await page.getByRole("button", { name: "Make a key", exact: true }).click();
  await page.getByLabel("Why you propose it").fill("their program is lost");
  await page.getByRole("button", { name: "Propose" }).click();
  await page.getByRole("link", { name: "See the proposal" }).click();
  const unseen = "Only who approves it sees this, once.";
  await page.getByText(unseen).waitFor();

  await second.goto(new URL(page.url()).pathname);
  await confirm(second, "Approve and carry out");
  await second.getByText("It is shown only now").waitFor();
  const key = await second.locator(".secret").innerText();
  const answer = await service.call("GET", "/api/v1/me", { key });
  t.is(answer.body.id, userId);
  await page.reload();
  await page.getByText("What it returned").waitFor();
  t.is(await page.getByText(unseen).count(), 2);
  await service.operate("remove_approval_rule", { command: "create_api_key" });
});

journey("the statement of a user is shown, saved and printed by itself", async (t, browser) => {
  const { userId } = await service.makeTrader({ fundsCents: 5000 });
  await service.operate("withdraw", { user_id: userId, amount_cents: 1250, reference: "out 1" });
  const { page, complaints } = await welcome(browser, "Stella");
  await page.goto(`/operator/users/${userId}`);
  await page.getByText("Statement of a user").click();
  const today = (await service.database.pool.query("select core.now()::date::text as day")).rows[0]
    .day;
  await page.getByLabel("First day").fill(today);
  await page.getByLabel("Last day").fill(today);
  await page.getByRole("button", { name: "Show the statement" }).click();
  const sheet = page.getByRole("region", { name: "Statement of a user: rows" });
  await sheet.waitFor();
  const shown = ["opening", "deposit", "€50.00", "withdrawal", "-€12.50", "€37.50", "closing"];
  for (const words of shown) t.true((await sheet.innerText()).includes(words), words);

  const downloads = page.waitForEvent("download");
  const section = page.locator(".sheet");
  await section.getByRole("button", { name: "CSV" }).click();
  const csv = (await (await (await downloads).createReadStream()).toArray()).join("");
  t.regex(csv, /,withdrawal,-12\.50,37\.50,,out 1\r\n/);

  await page.evaluate("window.print = () => undefined");
  await section.getByRole("button", { name: "Print" }).click();
  await page.emulateMedia({ media: "print" });
  const printed = await page.locator("body").innerText();
  t.regex(printed, /^Statement of a user: /);
  for (const words of shown) t.true(printed.includes(words), words);
  t.notRegex(printed, /Overview|Sign out|Deposit|Print|CSV/);
  await page.emulateMedia({ media: "screen" });
  await page.evaluate("window.dispatchEvent(new Event('afterprint'))");
  t.true(await page.getByRole("button", { name: "Sign out" }).isVisible());
  t.deepEqual(
    complaints.filter((line) => !line.includes("401")),
    [],
  );
});

journey(
  "the address keeps filters, and a file has the rows that they choose",
  async (t, browser) => {
    const { userId } = await service.makeTrader({ fundsCents: 12_345 });
    const { page } = await welcome(browser, "Clara");
    await page.goto("/operator/users");
    await page.getByLabel("E-mail, name, handle or id").fill(userId);
    await page.getByRole("button", { name: "Filter", exact: true }).click();
    await page.getByText("Rows 1 to 1 of 1").waitFor();
    t.is(new URL(page.url()).searchParams.get("search"), userId);
    await page.reload();
    await page.getByText("Rows 1 to 1 of 1").waitFor();
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "CSV" }).click(),
    ]);
    const parts: Buffer[] = [];
    for await (const part of await download.createReadStream()) parts.push(part as Buffer);
    const lines = Buffer.concat(parts).toString().trim().split("\r\n");
    t.is(lines.length, 2);
    t.is(lines[1]!.split(",")[1], userId);
    t.true(lines[1]!.includes(",123.45,"));

    await page.goto(`/operator/users/${userId}`);
    await page.getByText("Deposit", { exact: true }).click();
    await page.getByLabel("Amount in euros").first().fill("7.5");
    await page.getByLabel("Reference").first().fill("bank 7");
    await confirm(page, "Book the deposit");
    await page.getByText("The user's cash after it: €130.95").waitFor();
    await page.getByRole("region", { name: "Rows: Cash movements" }).getByText("bank 7").waitFor();
  },
);

journey(
  "cash is booked for a user by address or handle, whom a dialog shows",
  async (t, browser) => {
    const { userId } = await service.makeTrader({ fundsCents: 5000 });
    const known = "select email, handle from identity.users where public_id = $1";
    const { email, handle } = (await service.database.pool.query(known, [userId])).rows[0];
    const cash = async (): Promise<number> => {
      const { rows } = await service.database.pool.query(
        "select balance_cents::int as cents from admin.users where user_id = $1",
        [userId],
      );
      return rows[0].cents;
    };
    const { page, complaints } = await welcome(browser, "Gil");
    await page.goto("/operator/cash");
    const fill = async (title: string, action: string, name: string): Promise<Locator> => {
      const box = page.locator("details").filter({ hasText: action });
      if ((await box.getAttribute("open")) === null) {
        await box.getByText(title, { exact: true }).click();
      }
      await box.getByLabel("User", { exact: true }).fill(name);
      await box.getByLabel("Amount in euros").fill("7.50");
      await box.getByLabel("Reference", { exact: true }).fill(`${title} of ${name}`);
      await box.getByRole("button", { name: action }).click();
      return box;
    };
    const dialog = page.getByRole("dialog");
    const answer = async (action: string): Promise<void> => {
      for (const fact of [email, handle]) await dialog.getByText(fact, { exact: true }).waitFor();
      await dialog.getByRole("button", { name: action, exact: true }).click();
      await dialog.waitFor({ state: "detached" });
    };

    const action = "Book the deposit";
    const nobody = await fill("Deposit", action, email.slice(0, -1));
    await nobody.getByText("There is no such user.").waitFor();
    await fill("Deposit", action, email.toUpperCase());
    await answer("Back");
    t.is(await cash(), 5000);
    const deposit = await fill("Deposit", action, email.toUpperCase());
    await dialog.getByText("Book a deposit of €7.50 for ").waitFor();
    await dialog.getByText(`, reference “Deposit of ${email.toUpperCase()}”?`).waitFor();
    t.is(await cash(), 5000, "it waits for the answer");
    await answer(action);
    await deposit.getByText("The user's cash after it: €57.50").waitFor();
    await fill("Deposit", action, email.toUpperCase());
    await deposit.getByText(/^It was booked on .*, and cannot be again\.$/).waitFor();
    t.is(await dialog.count(), 0, "it would move nothing");
    const withdrawal = await fill("Withdraw", "Book the withdrawal", handle);
    await answer("Book the withdrawal");
    await withdrawal.getByText("The user's cash after it: €50.00").waitFor();
    t.is(await cash(), 5000);
    t.deepEqual(
      complaints.filter((line) => !line.includes("401")),
      [],
    );
  },
);

journey(
  "on a phone a proposal is read in full, and an undone market says so",
  async (t, browser) => {
    const view = { theme: "light", width: 375 } as const;
    const marketId = await service.makeMarket({ title: "Was it all wrong?" });
    const { userId } = await service.makeTrader({ fundsCents: 5000 });
    await service.operate("set_approval_rule", { command: "withdraw", role: "cash" });
    const { page } = await welcome(browser, "Fay", view);
    await page.goto(`/operator/users/${userId}`);
    await page.getByText("Withdraw", { exact: true }).click();
    const form = page.locator("form").filter({ hasText: "Book the withdrawal" });
    await form.getByLabel("Amount in euros").fill("12.50");
    await form.getByLabel("Reference").fill("007");
    await confirm(page, "Book the withdrawal");
    await form.getByLabel("Why you propose it").fill("the bank asked");
    await form.getByRole("button", { name: "Propose" }).click();
    await form.getByRole("link", { name: "See the proposal" }).click();
    const { rows } = await service.database.pool.query(
      "select handle from identity.users where public_id = $1",
      [userId],
    );
    const proposed = page.getByRole("region", { name: "Arguments" });
    await proposed.getByRole("link", { name: rows[0].handle }).waitFor();
    for (const value of ["€12.50", "007"])
      await proposed.getByText(value, { exact: true }).waitFor();
    await page.getByText("The user's cash after it: €37.50").waitFor();
    await look(t, page, "operator-proposal", view);

    await service.operate("void_market", { market_id: marketId, reason: "a wrong question" });
    await page.goto(`/operator/markets/${marketId}`);
    await page.getByText(/^Undone on .*: a wrong question\./).waitFor();
    for (const title of ["Correct the resolution", "Edit the market", "Undo the whole market"]) {
      t.is(await page.getByText(title, { exact: true }).count(), 0, title);
    }
    await page.goto(`/markets/${marketId}`);
    await page.getByRole("heading", { name: "Undone" }).waitFor();
    t.is(await page.getByText("Resolved partly").count(), 0);
    await look(t, page, "market-undone", view);
  },
);

journey("a person sees only the forms that the roles allow", async (t, browser) => {
  const marketId = await service.makeMarket({ title: "Who may?" });
  const { page } = await welcome(browser, "Dora");
  const open = page.getByText("Open, pause or close");
  await page.goto(`/operator/markets/${marketId}`);
  await open.waitFor();
  const { rows } = await service.database.pool.query(
    "select public_id as id from identity.staff where email = 'dora@staff.example'",
  );
  await service.operate("set_staff_roles", { staff_id: rows[0].id, roles: ["audit"] });
  // The page had the form already: the database refuses.
  await open.click();
  await page.getByLabel("Status", { exact: true }).first().selectOption("paused");
  await confirm(page, "Set the status");
  await page.getByText("None of your roles allows this.").waitFor();
  await page.reload();
  await page.getByRole("heading", { name: "Who may?" }).waitFor();
  t.is(await open.count(), 0);
});

journey("a pause is chosen, and a new cap keeps the other", async (t, browser) => {
  const { page } = await welcome(browser, "Ottilie");
  const found = async (sql: string) => (await service.database.pool.query(sql)).rows;
  await page.goto("/operator/incidents");
  await page.getByText("Pause of the whole exchange", { exact: true }).click();
  await page.getByRole("combobox", { name: "Trading" }).selectOption("true");
  await confirm(page, "Set it", "Pause trading in the whole exchange");
  await page.getByText("Done.").waitFor();
  t.deepEqual(await found("select is_paused from admin.trading_pause"), [{ is_paused: true }]);
  await service.operate("set_trading_pause", { paused: false });
  const cap = { kind: "fee_payout", per_call_cents: 10_000, per_day_cents: 100_000 };
  await service.operate("set_cash_cap", cap);
  await page.goto("/operator/settings");
  await page.getByText("Cap of cash", { exact: true }).click();
  const form = page.locator("form").filter({ hasText: "By one call" });
  await form.getByRole("combobox").selectOption("fee_payout");
  await form.getByLabel("By one call, in euros").fill("200");
  await form.getByRole("button").click();
  await form.getByText("Done.").waitFor();
  const caps = await found("select * from admin.cash_caps where kind = 'fee_payout'");
  t.like(caps, [{ ...cap, per_call_cents: 20_000 }]);
});

journey("a field is emptied or says why not, and a dry run keeps its list", async (t, browser) => {
  const marketId: string = await service.operate("create_market", {
    ...{ title: "To edit?", category: "tests", close_time: "2100-01-01" },
  });
  const { page } = await welcome(browser, "Hedi");
  await page.goto(`/operator/markets/${marketId}`);
  await page.getByText("Edit the market", { exact: true }).click();
  const form = page.locator("form").filter({ hasText: "Place in the event" });
  const save = form.getByRole("button", { name: "Save" });
  await save.click();
  await form.getByText("Nothing was changed.").waitFor();
  await form.getByLabel("Close time (UTC)").fill("");
  await form.getByLabel("Title").fill("");
  await save.click();
  await form.getByText("This cannot be emptied here.").waitFor();
  await form.getByLabel("Title").fill("Edited?");
  await save.click();
  await page.getByRole("heading", { level: 1, name: "Edited?" }).waitFor();
  const { rows } = await service.database.pool.query(
    "select close_time from catalog.markets where public_id = $1",
    [marketId],
  );
  t.deepEqual(rows, [{ close_time: null }]);
  await page.goto("/operator/markets");
  await page.getByText("Many new markets").click();
  const list = page.getByLabel("Markets as CSV or JSON");
  await list.fill("title,category\nOne of many?,tests");
  await page.getByRole("button", { name: "Make or try them" }).click();
  await page.getByRole("cell", { name: "One of many?" }).waitFor();
  await page.getByText("Nothing was made. To make these markets, take the tick from").waitFor();
  await page.getByLabel("Only try it: nothing is made").uncheck();
  await page.getByRole("button", { name: "Make or try them" }).click();
  await page.getByRole("link", { name: "One of many?" }).waitFor();
  await page.getByText("These markets were made.").waitFor();
});

journey("an undone trade says in words what went back, and to whom", async (t, browser) => {
  const marketId = await service.makeMarket({ title: "Undo one?" });
  const [one, two] = await service.makeTraders(2);
  await service.place(one, marketId, { side: "yes", price: 60, quantity: 10 });
  await service.place(two, marketId, { side: "no", price: 40, quantity: 10 });
  const { rows: trades } = await service.database.pool.query(
    "select trade_id from admin.trades where market_id = $1",
    [marketId],
  );
  const { rows: users } = await service.database.pool.query(
    "select handle from admin.users where user_id = any ($1)",
    [[one.userId, two.userId]],
  );
  const { page } = await welcome(browser, "Ilse");
  await page.goto(`/operator/markets/${marketId}`);
  await page.getByText("Undo a trade", { exact: true }).click();
  const form = page.locator("form").filter({ hasText: "Id of the trade" });
  await form.getByLabel("Id of the trade").fill(trades[0].trade_id);
  await form.getByLabel("Reason").fill("a mistake");
  await confirm(page, "Undo the trade", `Undo the trade ${trades[0].trade_id} in “`, [
    ...users.map(({ handle }) => handle),
    "a mistake",
  ]);
  const answer = form.getByRole("status");
  for (const { handle } of users) await answer.getByRole("link", { name: handle }).waitFor();
  await answer.getByText("€6.00").waitFor();
  for (const label of [
    "Taker",
    "Change of the taker's cash",
    "Maker",
    "Change of the maker's cash",
  ]) {
    t.is(await answer.getByText(label, { exact: true }).count(), 1, label);
  }
  t.is(await answer.locator("pre").count(), 0);

  await form.getByLabel("Id of the trade").fill(trades[0].trade_id);
  await form.getByLabel("Reason").fill("a mistake, again");
  await page.getByRole("button", { name: "Undo the trade", exact: true }).click();
  await form.getByText(/^It was undone on .* already\.$/).waitFor();
  t.is(await page.getByRole("dialog").count(), 0);
  await page.goto(`/operator/markets/${marketId}?show=trades`);
  const row = page.getByRole("region", { name: "Rows: Trades" }).getByRole("row").nth(1);
  for (const { handle } of users) await row.getByRole("link", { name: handle }).waitFor();
});

journey("a page of staff that met a limit opens by itself", async (t, browser) => {
  const { page } = await welcome(browser, "Gerda");
  const limit = (max_requests: number) =>
    service.operate("set_rate_limit", { bucket: "v1-user", max_requests, window_seconds: 5 });
  t.teardown(() => limit(1_000_000));
  await limit(1);
  await page.reload();
  await page.getByRole("heading", { name: "Overview" }).waitFor();
  await page.reload();
  const notice = page.getByText("This page then tries by itself.");
  await notice.waitFor();
  await page.getByRole("heading", { name: "Overview" }).waitFor();
  t.is(await notice.count(), 0);
});

journey("a long list keeps to its key, and a filter lets it be ordered", async (t, browser) => {
  const marketId = await service.makeMarket({ title: "Are there many orders?" });
  const [one, other] = await service.makeTraders(2);
  await service.place(one, marketId, { side: "yes", price: 60, quantity: 1 });
  await service.place(other, marketId, { side: "no", price: 40, quantity: 1 });
  await withClient(service.database.pool, async (client) => {
    const key = { id: "-n", public_id: "core.uuid_v7()", user_id: "0" };
    await client.query("set session_replication_role = replica");
    await client.query(copies("trading.ended_orders", key, { rows: 10_000, users: 1 }));
    await client.query("reset session_replication_role");
  });

  const { page, complaints } = await welcome(browser, "Lea");
  const head = (label: string) => page.getByRole("columnheader", { name: label });
  const number = page.locator("tbody tr").first().locator("td").last();
  await page.goto("/operator/lists/orders?sort=CREATED_AT_ASC");
  await page.getByText("Rows 1 to 25 of more than 10,000. Filter them").waitFor();
  t.is(await head("Placed").getByRole("button").count(), 0);
  t.is(await head("Number").getAttribute("aria-sort"), "descending");
  await head("Number").getByRole("button").click();
  await number.getByText("-10,000").or(number.getByText("-10000")).waitFor();
  t.is(await head("Number").getAttribute("aria-sort"), "ascending");
  await page.getByRole("button", { name: "Next page" }).click();
  await page.getByText("Rows 26 to 50 of more than 10,000").waitFor();

  const user = page.getByLabel("Id, handle or e-mail of the user");
  await user.fill("nobody@mail.example");
  await page.getByRole("button", { name: "Filter", exact: true }).click();
  await page.getByText("There is no such user: give an id").waitFor();
  const known = "select handle from identity.users where public_id = $1";
  const { rows } = await service.database.pool.query(known, [one.userId]);
  await user.fill(rows[0].handle);
  await page.getByRole("button", { name: "Filter", exact: true }).click();
  await page.getByText("Rows 1 to 1 of 1").waitFor();
  await head("Placed").getByRole("button").click();
  await page.waitForURL(/sort=CREATED_AT_DESC/);
  await head("Placed").getByText("↓").waitFor();
  t.is(await head("Placed").getAttribute("aria-sort"), "descending");
  const downloads = page.waitForEvent("download");
  await page.getByRole("button", { name: "CSV" }).click();
  const csv = (await (await (await downloads).createReadStream()).toArray()).join("");
  t.is(csv.trim().split("\r\n").length, 2);
  t.true(csv.includes(one.userId));
  t.deepEqual(
    complaints.filter((line) => !line.includes("401")),
    [],
  );
});

journey("a loss limit that ends later is shown as such", async (t, browser) => {
  await service.operate("set_sign_up", { policy: "open", play_money_cents: 0 });
  const { visitor, userId } = await makeMember(service);
  for (const dayCents of [5000, null]) {
    const body = { dayCents, weekCents: null, monthCents: 9000 };
    await visitor.call("PUT", "/api/account/limits", { body });
  }
  const { page } = await welcome(browser, "Paula");
  await page.goto(`/operator/users/${userId}`);
  const fact = (label: string) =>
    page.getByText(label, { exact: true }).locator("xpath=following-sibling::dd").innerText();
  await page.getByText("Loss limit of a day").waitFor();
  t.is(await fact("Loss limit of a day"), "€50.00");
  t.is(await fact("Next limit of a day"), "no limit");
  t.is(await fact("Next limit of 30 days"), "–");
});

journey("on a desk the head of a page of staff has two lines", async (t, browser) => {
  const { page } = await welcome(browser, "Otto", { width: 1440 });
  const parts = await page.locator(".header :is(a, button)").all();
  const middles = parts.map(async (part) => {
    const { y, height } = (await part.boundingBox())!;
    return Math.round(y + height / 2);
  });
  t.is(new Set(await Promise.all(middles)).size, 2);
});

for (const view of views) {
  const { theme, width } = view;
  journey(`pages of staff in the ${theme} theme, ${width} px wide`, async (t, browser) => {
    const marketId = await service.makeMarket({ title: `Is ${theme} good at ${width}?` });
    const [one, other] = await service.makeTraders(2);
    await service.place(one, marketId, { side: "yes", price: 60, quantity: 10 });
    await service.place(other, marketId, { side: "no", price: 40, quantity: 4 });
    const { page, complaints } = await welcome(browser, `Eva${theme}${width}`, view);
    const paths = [
      ...["", "/resolutions", "/incidents", "/safety", "/surveillance", "/users", "/markets"],
      ...["/events", "/cash"],
      ...["/proposals", "/staff", "/audit", "/settings", "/lists/trades", "/lists/journals"],
      ...["/lists/processes", "/lists/jobs", "/lists/blocks", "/lists/escrow", "/lists/fee-days"],
      ...[`/markets/${marketId}`, `/users/${one.userId}`],
    ];
    for (const path of paths) {
      const name = path.replace(/\/[\w-]{36}$/, "-one").replaceAll("/", "-");
      await page.goto(`/operator${path}`);
      await page.getByRole("heading", { level: 1 }).waitFor();
      await page.waitForLoadState("networkidle");
      t.is(await page.getByText("This could not be loaded").count(), 0, path);
      await look(t, page, `operator${name}`, view);
    }
    for (const form of await page.locator("details.command > summary").all()) await form.click();
    await look(t, page, "operator-forms", view);
    await page.getByRole("button", { name: "End the sessions" }).click();
    await page.getByRole("dialog").waitFor();
    await look(t, page, "operator-dialog", view);
    await page.context().clearCookies();
    await page.goto("/operator");
    await page.getByLabel("Password").waitFor();
    await look(t, page, "operator-sign-in", view);
    // Nobody is signed in at the first and the last page, and no worker makes /readyz 200.
    t.deepEqual(
      complaints.filter((line) => !/401|503/.test(line)),
      [],
    );
  });
}
