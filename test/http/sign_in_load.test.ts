import test from "ava";
import { testService } from "../helpers/http/test_service.ts";
import { makeMember, makeVisitor } from "../helpers/http/visitor.ts";

/** Many sign-ins at once: their hashes wait for each other, and neither other requests nor people. */

const service = testService(test, { limited: true });
const { call, makeMarket, makeTrader, operate } = service;

test.serial("sign-ins from 60 addresses keep nobody out, and hold up no order", async (t) => {
  await operate("set_sign_up", { policy: "open" });
  const worker = service.database.connectAs("exchange_worker");
  for (const bucket of ["v1", "v1-auth", "v1-user", "sign-up"]) {
    await operate("set_rate_limit", { bucket, max_requests: 1_000_000, window_seconds: 1 });
  }
  const HONEST = 16;
  const people: Awaited<ReturnType<typeof makeMember>>[] = [];
  while (people.length < HONEST) people.push(await makeMember(service, worker));
  const marketId = await makeMarket();
  const { key } = await makeTrader();

  let isOver = false;
  const codes = new Map<number, number>();
  const flood = Array.from({ length: 60 }, async (_, address) => {
    await Promise.all(
      Array.from({ length: 5 }, async (__, number) => {
        const { status } = await makeVisitor(service).call("POST", "/api/account/sign-in", {
          body: { email: `no-${address}-${number}@test.example`, password: "a wrong password" },
          headers: { "x-forwarded-for": `203.0.113.${address}` },
        });
        codes.set(status, (codes.get(status) ?? 0) + 1);
      }),
    );
  });
  void Promise.all(flood).then(() => (isOver = true));
  const signIn = ({ person }: (typeof people)[number], address: string) =>
    makeVisitor(service).call("POST", "/api/account/sign-in", {
      body: { email: person.email, password: person.password },
      headers: { "x-forwarded-for": address },
    });
  const honest = people.map((one, number) => signIn(one, `198.51.100.${number}`));
  const order = { marketId, side: "yes", price: 10, quantity: 1 };
  t.is((await call("POST", "/api/v1/orders", { key, body: order })).status, 201);
  t.false(isOver, "while sign-ins waited");
  const answers = await Promise.all(honest);
  t.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]));
  await Promise.all(flood);
  t.true([...codes.keys()].every((code) => code === 401 || code === 503));

  // What was right, or not judged, stays counted nowhere; what was wrong does.
  const { rows } = await service.database.pool.query(
    `select w.subject like '198.51.100.%' as is_honest, sum(w.taken)::int as taken
     from rate_limits.windows as w where w.bucket = 'sign-in' group by 1`,
  );
  const taken = new Map(rows.map((row) => [row.is_honest, row.taken]));
  t.is(taken.get(true), 0);
  t.true(taken.get(false)! >= codes.get(401)!);
});

test.serial(
  "strangers at the address of a known browser keep its user out of nothing",
  async (t) => {
    const worker = service.database.connectAs("exchange_worker");
    const { person, visitor } = await makeMember(service, worker);
    const headers = { "x-forwarded-for": "192.0.2.33" };
    const attempt = (by: typeof visitor, email: string, password: string) =>
      by.call("POST", "/api/account/sign-in", { body: { email, password }, headers });
    for (let number = 0; number < 40; number++) {
      const { status } = await attempt(visitor, person.email, person.password);
      t.is(status, 200, "right ones do not count");
    }
    for (let number = 0; number < 30; number++) {
      const one = await attempt(
        makeVisitor(service),
        `who-${number}@test.example`,
        "wrong password",
      );
      t.is(one.status, 401);
    }
    t.is((await attempt(makeVisitor(service), person.email, person.password)).status, 429);
    t.is((await attempt(visitor, person.email, person.password)).status, 200);
    const wrong = { currentPassword: "not the password", newPassword: "another long one" };
    const change = await visitor.call("PUT", "/api/account/password", { body: wrong, headers });
    t.is(change.body.code, "WRONG_PASSWORD");
  },
);
