import test from "ava";
import { testClock } from "../helpers/database/test_clock.ts";
import { testService } from "../helpers/http/test_service.ts";
import { anybody, makeMember, makeVisitor, takeMails } from "../helpers/http/visitor.ts";

/** A mailbox gets few mails, whoever asks; and no other person keeps its owner from one. */

const service = testService(test, { limited: true, playMoneyCents: 0 });
const { operate } = service;
const clock = () => testClock(service.database.pool);

let addresses = 0;
/** Of somebody who has asked for nothing before. */
const elsewhere = () => ({ "x-forwarded-for": `198.51.100.${(addresses += 1)}` });

type Visitor = ReturnType<typeof makeVisitor>;

async function signUp(person: ReturnType<typeof anybody>): Promise<Visitor> {
  const visitor = makeVisitor(service);
  const headers = elsewhere();
  const { status } = await visitor.call("POST", "/api/account/sign-up", { body: person, headers });
  if (status !== 201) throw new Error(`A sign-up was ${status}`);
  return visitor;
}

const ask = (email: string, headers = elsewhere(), visitor = makeVisitor(service)) =>
  visitor.call("POST", "/api/account/password-reset", { body: { email }, headers });

/** Takes the mails to an address that are due. */
const mailsTo = async (email: string) =>
  (await takeMails(service.worker)).filter(({ to }) => to.toLowerCase() === email.toLowerCase());

const HOUR = 3_600_000;

test.serial("a mailbox gets five mails of a kind in an hour, whoever asks", async (t) => {
  const { email } = anybody();
  const visitors: Visitor[] = [];
  for (let number = 0; number < 5; number++) visitors.push(await signUp({ ...anybody(), email }));
  const mails = await takeMails(service.worker);
  t.is(mails.length, 5);
  for (const visitor of visitors) {
    for (let number = 0; number < 5; number++) {
      const headers = elsewhere();
      const answer = await visitor.call("POST", "/api/account/email/resend", { headers });
      t.deepEqual([answer.status, answer.body], [200, {}]);
    }
    mails.push(...(await takeMails(service.worker)));
  }
  t.is(mails.length, 5, "30 were asked for");
  const [visitor] = visitors;
  const refused = await visitor!.call("POST", "/api/account/email/resend", {
    headers: elsewhere(),
  });
  t.is(refused.status, 429, "an account asks for five in an hour");
});

test.serial("sign-ups by others delay the owner's mail, and never stop it", async (t) => {
  const time = clock();
  await time.freeze("2040-01-01T12:00:00Z");
  const owner = anybody();
  for (let number = 0; number < 7; number++) await signUp({ ...anybody(), email: owner.email });
  const visitor = await signUp(owner);
  t.is((await mailsTo(owner.email)).length, 5);
  await time.advance(HOUR / 2);
  t.deepEqual(await mailsTo(owner.email), []);
  await time.advance(HOUR / 2);
  const mails = await mailsTo(owner.email);
  t.is(mails.length, 3);
  const mail = mails.find(({ text }) => text.includes(`Handle: ${owner.handle}\n`));
  const confirmed = await visitor.call("POST", "/api/account/email/confirm", {
    body: { token: mail?.token },
    headers: elsewhere(),
  });
  t.is(confirmed.status, 200);
  await time.release();
});

test.serial("a mail that has waited a day for room is not sent", async (t) => {
  const time = clock();
  await time.freeze("2041-01-01T12:00:00Z");
  const { email } = anybody();
  await operate("set_rate_limit", {
    ...{ bucket: "mail-account", max_requests: 1, window_seconds: 86_400 },
  });
  for (let number = 0; number < 3; number++) await signUp({ ...anybody(), email });
  t.is((await mailsTo(email)).length, 1);
  const waiting = async () =>
    (
      await service.database.pool.query(
        "select from identity.mails where due_at is not null and address = $1",
        [email],
      )
    ).rowCount;
  t.is(await waiting(), 2);
  const { rows } = await service.pool.query(
    "select waiting_mails::int as count, oldest_mail_age_seconds as age from api.get_mail_metrics()",
  );
  t.deepEqual(rows, [{ count: 0, age: 0 }], "these are not late");
  await time.advance(24 * HOUR);
  t.is((await mailsTo(email)).length, 1);
  t.is(await waiting(), 0);
  await operate("set_rate_limit", {
    ...{ bucket: "mail-account", max_requests: 5, window_seconds: 3600 },
  });
  await time.release();
});

