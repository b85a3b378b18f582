import test from "ava";
import { callBy, makeStaff } from "../../helpers/exchange/staff.ts";
import type { StaffMember } from "../../helpers/exchange/staff.ts";
import { failure, pairsOf } from "../../helpers/exchange/contention.ts";
import { buy } from "../../helpers/exchange/orders.ts";
import { testExchange } from "../../helpers/exchange/test_exchange.ts";

/** admin.basis: what the decision about a proposal rests on. If it changes, nobody can approve. */

const exchange = testExchange(test, { sessions: 20 });
const { balance, makeMarket, makeMarketWith, makeTrader, makeTraders, operate } = exchange;

const nobody = "01900000-0000-7000-8000-000000000000";
const invalid = { code: "EX001" };
const changed = { code: "EX045" };

let operators: ReturnType<typeof exchange.database.connectAs>;
let [ann, ben]: StaffMember[] = [];

const pair = pairsOf(test, exchange, 15);

test.serial.before("make staff", async () => {
  operators = exchange.database.connectAs("exchange_operator", { max: 20 });
  const all = ["cash", "incidents", "markets", "staff", "users"];
  [ann, ben] = [await makeStaff(exchange, all), await makeStaff(exchange, all)];
});

const propose = (command: string, values: unknown): Promise<any> =>
  callBy(operators, ann!.cookieHash, "propose", {
    ...{ command, arguments: JSON.stringify(values), reason: "asked for" },
  });
const approve = (proposal_id: string): Promise<any> =>
  callBy(operators, ben!.cookieHash, "approve", { proposal_id });

async function shown(proposalId: string): Promise<any> {
  const { rows } = await operators.query("select * from admin.proposals where proposal_id = $1", [
    proposalId,
  ]);
  return rows[0];
}

let made = 0;
const reference = () => `reference ${(made += 1)}`;
const deposit = async (cents = 250) => ({
  ...{ user_id: await makeTrader({ cents: 0 }), amount_cents: cents, reference: reference() },
});

test.serial(
  "PROPOSAL_CHANGED: the positions, texts or resolutions of a market are others",
  async (t) => {
    const event_id = await operate("create_event", { title: "Who wins?", category: "tests" });
    const resolution = async () => {
      const market = await makeMarket({ event_id });
      const [one, two] = await makeTraders(2);
      await exchange.giveShares(market, one, "yes", 10);
      const id = await propose("resolve_market", { market_id: market, outcome: "yes" });
      t.like((await shown(id)).preview, { positions: 2, payoutCents: 1000 });
      return { id, market, one, two };
    };
    const still = await resolution();
    await exchange.rest(still.market, still.two, buy("yes", 5, 40));
    t.like(await approve(still.id), { payoutCents: 1000 }, "an order is no position");

    const traded = await resolution();
    await exchange.giveShares(traded.market, traded.two, "yes", 1);
    await t.throwsAsync(approve(traded.id), changed);
    const split = await resolution();
    await exchange.split(split.market, split.two, 1);
    await t.throwsAsync(approve(split.id), changed);
    await exchange.merge(split.market, split.two, 1);
    t.like(await shown(split.id), { status: "open" });
    const edited = await resolution();
    await operate("edit_market", { market_id: edited.market, title: "Will it snow?" });
    await t.throwsAsync(approve(edited.id), changed);
    const named = await resolution();
    await operate("edit_market", { market_id: named.market, outcome_name: "Ana Berg" });
    await t.throwsAsync(approve(named.id), changed);
    const renamed = await resolution();
    await operate("edit_event", { event_id, title: "Who loses?" });
    await t.throwsAsync(approve(renamed.id), changed);
    const resolved = await resolution();
    await operate("resolve_market", { market_id: resolved.market, outcome: "no" });
    await t.throwsAsync(approve(resolved.id), changed);
  },
);

