import { randomBytes } from "node:crypto";
import test from "ava";
import { formatSecret } from "../../src/secrets.ts";
import { testService } from "../helpers/http/test_service.ts";
import { anybody, makeMember, makeVisitor, takeMails } from "../helpers/http/visitor.ts";

/** What a link will do, and how a sign-up that was never confirmed gets its link again. */

const service = testService(test, { playMoneyCents: 0 });
const { operate } = service;

const member = () => makeMember(service);

const signIn = (visitor: ReturnType<typeof makeVisitor>, email: string, password: string) =>
  visitor.call("POST", "/api/account/sign-in", { body: { email, password } });

test.serial("no link acts when it is looked at", async (t) => {
  const { userId, person } = await member();
  const path: string = await operate("sign_in_link", { user_id: userId });
  const guest = makeVisitor(service);
  await guest.call("POST", "/api/account/password-reset", { body: { email: person.email } });
  const [mail] = await takeMails(service.worker);
  const look = (token: string) => guest.call("POST", "/api/account/link", { body: { token } });
  const { displayName, handle } = person;
  const account = { displayName, handle, presentEmail: "V...@test.example" };
  for (let times = 0; times < 2; times++) {
    t.deepEqual((await look(path.split("#")[1]!)).body, {
      ...{ kind: "sign_in", email: null, account, waysIn: null },
    });
    const waysIn = { sessions: 1, passkeys: 0, apiKeys: 0 };
    t.deepEqual((await look(mail!.token!)).body, {
      ...{ kind: "password_reset", email: null, account, waysIn },
    });
  }
  t.is((await look(formatSecret(randomBytes(32), "jl_"))).body.code, "INVALID_LINK");
  t.is((await look("nonsense")).body.code, "INVALID_LINK");
});

test.serial(
  "a sign-in with the password of an unconfirmed account sends its mail again",
  async (t) => {
    const person = anybody();
    const [first, second] = [
      person,
      { ...person, handle: `${person.handle}-b`, password: "another long one" },
    ];
    for (const body of [first, second]) {
      await makeVisitor(service).call("POST", "/api/account/sign-up", { body });
    }
    await takeMails(service.worker);
    t.is((await signIn(makeVisitor(service), person.email, "wrong password")).status, 401);
    t.deepEqual(await takeMails(service.worker), []);
    for (const { email, handle, password } of [first, second]) {
      const refused = await signIn(makeVisitor(service), email.toUpperCase(), password);
      t.deepEqual([refused.status, refused.body], [401, { error: "Wrong e-mail or password" }]);
      const [mail, ...others] = await takeMails(service.worker);
      t.deepEqual(others, []);
      t.regex(mail!.text, new RegExp(`^Handle: ${handle}$`, "m"), "the account with this password");
      if (handle === first.handle) continue;
      const body = { token: mail!.token, password };
      const done = await makeVisitor(service).call("POST", "/api/account/email/confirm", { body });
      t.is(done.status, 200);
      t.is((await signIn(makeVisitor(service), email, password)).status, 200);
    }
    t.is((await signIn(makeVisitor(service), first.email, first.password)).status, 401);
    t.deepEqual(
      (await takeMails(service.worker)).filter(({ kind }) => kind !== "new_sign_in"),
      [],
      "another account has the address now",
    );
  },
);

test.serial("who forgot the password of an unconfirmed account can confirm it", async (t) => {
  const person = anybody();
  await makeVisitor(service).call("POST", "/api/account/sign-up", { body: person });
  await takeMails(service.worker);
  const { email } = person;
  const asked = await makeVisitor(service).call("POST", "/api/account/password-reset", {
    body: { email },
  });
  t.deepEqual([asked.status, asked.body], [200, {}]);
  const mails = [...(await takeMails(service.worker)), ...(await takeMails(service.worker))];
  t.deepEqual(
    mails.map(({ kind, to }) => [kind, to]),
    [["confirm_email", email]],
  );
});