test.serial("kinds of mails are counted apart; those asked for together are one", async (t) => {
  const { person } = await makeMember(service);
  for (let number = 0; number < 6; number++) await signUp({ ...anybody(), email: person.email });
  await takeMails(service.worker);
  for (let round = 0; round < 5; round++) {
    for (const email of [person.email, person.email.toUpperCase(), person.email.toLowerCase()]) {
      t.is((await ask(email)).status, 200);
    }
    t.deepEqual(
      (await mailsTo(person.email)).map(({ kind, to }) => [kind, to]),
      [["password_reset", person.email]],
      `round ${round}`,
    );
  }
  t.is((await ask(person.email)).status, 200, "the answer is the same");
  t.deepEqual(await takeMails(service.worker), []);
});

test.serial("requests for others behind an address do not block a user's reset", async (t) => {
  const { person } = await makeMember(service);
  const shared = elsewhere();
  for (let number = 0; number < 10; number++) {
    t.is((await ask(anybody().email, shared)).status, 200);
  }
  t.is((await ask(person.email, shared)).status, 200);
  t.deepEqual(
    (await takeMails(service.worker)).map(({ to }) => to),
    [person.email],
  );
});

test.serial("429: sign-ups, changes and repeated mails count together by address", async (t) => {
  const shared = elsewhere();
  const visitors: Visitor[] = [];
  for (let number = 0; number < 3; number++) visitors.push(await signUp(anybody()));
  const answers: number[] = [];
  const askAll = async (ask: (visitor: Visitor) => Promise<{ status: number }>) => {
    for (const visitor of visitors) answers.push((await ask(visitor)).status);
  };
  const resend = (visitor: Visitor, headers = shared) =>
    visitor.call("POST", "/api/account/email/resend", { headers });
  const change = (visitor: Visitor, headers = shared) =>
    visitor.call("POST", "/api/account/email", {
      body: { email: anybody().email, password: "a wrong password" },
      headers,
    });
  await askAll((visitor) => resend(visitor));
  await askAll((visitor) => change(visitor));
  await askAll((visitor) => resend(visitor));
  await askAll((visitor) => change(visitor));
  t.deepEqual(answers, [...[200, 200, 200, 403, 403, 403, 200, 200, 200, 403], 429, 429]);
  const [visitor] = visitors;
  const body = anybody();
  const signedUp = await makeVisitor(service).call("POST", "/api/account/sign-up", {
    body,
    headers: shared,
  });
  t.is(signedUp.status, 429);
  t.is((await resend(visitor!, elsewhere())).status, 200, "of another address");
  await takeMails(service.worker);
});

test.serial("429: an address asks for many resets; a known browser still gets one", async (t) => {
  const { visitor, person } = await makeMember(service);
  const { email, password } = person;
  await visitor.call("POST", "/api/account/sign-in", {
    body: { email, password },
    headers: elsewhere(),
  });
  await visitor.call("POST", "/api/account/sign-out");
  await takeMails(service.worker);
  await operate("set_rate_limit", { bucket: "v1", max_requests: 1000, window_seconds: 60 });
  const shared = elsewhere();
  for (let number = 0; number < 60; number++) {
    t.is((await ask(anybody().email, shared)).status, 200);
  }
  t.is((await ask(email, shared)).status, 429);
  t.is((await ask(anybody().email, shared, visitor)).status, 429, "known for another address");
  t.is((await ask(email, shared, visitor)).status, 200);
  t.deepEqual(
    (await takeMails(service.worker)).map(({ to }) => to),
    [email],
  );
});