test.serial("PROPOSAL_CHANGED: address, freeze, exclusion, roles or rule are others", async (t) => {
  const user_id = await makeTrader();
  const address = await propose("recover_account", { user_id, email: "one@test.example" });
  await operate("recover_account", { user_id, email: "two@test.example" });
  await t.throwsAsync(approve(address), changed);

  await operate("freeze_user", { user_id, reason: "one" });
  const freeze = await propose("unfreeze_user", { user_id, reason: "over" });
  const again = await propose("deposit", { user_id, amount_cents: 1, reference: reference() });
  await operate("freeze_user", { user_id, reason: "two" });
  await t.throwsAsync(approve(freeze), changed);
  await t.throwsAsync(approve(again), changed);

  await operate("self_exclude", { user_id, until: "2090-01-01T00:00:00Z" });
  const exclusion = await propose("end_self_exclusion", { user_id, reason: "a mistake" });
  await operate("self_exclude", { user_id });
  await t.throwsAsync(approve(exclusion), changed);

  const own = { user_id: await makeTrader(), week_cents: null, month_cents: null };
  const limits = { ...own, day_cents: 9000, immediate: true };
  const raise = await propose("set_loss_limits", limits);
  await operate("set_loss_limits", { ...own, day_cents: 0 });
  await t.throwsAsync(approve(raise), changed);

  await operate("create_api_key", { user_id: own.user_id, name: "key" });
  const [key] = await exchange.query("select public_id from identity.api_keys order by id desc");
  const rotation = await propose("rotate_api_key", { key_id: key.public_id });
  t.deepEqual(Object.keys((await shown(rotation)).basis.users), [own.user_id]);
  const { proposals } = await operate("export_user", { user_id: own.user_id });
  t.deepEqual(
    proposals.map((proposal: any) => proposal.proposal_id),
    [raise, rotation],
    "also that which names the key alone",
  );
  await operate("freeze_user", { user_id: own.user_id, reason: "a thief" });
  await t.throwsAsync(approve(rotation), changed);

  const bank = (cents: number) => JSON.stringify([{ reference: "x", amount_cents: cents }]);
  await operate("reconcile", { day: "2020-01-02", bank: bank(1) });
  const closing = await propose("close_day", { day: "2020-01-02", reason: "one cent" });
  await operate("reconcile", { day: "2020-01-02", bank: bank(777_777) });
  await t.throwsAsync(approve(closing), changed);

  const { staffId } = await makeStaff(exchange, ["users"]);
  const roles = await propose("set_staff_roles", { staff_id: staffId, roles: ["cash"] });
  await operate("set_staff_roles", { staff_id: staffId, roles: ["markets"] });
  await t.throwsAsync(approve(roles), changed);

  const rule = await propose("set_approval_rule", { command: "deposit", role: "cash" });
  await operate("set_approval_rule", { command: "deposit", role: "users" });
  await t.throwsAsync(approve(rule), changed);
  await operate("remove_approval_rule", { command: "deposit" });
  await approve(rule);
  await operate("remove_approval_rule", { command: "deposit" });
});

test.serial(
  "PROPOSAL_CHANGED: users and staff whom the arguments name in other ways",
  async (t) => {
    const [one, two, three] = [await deposit(), await deposit(), await deposit()];
    const users = [one, two].map(({ user_id }) => ({ user_id, amount_cents: 5 }));
    const bonus = await propose("give_bonus", { name: reference(), users });
    const address = (await shown(bonus)).basis.users[two.user_id].email;
    t.deepEqual(
      Object.keys((await shown(bonus)).basis.users),
      [one, two].map((x) => x.user_id).sort(),
    );
    await operate("freeze_user", { user_id: two.user_id, reason: "stolen" });
    await t.throwsAsync(approve(bonus), changed);
    t.is(await balance(one.user_id), 0);
    const again = await propose("give_bonus", { name: reference(), users: users.toReversed() });
    await operate("freeze_user", { user_id: three.user_id, reason: "of no interest" });
    t.is(await approve(again), 2);

    await operate("deposit", three);
    const reversal = await propose("reverse_deposit", {
      reference: three.reference,
      reason: "not ours",
    });
    const change = { user_id: three.user_id, email: "other@test.example" };
    await operate("recover_account", change);
    await t.throwsAsync(approve(reversal), changed);
    const anew = { reference: three.reference, reason: "not ours" };
    t.is(await approve(await propose("reverse_deposit", anew)), 0);

    const { staffId } = await makeStaff(exchange, ["audit"]);
    const { rows } = await operators.query(
      "select passkey_id from admin.staff_passkeys where staff_id = $1",
      [staffId],
    );
    const passkey = await propose("remove_staff_passkey", rows[0]);
    await operate("set_staff_roles", { staff_id: staffId, roles: ["staff"] });
    await t.throwsAsync(approve(passkey), changed);
    await approve(await propose("remove_staff_passkey", rows[0]));

    const kept = await propose("give_bonus", { name: reference(), users });
    await operate("adjust_balance", {
      ...{ user_id: two.user_id, amount_cents: -5, reference: reference(), reason: "why" },
    });
    await operate("erase_user", { user_id: two.user_id, reason: "case 2" });
    for (const id of [bonus, again, kept]) {
      t.false(JSON.stringify(await shown(id)).includes(address), "no address of who was erased");
    }
    await t.throwsAsync(approve(kept), changed);
    t.deepEqual(await exchange.verify(), []);
  },
);

