import test from "ava";
import { routes } from "../../src/api/routes.ts";
import { checkAnswers } from "./openapi_answers.ts";
import { assertionOf, attestationOf, makePasskey } from "../helpers/http/authenticator.ts";
import { testService } from "../helpers/http/test_service.ts";
import type { CallOptions } from "../helpers/http/test_service.ts";
import { anybody, makeMember, makeVisitor, takeMails } from "../helpers/http/visitor.ts";

/** Answers of the routes of accounts, held against the OpenAPI document. */

const service = testService(test, { playMoneyCents: 0 });
const { faultsOf, met } = checkAnswers();

test("answers of the routes of accounts are as the document says", async (t) => {
  const { visitor, person, userId } = await makeMember(service);
  const callAs = async (
    who: ReturnType<typeof makeVisitor>,
    method: string,
    path: string,
    options?: CallOptions,
  ) => {
    const answer = await who.call(method, `/api/account${path}`, options);
    const faults = faultsOf(method, `/api/account${path}`, answer);
    t.deepEqual(faults, [], `${method} ${path} ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  const call = (method: string, path: string, body?: object) =>
    callAs(visitor, method, path, body && { body });
  const guest = makeVisitor(service);
  const elsewhere = { headers: { origin: "https://evil.example" } };

  await call("GET", "/sign-up");
  await callAs(guest, "POST", "/sign-up", { body: anybody() });
  await callAs(guest, "POST", "/sign-up", { body: { ...anybody(), password: "short" } });
  await callAs(guest, "POST", "/sign-up", { body: anybody(), ...elsewhere });
  await callAs(guest, "POST", "/sign-up", { body: { ...anybody(), invitation: "x" } });
  await callAs(guest, "POST", "/sign-out");
  await callAs(guest, "POST", "/sign-out");
  const { email, password } = person;
  await callAs(guest, "POST", "/sign-in", { body: { email, password: "wrong password" } });
  await callAs(guest, "POST", "/sign-in", { body: { email, password } });
  await callAs(guest, "POST", "/sign-in-link", { body: { token: "x" } });
  const path: string = await service.operate("sign_in_link", { user_id: userId });
  const token = path.split("#")[1];
  await callAs(guest, "POST", "/sign-in-link", { body: { token } });

  await call("GET", "");
  await call("PATCH", "/profile", { displayName: "Ann" });
  await call("PATCH", "/profile", { private: "yes" });
  const limits = { dayCents: 10_000, weekCents: null, monthCents: null };
  await call("PUT", "/limits", limits);
  await call("PUT", "/limits", { ...limits, dayCents: 20_000 });
  await call("PUT", "/limits", {});
  await call("POST", "/age", { confirmedAge: 18 });
  await call("GET", "/reality-check");
  await call("PUT", "/reality-check", { everyMinutes: 30 });
  await call("PUT", "/reality-check", { everyMinutes: 31 });
  await call("POST", "/reality-check");
  await call("PUT", "/reality-check", { everyMinutes: null });
  await call("POST", "/age", { confirmedAge: 100 });
  const { id } = await call("POST", "/keys", { name: "bot" });
  await call("POST", "/keys", { name: " " });
  await call("GET", "/keys");
  for (const key of [id, id, userId, "1"]) await call("POST", `/keys/${key}/rotate`, {});
  await call("GET", "/keys");
  for (const key of [id, userId, "1"]) await call("DELETE", `/keys/${key}`);
  await call("DELETE", "/keys");
  const { data } = await call("GET", "/sessions");
  for (const session of [data[0].id, userId, "1"]) await call("DELETE", `/sessions/${session}`);
  await call("DELETE", "/sessions");
  for (const days of ["", "?from=2026-02-30", "?from=2026-01-02&to=2026-01-01"]) {
    await call("GET", `/value${days}`);
  }
  const marketId = await service.makeMarket();
  await call("GET", "/year-statement");
  await call("GET", `/year-statement?year=${new Date().getUTCFullYear()}`);
  await call("GET", "/market-titles");
  await call("GET", "/market-titles?ids=1");
  await call("GET", `/market-titles?ids=${marketId},${userId}`);
  await call("GET", `/market-titles?ids=${Array(201).fill(marketId).join(",")}`);
  for (const entries of ["", "1,x", "1,2", Array(201).fill(1).join(",")]) {
    await call("GET", `/conversion-events?entries=${entries}`);
  }
  const undoneId = await service.makeMarket();
  await service.operate("void_market", { market_id: undoneId, reason: "a wrong question" });
  for (const ids of ["", "1", `${marketId},${undoneId}`]) {
    await call("GET", `/undone-trades?markets=${ids}`);
  }
  await call("GET", "/positions?marketId=1");
  // Shares of either kind, and a resolution, so that every field is seen.
  const sets = { marketId, quantity: 5 };
  const deposited = { user_id: userId, amount_cents: 10_000, reference: "cash" };
  await service.operate("deposit", deposited);
  await visitor.call("POST", "/api/v1/positions/split", { body: sets });
  t.is((await call("GET", "/positions")).positions.length, 2);
  const resolution = `/api/v1/markets/${marketId}/resolution`;
  for (const status of [404, 200]) {
    const answer = await guest.call("GET", resolution);
    t.is(answer.status, status);
    t.deepEqual(faultsOf("GET", resolution, answer), []);
    if (status === 404) {
      await service.operate("resolve_market", { market_id: marketId, outcome: "yes" });
    }
  }
  t.is((await call("GET", `/positions?marketId=${marketId}`)).settled.length, 2);

  await call("POST", "/self-exclusion", { until: "2090-01-01T00:00:00Z" });
  await call("POST", "/self-exclusion", { until: null });
  await call("POST", "/self-exclusion", { until: "2090-01-01T00:00:00Z" });

  const options = await call("POST", "/passkeys/options");
  const passkey = makePasskey(options.user.id);
  const site = { origin: service.url, rpId: options.rp.id };
  const credential = attestationOf(passkey, { ...site, challenge: options.challenge });
  await call("POST", "/passkeys", { name: "phone", credential });
  await call("POST", "/passkeys", { name: "phone", credential });
  await call("POST", "/passkeys", { name: "phone" });
  await call("GET", "/passkeys");
  await call("POST", "/passkeys/options");
  const { challenge } = await callAs(guest, "POST", "/sign-in-passkey/options");
  const signature = assertionOf(passkey, { ...site, challenge });
  for (let time = 0; time < 2; time++) {
    await callAs(guest, "POST", "/sign-in-passkey", { body: { credential: signature } });
  }
  await callAs(guest, "POST", "/sign-in-passkey", { body: {} });
  const [known] = (await call("GET", "/passkeys")).data;
  for (const passkeyId of [known.id, userId, "1"]) await call("DELETE", `/passkeys/${passkeyId}`);

  const newPassword = "another long one";
  await call("PUT", "/password", { currentPassword: "wrong password", newPassword });
  await call("PUT", "/password", { currentPassword: password, newPassword });
  await call("POST", "/email", { email: "new@test.example", password: newPassword });
  await call("POST", "/email/resend");
  await takeMails(service.worker).then(async (mails) => {
    const sent = mails.findLast(({ kind }) => kind === "confirm_email");
    await callAs(guest, "POST", "/link", { body: { token: sent?.token } });
    await call("POST", "/email/confirm", { token: sent?.token });
    await call("POST", "/email/confirm", { token: sent?.token });
  });
  await call("POST", "/password-reset", { email: "new@test.example" });
  const [reset] = await takeMails(service.worker).then((mails) =>
    mails.filter(({ kind }) => kind === "password_reset"),
  );
  await call("POST", "/password-reset/confirm", { token: reset?.token, password: newPassword });
  await call("POST", "/password-reset/confirm", { token: reset?.token, password: newPassword });

  const successes = routes
    .filter(({ tag }) => tag === "Account")
    .flatMap(({ operationId, responses }) =>
      Object.keys(responses).map((status) => `${operationId} ${status}`),
    );
  t.deepEqual(
    successes.filter((name) => !met.has(name)),
    [],
    "never asked for",
  );
});
