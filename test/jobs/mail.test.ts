import test from "ava";
import type { ExecutionContext } from "ava";
import { crontab } from "../../jobs/crontab.ts";
import { sendMail } from "../../jobs/mail__send.ts";
import { printingTransport, smtpTransport } from "../../src/mail/transport.ts";
import type { MailTransport } from "../../src/mail/transport.ts";
import { makeQueue, startTestWorker } from "../helpers/exchange/test_worker.ts";
import { testClock } from "../helpers/database/test_clock.ts";
import { openMailServer, readableMail } from "../helpers/http/mail_server.ts";
import type { MailServer, Received } from "../helpers/http/mail_server.ts";
import { testService } from "../helpers/http/test_service.ts";
import { anybody, makeMember, makeVisitor } from "../helpers/http/visitor.ts";
import { until } from "../helpers/until.ts";

/** Mails go to a mail server, and their links work. */

const service = testService(test);
const { operate } = service;
const clock = testClock;

let server: MailServer;

test.serial.before("start a mail server", async () => {
  server = await openMailServer();
  await makeQueue(service.database);
  await operate("set_sign_up", { policy: "open" });
});
test.after.always("stop it", async () => {
  await server.close();
});

const mailsTo = (address: string) => server.mailsTo(address);

const startSending = async () => {
  const transport = smtpTransport({ smtpUrl: server.url, from: "exchange@site.example" });
  const siteUrl = "https://site.example";
  const worker = await startTestWorker(service.database, {
    crontab: [...crontab, sendMail({ transport, siteUrl })],
  });
  const close = () => worker.close().finally(transport.close);
  return { ...worker, close };
};

test.serial("a visitor signs up, and follows the link of the mail", async (t) => {
  const worker = await startSending();
  const visitor = makeVisitor(service);
  const person = { ...anybody(), displayName: "Ann <b>" };
  await visitor.call("POST", "/api/account/sign-up", { body: person });
  const tookMs = await until("the mail came", () =>
    Promise.resolve(mailsTo(person.email).length > 0),
  );
  t.true(tookMs < 10_000);
  const [{ from, to, message }] = mailsTo(person.email) as [Received];
  t.is(from, "exchange@site.example");
  t.deepEqual(to, [person.email]);
  const letter = readableMail(message);
  t.regex(letter, /^Subject: Confirm your e-mail address$/m);
  const token = /^https:\/\/site\.example\/confirm#(jl_\w+)$/m.exec(letter)?.[1];
  const answer = await visitor.call("POST", "/api/account/email/confirm", { body: { token } });
  t.is(answer.status, 200);
  t.true((await visitor.call("GET", "/api/account")).body.emailConfirmed);
  await worker.close();
});

test.serial("a mail that the server does not take stays, and is sent a minute later", async (t) => {
  await clock(service.database.pool).freeze("2030-01-01T12:00:00Z");
  const worker = await startSending();
  const { email } = anybody();
  server.refuse(1);
  await operate("invite_user", { email });
  await until("it was refused", () => Promise.resolve(server.refusals() === 0));
  const mail = async () =>
    (
      await service.database.pool.query(
        "select attempts, sent_at, due_at, last_error from identity.mails where address = $1",
        [email],
      )
    ).rows[0];
  await until("it was noted", async () => (await mail()).last_error !== null);
  t.like(await mail(), { attempts: 1, sent_at: null });
  t.regex((await mail()).last_error, /451/);
  t.is(mailsTo(email).length, 0);
  await clock(service.database.pool).advance(60_000);
  await until("it was sent", async () => (await mail()).sent_at !== null);
  t.is(mailsTo(email).length, 1);
  t.like(await mail(), { attempts: 2, due_at: null, last_error: null });
  t.true(worker.log.some((line) => line.includes("a mail was not sent")));
  t.false(worker.log.join("\n").includes(email), "no address in the log");
  await worker.close();
  await clock(service.database.pool).release();
});

test.serial("without a mail server the link is printed", async (t) => {
  const lines: string[] = [];
  const transport = printingTransport((line) => lines.push(line));
  const worker = await startTestWorker(service.database, {
    crontab: [sendMail({ transport, siteUrl: "http://127.0.0.1:3000" })],
  });
  const { email } = anybody();
  await operate("invite_user", { email });
  await until("it was printed", () => Promise.resolve(lines.length > 0));
  t.regex(
    lines[0]!,
    /^mail {6}to \S+: You are invited http:\/\/127\.0\.0\.1:3000\/sign-up#jl_\w+$/,
  );
  await worker.close();
});

