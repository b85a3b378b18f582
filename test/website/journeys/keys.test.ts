import test from "ava";
import { testService } from "../../helpers/http/test_service.ts";
import { until } from "../../helpers/until.ts";
import { arrive } from "../arrive.ts";
import { journey } from "../journey.ts";

/** API keys with less power, in a real browser: made, rotated, and all revoked. */

const service = testService(test, { website: true, playMoneyCents: 100_000 });
const { call } = service;

const statusOf = async (key: string) => (await call("GET", "/api/v1/me", { key })).status;

journey("a key that may only read here is made, used, rotated and revoked", async (t, browser) => {
  const { page, userId } = await arrive(browser, service);
  await page.goto("/account#keys");
  await page.getByLabel("Where it may be used").fill("here");
  await page.getByRole("button", { name: "Create key" }).click();
  await page.getByText("This must be an address or a network").waitFor();
  // What is wrong is said once, beside its field, and without the names that programs use.
  t.is(await page.getByText("must not be blank").count(), 1);
  t.is(await page.getByText(/name:|allowedAddresses/i).count(), 0);
  await page.getByLabel("Name of the new key").fill("dashboard");
  await page.getByRole("radio", { name: "Only read" }).check();
  await page.getByRole("radio", { name: "90 days" }).check();
  // Host bits are not zero.
  await page.getByLabel("Where it may be used").fill("127.0.0.0/8, 10.0.0.1/8");
  await page.getByRole("button", { name: "Create key" }).click();
  await page.getByText("This must be addresses or networks").waitFor();
  await page.getByLabel("Where it may be used").fill("127.0.0.0/8, 10.0.0.0/8");
  await page.getByRole("button", { name: "Create key" }).click();
  const key = await page.locator("code.key").innerText();
  // Pressed once more, it makes none, and the key that is not copied yet stays.
  await page.getByRole("button", { name: "Create key" }).click();
  await page.getByText("must not be blank").waitFor();
  t.is(await page.locator("code.key").innerText(), key);
  const item = page.getByRole("listitem").filter({ hasText: "Made" });
  await item.getByText(/^May only read · from 127.0.0.0\/8, 10.0.0.0\/8 · until /).waitFor();
  await item.getByText("never used").waitFor();

  t.is((await call("GET", "/api/v1/me", { key })).body.id, userId);
  const cancel = await call("POST", "/api/v1/orders/cancel-all", { key });
  t.is(cancel.body.code, "KEY_SCOPE");
  await until("the use is recorded", async () => {
    const { rows } = await service.database.pool.query(
      "select from admin.api_keys where user_id = $1 and last_used_at is not null",
      [userId],
    );
    return rows.length === 1;
  });
  await page.reload();
  await page.getByText(/last used .* from 127\.0\.0\.1$/).waitFor();

  await page.getByRole("button", { name: "Rotate dashboard" }).click();
  const rotation = page.getByRole("region", { name: "API keys" });
  await rotation.getByRole("radio", { name: "1 hour" }).check();
  await page.getByRole("button", { name: "Make the new key" }).click();
  const rotated = await page.locator("code.key").innerText();
  t.not(rotated, key);
  await page.getByText(/^May only read .* · rotated: the old key$/).waitFor();
  t.is(await page.getByRole("button", { name: "Rotate dashboard" }).count(), 1);
  t.deepEqual([await statusOf(key), await statusOf(rotated)], [200, 200]);

  // Both have the same name: the question says which one it is about.
  const old = item.filter({ hasText: "rotated" });
  await old.getByRole("button", { name: "Revoke dashboard" }).click();
  const question = page.getByRole("dialog");
  await question.getByText(/^May only read .* · rotated: the old key$/).waitFor();
  await question.getByText(/^Made .*\d:\d\d.* · last used /).waitFor();
  await page.getByRole("button", { name: "Back" }).click();

  await page.getByRole("button", { name: "Revoke all keys" }).click();
  await page.getByRole("button", { name: "Back" }).click();
  t.is(await item.count(), 2);
  await page.getByRole("button", { name: "Revoke all keys" }).click();
  await page.getByRole("button", { name: "Revoke all for good" }).click();
  await page.getByText("No keys yet").waitFor();
  for (const one of [key, rotated]) {
    await until("it is refused", async () => (await statusOf(one)) === 401);
  }
});
