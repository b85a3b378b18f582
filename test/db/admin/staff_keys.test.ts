import test from "ava";
import { isWellFormedSecret, sha256Of } from "../../../src/secrets.ts";
import { testExchange } from "../../helpers/exchange/test_exchange.ts";

/** admin.create_staff_key, list_staff_keys, revoke_staff_key; api.authenticate. */

const exchange = testExchange(test);
const { clock, operate } = exchange;

async function authenticate(key: string, kind = "staff") {
  const { rows } = await exchange.api.query(
    `select value ->> 'name' as name, value ->> 'role' as role
     from api.authenticate(array[$1], array[$2::bytea], '{null}') as value
     where value is not null`,
    [kind, sha256Of(key)],
  );
  return rows;
}

async function list(): Promise<any[]> {
  const rows = await exchange.look("select * from admin.list_staff_keys()");
  return rows;
}

const make = (name: string | null, role: string | null): Promise<string> =>
  operate("create_staff_key", { name, role });

test.serial(
  "a key is made for a role, noted as used to the minute, and revoked for good",
  async (t) => {
    await clock.freeze("2030-01-01T12:00:00Z");
    const analyst = await make("Ada", "analyst");
    const operator = await make("Otto", "operator");
    t.true(isWellFormedSecret(analyst, "ja_"));
    t.true(isWellFormedSecret(operator, "jo_"));
    t.deepEqual(await authenticate(analyst), [{ name: "Ada", role: "analyst" }]);
    await clock.advance(59_999);
    t.deepEqual(await authenticate(operator), [{ name: "Otto", role: "operator" }]);
    await authenticate(analyst);
    const [ada, otto] = await list();
    t.deepEqual(ada.last_used_at, new Date("2030-01-01T12:00:00Z"));
    t.like(otto, { name: "Otto", role: "operator", revoked_at: null });

    await operate("revoke_staff_key", { key_id: otto.id });
    t.deepEqual(await authenticate(operator), []);
    const revokedAt = (await list())[1].revoked_at;
    await clock.advance(1000);
    await operate("revoke_staff_key", { key_id: otto.id });
    t.deepEqual((await list())[1].revoked_at, revokedAt);
    await t.notThrowsAsync(make("Otto", "operator"), "the name is free again");
  },
);

test.serial(
  "a name in use is refused with ALREADY_EXISTS, an unknown role with INVALID_REQUEST",
  async (t) => {
    await make("Zoe", "analyst");
    await t.throwsAsync(make("Zoe", "operator"), { code: "EX018" });
    await t.throwsAsync(make("Mallory", "owner"), { code: "EX001" });
    await t.throwsAsync(make("Mallory", null), { code: "EX001" });
    await t.throwsAsync(make(" ", "analyst"), { code: "EX001" });
    const nobody = "01900000-0000-7000-8000-000000000000";
    await t.throwsAsync(operate("revoke_staff_key", { key_id: nobody }), { code: "EX017" });
  },
);

test.serial("keys of staff are no keys of traders, and the reverse", async (t) => {
  const staff = await make("Nina", "operator");
  const user_id = await exchange.makeTrader();
  const trader: string = await operate("create_api_key", { user_id, name: "mine" });
  t.deepEqual(await authenticate(trader), []);
  t.deepEqual(await authenticate(staff, "key"), []);
});