test.serial("many mails with links do not keep a notice waiting", async (t) => {
  const { person, visitor } = await makeMember(service);
  for (let number = 0; number < 10; number++)
    await operate("invite_user", { email: anybody().email });
  const key = await visitor.call("POST", "/api/account/keys", { body: { name: "one" } });
  t.is(key.status, 201);
  const lines: string[] = [];
  const transport = printingTransport((line) => lines.push(line));
  const worker = await startTestWorker(service.database, {
    crontab: [sendMail({ transport, siteUrl: "http://127.0.0.1:3000" })],
  });
  await until("all were printed", () => Promise.resolve(lines.length >= 11));
  const places = lines.flatMap((line, place) => (line.includes(person.email) ? [place] : []));
  t.is(places.length, 1);
  t.true(places[0]! < 2, `it was number ${places[0]}`);
  await worker.close();
});

/**
 * Sends by nobody: mails to domains that stall stay under way until they are ended. Time stands still
 * for the job, but for `pass`.
 */
function stallingTransport(t: ExecutionContext) {
  const sent: string[] = [];
  const stalled: { to: string; fail: (error: Error) => void; ended: boolean }[] = [];
  const transport: MailTransport = {
    send: ({ to }, signal) => {
      if (!/[@.]stalls-?\d*\.example$/.test(to)) {
        sent.push(to);
        return Promise.resolve();
      }
      return new Promise((_resolve, fail) => {
        const one = { to, fail, ended: false };
        stalled.push(one);
        signal.addEventListener("abort", () => {
          one.ended = true;
          fail(new Error("aborted"));
        });
      });
    },
    close: () => Promise.resolve(),
  };
  let ms = 0;
  const start = async () => {
    const siteUrl = "https://site.example";
    const worker = await startTestWorker(service.database, {
      crontab: [sendMail({ transport, siteUrl, now: () => ms })],
    });
    t.teardown(async () => {
      for (const { fail } of stalled) fail(new Error("no answer"));
      await worker.close();
      await service.database.pool.query("delete from identity.mails");
    });
    return worker;
  };
  const pass = (byMs: number) => {
    ms += byMs;
  };
  const untilStalled = (count: number) =>
    until(`${count} stall`, () => Promise.resolve(stalled.length >= count));
  return { sent, stalled, start, pass, untilStalled };
}

for (const [whose, domainOf] of [
  ["a domain", () => "stalls.example"],
  ["its subdomains", (number: number) => `s${number}.stalls.example`],
] as const) {
  test.serial(`recipients of ${whose} that stall keep nobody waiting`, async (t) => {
    const { sent, stalled, start, untilStalled } = stallingTransport(t);
    for (let number = 0; number < 10; number++)
      await operate("invite_user", { email: `invited-${number}@${domainOf(number)}` });
    await start();
    await untilStalled(1);
    const people = Array.from({ length: 10 }, () => anybody().email);
    for (const email of people) await operate("invite_user", { email });
    await until("all others were sent", () => Promise.resolve(sent.length === people.length));
    t.deepEqual(sent, people);
    t.is(stalled.length, 1, "one at a time to the domain");
  });
}

test.serial("recipients that stall keep their lane for a moment", async (t) => {
  const { sent, stalled, start, pass, untilStalled } = stallingTransport(t);
  for (let number = 0; number < 60; number++)
    await operate("invite_user", { email: `invited@stalls-${number}.example` });
  const { email } = anybody();
  await operate("invite_user", { email });
  await start();
  // Two at once, each for a moment, until the lane has 16.
  for (let count = 2; count <= 16; count += 2) {
    await untilStalled(count);
    t.is(stalled.length, count);
    pass(count < 16 ? 250 : 3000);
  }
  // Then two end for the next two, once they are three seconds old.
  for (let count = 18; count <= 60; count += 2) {
    await untilStalled(count);
    t.is(stalled.filter(({ ended }) => !ended).length, 16);
    pass(3000);
  }
  await until("the last one was sent", () => Promise.resolve(sent.length === 1));
  t.deepEqual(sent, [email]);
  t.deepEqual(
    stalled.map(({ to }) => to),
    Array.from({ length: 60 }, (_, number) => `invited@stalls-${number}.example`),
  );
  const triedAgain = async () =>
    (
      await service.database.pool.query(
        `select from identity.mails
         where last_error = 'ended for the next mail' and attempts = 1 and due_at is not null`,
      )
    ).rowCount;
  await until("those that ended are tried again", async () => (await triedAgain()) === 45);
});

