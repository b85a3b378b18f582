import test from "ava";
import { hashPassword } from "../../src/accounts/passwords.ts";
import { callService, testService } from "../helpers/http/test_service.ts";

/** Many sign-ins at once: their hashes wait for each other, and other requests do not. */

const service = testService(test);
const { call, makeMarket, makeTrader } = service;

test.serial(
  "503: sign-ins beyond the queue of hashes; an order passes those that wait",
  async (t) => {
    const marketId = await makeMarket();
    const { key } = await makeTrader();
    // More than two at once and 100 waiting.
    const SIGN_INS = 140;
    let done = 0;
    const answers = Array.from({ length: SIGN_INS }, async (_, number) => {
      const answer = await callService(service.url, "POST", "/api/account/sign-in", {
        body: { email: `user-${number}@load.example`, password: "correct horse battery" },
        headers: { origin: service.url },
      });
      done += 1;
      return answer;
    });
    const placed: number[] = [];
    const order = { marketId, side: "yes", price: 10, quantity: 1 };
    // The queue is full once a sign-in is refused.
    await Promise.race(answers.map(async (answer) => (await answer).status === 503 || never()));
    for (let number = 0; number < 5; number++) {
      t.is((await call("POST", "/api/v1/orders", { key, body: order })).status, 201);
      placed.push(done);
    }
    const settled = await Promise.all(answers);
    for (const [index, before] of placed.entries()) {
      t.true(before < SIGN_INS, `order ${index} was placed while sign-ins waited`);
    }
    const refused = settled.filter(({ status }) => status === 503);
    t.true(refused.length > 0);
    for (const { headers, body } of refused) {
      t.true(Number(headers.get("retry-after")) > 0);
      t.truthy(body.error);
    }
    t.is(settled.filter(({ status }) => status === 401).length, SIGN_INS - refused.length);
    t.true(SIGN_INS - refused.length >= 102, "two run and 100 wait");
    const settings = "$argon2id$v=19$m=64,t=1,p=1$c29tZXNhbHQ";
    t.regex(await hashPassword("a password", settings), /^\$argon2id/, "the queue is empty again");
  },
);

test.serial("who is known passes strangers that wait, and leaves them a share", async (t) => {
  const settings = "$argon2id$v=19$m=64,t=1,p=1$c29tZXNhbHQ";
  const done: string[] = [];
  const hash = async (name: string, isKnown: boolean) => {
    await hashPassword(name, settings, { isKnown });
    done.push(name);
  };
  // Two run, 100 strangers wait and fill their queue.
  const strangers = Array.from({ length: 102 }, () => hash("stranger", false));
  await t.throwsAsync(hash("stranger", false), { message: /overloaded/ });
  const known = Array.from({ length: 30 }, () => hash("known", true));
  await Promise.all([...strangers, ...known]);
  const ofKnown = done.lastIndexOf("known") + 1;
  const passed = done.slice(0, ofKnown).filter((name) => name === "stranger").length;
  // The two that ran, and one of four turns; those under way may end in any order.
  t.true(passed >= 8 && passed <= 16, `${passed} strangers came before the last known`);
});

const never = () => new Promise<never>(() => undefined);
