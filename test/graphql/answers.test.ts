import test from "ava";
import { answerOf, jsonWithin } from "../../src/graphql/answers.ts";

test("a value is JSON if that has as many bytes as it may, and no longer one", (t) => {
  const values: object[] = [
    { data: { said: "word" } },
    { list: [1, 2.5, true, null, "", [], {}] },
    { é: ["€", '"', "\u0001", "\n"] },
    { left: undefined, errors: [{ message: "no", path: ["a", 0] }] },
    Array.from({ length: 1000 }, (_, i) => ({ ["name".repeat(i % 5)]: i })),
  ];
  for (const value of values) {
    const json = JSON.stringify(value);
    const bytes = Buffer.byteLength(json);
    t.is(jsonWithin(bytes, value), json);
    t.is(jsonWithin(bytes - 1, value), undefined, json.slice(0, 40));
  }
});

test("a text that many fields share is not written out to find that it is too long", (t) => {
  const text = "x".repeat(1_000_000);
  // 100 GB as JSON, which no string can hold.
  const rows = Array.from({ length: 1000 }, () =>
    Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`a${i}`, text])),
  );
  t.is(jsonWithin(10_000_000, { rows }), undefined);
});

test("400: an answer has at most 10,000,000 bytes", (t) => {
  const around = JSON.stringify({ data: { said: "" } }).length;
  const said = "x".repeat(10_000_000 - around);
  const json = `{"data":{"said":"${said}"}}`;
  t.deepEqual(answerOf({ data: { said } }), { status: 200, json, codes: [] });
  const longer = answerOf({ data: { said: `${said}x` } });
  t.like(longer, { status: 400 });
  const { data, errors } = JSON.parse("json" in longer ? String(longer.json) : "");
  t.is(data, undefined);
  t.regex(errors[0].message, /^The answer has more than 10000000 bytes/);
});
