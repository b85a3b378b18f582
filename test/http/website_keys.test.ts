import test from "ava";
import { testService } from "../helpers/http/test_service.ts";
import { makeMember, takeMails } from "../helpers/http/visitor.ts";
import type { Visitor } from "../helpers/http/visitor.ts";

/** API keys with less power, as users make and rotate them on the website. */

const service = testService(test, { playMoneyCents: 0 });
const { call } = service;

const member = () => makeMember(service);
const noSuchId = "01900000-0000-7000-8000-000000000000";
const later = "2090-01-01T00:00:00.000Z";

const make = async ({ call: send }: Visitor, body: object) =>
  send("POST", "/api/account/keys", { body: { name: "bot", ...body } });
const list = async ({ call: send }: Visitor): Promise<any[]> =>
  (await send("GET", "/api/account/keys")).body.data;
const statusOf = async (key: string) => (await call("GET", "/api/v1/me", { key })).status;

test.serial("a key has the powers that were chosen; the list and a mail say them", async (t) => {
  const { visitor, person } = await member();
  const allowedAddresses = ["127.0.0.1", "10.0.0.0/8", "2001:DB8::/32"];
  const made = await make(visitor, { scopes: ["read"], expiresAt: later, allowedAddresses });
  t.is(made.status, 201);
  t.deepEqual(Object.keys(made.body), ["id", "name", "key"]);
  const { key, id } = made.body;
  t.is(await statusOf(key), 200);
  const cancel = await call("POST", "/api/v1/orders/cancel-all", { key });
  t.is(cancel.body.code, "KEY_SCOPE");
  const [listed] = await list(visitor);
  t.like(listed, { id, name: "bot", expiresAt: later, replacedBy: null });
  t.deepEqual(listed.scopes, ["read"]);
  t.deepEqual(listed.allowedAddresses, ["127.0.0.1", "10.0.0.0/8", "2001:db8::/32"]);
  const [mail] = (await takeMails(service.worker)).filter(({ to }) => to === person.email);
  t.is(mail!.kind, "new_key");
  const where = "127.0.0.1, 10.0.0.0/8, 2001:db8::/32";
  t.true(mail!.text.includes(`It may read, until ${later}, from ${where}.`), mail!.text);
});

test.serial("what is not chosen is all, without end, from everywhere", async (t) => {
  const { visitor, person } = await member();
  for (const body of [{}, { expiresAt: null, allowedAddresses: null }]) {
    t.is((await make(visitor, body)).status, 201);
    const [listed] = await list(visitor);
    const powers = { scopes: ["read", "trade"], expiresAt: null, allowedAddresses: null };
    t.like(listed, { ...powers, lastUsedAt: null, lastUsedAddress: null });
  }
  const [mail] = (await takeMails(service.worker)).filter(({ to }) => to === person.email);
  t.true(mail!.text.includes("It may read and trade, until it is revoked, from everywhere."));
});

test.serial("INVALID_REQUEST: scopes, an expiry or addresses that cannot be", async (t) => {
  const { visitor } = await member();
  for (const [body, path] of [
    [{ scopes: [] }, "scopes"],
    [{ scopes: ["admin"] }, "scopes.0"],
    [{ scopes: ["read", "read"] }, "scopes"],
    [{ scopes: null }, "scopes"],
    [{ expiresAt: "tomorrow" }, "expiresAt"],
    [{ expiresAt: "2001-01-01T00:00:00Z" }, ""],
    [{ allowedAddresses: [] }, "allowedAddresses"],
    [{ allowedAddresses: ["home"] }, "allowedAddresses.0"],
    [{ allowedAddresses: ["10"] }, "allowedAddresses.0"],
    [{ allowedAddresses: ["10.0.0.0/33"] }, "allowedAddresses.0"],
    [{ allowedAddresses: ["fe80::1%eth0"] }, "allowedAddresses.0"],
    [{ allowedAddresses: ["10.0.0.1/8"] }, "allowedAddresses"],
    [{ allowedAddresses: ["::ffff:10.0.0.1"] }, ""],
    [{ allowedAddresses: Array.from({ length: 21 }, () => "10.0.0.1") }, "allowedAddresses"],
  ] as const) {
    const answer = await make(visitor, body);
    t.is(answer.status, 400, JSON.stringify(body));
    t.is(answer.body.code, "INVALID_REQUEST");
    t.is(answer.body.issues[0].path, path, JSON.stringify(answer.body));
  }
  t.deepEqual(await list(visitor), []);
});