test.serial("INVALID_REQUEST: users of a bonus that are none", async (t) => {
  const { user_id } = await deposit();
  for (const users of [null, 5, "[]", {}, [], [5], [null], [{ user_id: "x", amount_cents: 1 }]]) {
    const given = { name: reference(), users };
    await t.throwsAsync(propose("give_bonus", given), invalid, JSON.stringify(users));
  }
  const users = [user_id, nobody].map((id) => ({ user_id: id, amount_cents: 1 }));
  await t.throwsAsync(propose("give_bonus", { name: reference(), users }), { code: "EX017" });
  await t.throwsAsync(propose("remove_staff_passkey", { passkey_id: nobody }), { code: "EX017" });
  await t.throwsAsync(propose("remove_staff_passkey", { passkey_id: "x" }), invalid);
});

test.serial("the time zones of who proposes and who approves do not matter", async (t) => {
  const zones = exchange.database.connectAs("exchange_operator", { max: 1 });
  const user_id = await makeTrader();
  await operate("freeze_user", { user_id, reason: "stolen" });
  await zones.query("set timezone = 'Europe/Berlin'");
  const proposal_id = await callBy(zones, ann!.cookieHash, "propose", {
    command: "unfreeze_user",
    arguments: JSON.stringify({ user_id, reason: "a mistake" }),
    reason: "asked for",
  });
  await zones.query("set timezone = 'Pacific/Kiritimati'");
  await callBy(zones, ben!.cookieHash, "approve", { proposal_id });
  t.is((await shown(proposal_id)).status, "approved");
});

pair.serial(
  "a freeze and the approval of a bonus meet: paid before, or refused",
  ["paid first", "refused"],
  async (contention, t) => {
    const made = await Promise.all([deposit(), deposit()]);
    const users = made.map(({ user_id }) => ({ user_id, amount_cents: 5 }));
    const id = await propose("give_bonus", { name: reference(), users });
    const [code] = await contention.together([
      () => failure(approve(id)),
      () => operate("freeze_user", { user_id: users[1]!.user_id, reason: "stolen" }),
    ]);
    for (const { user_id } of users) t.is(await balance(user_id), code === null ? 5 : 0);
    if (code === null) return "paid first";
    t.is(code, "EX045");
    return "refused";
  },
);

pair.serial(
  "a market trades while its resolution is approved: paid as was shown, or refused",
  ["paid", "refused"],
  async (contention, t) => {
    const [market, one, two] = await makeMarketWith(2);
    await exchange.giveShares(market, one, "yes", 10);
    const id = await propose("resolve_market", { market_id: market, outcome: "yes" });
    const [code, split] = await contention.together([
      () => failure(approve(id)),
      () => exchange.split(market, two, 1),
    ] as const);
    t.is(code === null, split.code === "MARKET_NOT_OPEN");
    if (code === null) {
      t.deepEqual((await shown(id)).result, (await shown(id)).preview);
      return "paid";
    }
    t.is(code, "EX045");
    return "refused";
  },
);

pair.serial(
  "an exclusion becomes longer while its end is approved: it is ended before, or refused",
  ["ended first", "refused"],
  async (contention, t) => {
    const user_id = await makeTrader();
    await operate("self_exclude", { user_id, until: "2090-01-01T00:00:00Z" });
    const id = await propose("end_self_exclusion", { user_id, reason: "a mistake" });
    const [code] = await contention.together([
      () => failure(approve(id)),
      () => operate("self_exclude", { user_id }),
    ]);
    const { rows } = await operators.query(
      "select excluded_until = 'infinity' as is_excluded from admin.users where user_id = $1",
      [user_id],
    );
    t.true(rows[0].is_excluded);
    if (code === null) return "ended first";
    t.is(code, "EX045");
    return "refused";
  },
);