test.serial("a full lane has its attempts go on for three seconds", async (t) => {
  const { person, visitor } = await makeMember(service);
  const { sent, stalled, start, pass, untilStalled } = stallingTransport(t);
  for (let number = 0; number < 16; number++)
    await operate("invite_user", { email: `invited@stalls-${number}.example` });
  await start();
  for (let count = 2; count <= 16; count += 2) {
    await untilStalled(count);
    pass(250);
  }
  const { email } = anybody();
  await operate("invite_user", { email });
  pass(999); // the first are 2.999 s old
  await visitor.call("POST", "/api/account/password-reset", { body: { email: person.email } });
  await visitor.call("POST", "/api/account/keys", { body: { name: "one" } });
  await until("other lanes go on", () => Promise.resolve(sent.length === 2));
  t.deepEqual(sent, [person.email, person.email]);
  t.false(stalled.some(({ ended }) => ended));
  pass(1);
  await until("the lane goes on", () => Promise.resolve(sent.length === 3));
  t.is(sent[2], email);
  t.deepEqual(
    stalled.map(({ ended }) => ended),
    Array.from({ length: 16 }, (_, place) => place === 0),
  );
});

test.serial("an attempt ends as a whole, however slowly the server answers", async (t) => {
  const slow = await openMailServer({ answersAfterMs: 200 });
  const transport = smtpTransport({ smtpUrl: slow.url, from: "exchange@site.example" });
  const worker = await startTestWorker(service.database, {
    crontab: [sendMail({ transport, siteUrl: "https://site.example", longestMs: 500 })],
  });
  const { email } = anybody();
  await operate("invite_user", { email });
  const mail = async () =>
    (
      await service.database.pool.query(
        `select attempts, sent_at, last_error, due_at - created_at < '1 minute 10 s' as is_soon
         from identity.mails where address = $1`,
        [email],
      )
    ).rows[0];
  await until("it has failed", async () => (await mail()).last_error !== null);
  t.deepEqual(await mail(), {
    ...{ attempts: 1, sent_at: null, is_soon: true },
    last_error: "not accepted within 0.5 s",
  });
  await until("the connection is closed", () => Promise.resolve(slow.openConnections() === 0));
  t.deepEqual(slow.mailsTo(email), []);
  await worker.close();
  await transport.close();
  await slow.close();
  await service.database.pool.query("delete from identity.mails");
});

test.serial("a worker that ends waits for the mails under way, and takes no other", async (t) => {
  const { stalled, start } = stallingTransport(t);
  for (let number = 0; number < 3; number++)
    await operate("invite_user", { email: `invited-${number}@stalls.example` });
  const worker = await start();
  await until("one is under way", () => Promise.resolve(stalled.length > 0));
  const closing = worker.close();
  stalled[0]!.fail(new Error("no answer"));
  await closing;
  t.is(stalled.length, 1);
  const { rows } = await service.database.pool.query(
    "select attempts, last_error from identity.mails order by attempts desc",
  );
  t.deepEqual(rows, [
    { attempts: 1, last_error: "no answer" },
    { attempts: 0, last_error: null },
    { attempts: 0, last_error: null },
  ]);
});

test.serial("mails go by connections that stay open", async (t) => {
  const before = server.connections();
  const worker = await startSending();
  const people = Array.from({ length: 20 }, () => anybody().email);
  for (const email of people) await operate("invite_user", { email });
  await until("all came", () =>
    Promise.resolve(people.every((email) => mailsTo(email).length === 1)),
  );
  await worker.close();
  t.true(server.connections() - before <= 6, `${server.connections() - before} connections`);
});

test.serial("two workers send each mail once", async (t) => {
  const workers = [await startSending(), await startSending()];
  const people = Array.from({ length: 20 }, () => anybody().email);
  for (const email of people) await operate("invite_user", { email });
  await until("all came", () =>
    Promise.resolve(people.every((email) => mailsTo(email).length > 0)),
  );
  for (const worker of workers) await worker.close();
  t.deepEqual(
    people.map((email) => mailsTo(email).length),
    people.map(() => 1),
  );
});