test.serial("a rotation makes a key beside the old one, which expires", async (t) => {
  const { visitor, person } = await member();
  const { body: old } = await make(visitor, { scopes: ["read"] });
  await takeMails(service.worker);
  const path = `/api/account/keys/${old.id}/rotate`;
  const rotated = await visitor.call("POST", path, { body: { overlapSeconds: 3600 } });
  t.is(rotated.status, 201);
  t.deepEqual(Object.keys(rotated.body), ["id", "name", "key", "oldKeyEndsAt"]);
  const endsInMs = Date.parse(rotated.body.oldKeyEndsAt) - Date.now();
  t.true(endsInMs > 3_000_000 && endsInMs <= 3_600_000);
  t.deepEqual([await statusOf(old.key), await statusOf(rotated.body.key)], [200, 200]);
  const [newer, older] = await list(visitor);
  t.like(newer, { id: rotated.body.id, name: "bot", replacedBy: null });
  t.deepEqual(newer.scopes, ["read"]);
  t.like(older, { id: old.id, replacedBy: newer.id, expiresAt: rotated.body.oldKeyEndsAt });
  const [mail] = (await takeMails(service.worker)).filter(({ to }) => to === person.email);
  t.regex(mail!.text, /in the place of another: bot\n\nIt may read, until it is revoked/);

  const again = await visitor.call("POST", path, { body: {} });
  t.is(again.body.code, "INVALID_STATE");
});

test.serial("a rotation without an overlap ends the old key at once", async (t) => {
  const { visitor } = await member();
  const { body: old } = await make(visitor, {});
  const path = `/api/account/keys/${old.id}/rotate`;
  const rotated = await visitor.call("POST", path, { body: { overlapSeconds: 0 } });
  t.is(rotated.status, 201);
  t.deepEqual(
    (await list(visitor)).map(({ id }) => id),
    [rotated.body.id],
  );
  t.deepEqual([await statusOf(old.key), await statusOf(rotated.body.key)], [401, 200]);
});

test.serial("404, 400: rotations that are none", async (t) => {
  const [owner, stranger] = [await member(), await member()];
  const { body } = await make(owner.visitor, {});
  const rotate = (id: string, more: object, by = owner.visitor) =>
    by.call("POST", `/api/account/keys/${id}/rotate`, { body: {}, ...more });
  t.is((await rotate(noSuchId, {})).status, 404);
  t.is((await rotate(body.id, {}, stranger.visitor)).status, 404);
  t.is((await rotate("no-id", {})).status, 400);
  for (const overlapSeconds of [-1, 1, 299, 604_801, 0.5, null, "1"]) {
    t.is((await rotate(body.id, { body: { overlapSeconds } })).status, 400);
  }
  t.deepEqual(
    (await list(owner.visitor)).map(({ replacedBy }) => replacedBy),
    [null],
  );
});

test.serial("all keys of a user are revoked at once, and no others", async (t) => {
  const [owner, stranger] = [await member(), await member()];
  const keys: string[] = [];
  for (const body of [{}, { scopes: ["read"] }]) {
    keys.push((await make(owner.visitor, body)).body.key);
  }
  const { body: kept } = await make(stranger.visitor, {});
  for (const key of keys) t.is(await statusOf(key), 200);
  const revoked = await owner.visitor.call("DELETE", "/api/account/keys");
  t.deepEqual([revoked.status, revoked.body], [200, { revoked: 2 }]);
  t.deepEqual(await list(owner.visitor), []);
  for (const key of keys) {
    const answers: number[] = [];
    while (answers.at(-1) !== 401 && answers.length < 2000) answers.push(await statusOf(key));
    t.is(answers.at(-1), 401);
  }
  t.is(await statusOf(kept.key), 200);
  const none = await owner.visitor.call("DELETE", "/api/account/keys");
  t.deepEqual(none.body, { revoked: 0 });
});
