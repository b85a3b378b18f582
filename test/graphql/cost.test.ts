import test from "ava";
import type { GraphQLSchema } from "postgraphile/graphql";
import { findLongVariables } from "../../src/graphql/cost.ts";
import { checkQuery } from "../../src/graphql/limits.ts";

/** Whatever is refused by its cost was not held against the schema. */
const untouchable = new Proxy<GraphQLSchema>(Object.create(null), {
  get: () => {
    throw new Error("the schema was looked at");
  },
});

function messageOf(query: string): string {
  const checked = checkQuery(untouchable, query);
  return "errors" in checked ? (checked.errors[0]?.message ?? "") : "";
}

const looked = { message: "the schema was looked at" };
const fieldsOf = (count: number) => Array.from({ length: count }, (_, i) => `a${i}`).join(" ");

test("aliases count, before the query is held against the schema", (t) => {
  const aliases = Array.from({ length: 250 }, (_, i) => `a${i}: things { name }`);
  t.regex(messageOf(`{ ${aliases.join(" ")} }`), /may cost 500, this one costs 1500/);
});

test("a fragment counts each time that it is used, also by another one", (t) => {
  // Each uses the next one twice: 2^30 fields in a text of 1,500 characters.
  const fragments = Array.from(
    { length: 30 },
    (_, i) => `fragment f${i} on Thing { ...f${i + 1} ...f${i + 1} }`,
  );
  const query = `{ ...f0 } ${fragments.join(" ")} fragment f30 on Thing { name }`;
  t.regex(messageOf(query), /may cost 500/);
});

test("operations that are not run and fragments that are not used count too", (t) => {
  const fields = fieldsOf(300);
  t.regex(messageOf(`query one { ${fields} } query two { ${fields} }`), /costs 600/);
  t.regex(messageOf(`{ ${fields} } fragment f on Thing { ${fields} }`), /costs 600/);
});

test("selections count by their depth, and no text nests too deep to be refused", (t) => {
  t.regex(messageOf(`${"{ a ".repeat(30)}${"}".repeat(30)}`), /depth of 25, this one has 30/);
  const nested = (depth: number) => `${"{ a ".repeat(depth)}${"}".repeat(depth)}`;
  t.regex(messageOf(nested(100)), /depth of 25, this one has 100/);
  t.regex(messageOf(nested(101)), /brackets 100 deep, this one has 101/);
  t.regex(messageOf(`${"{a".repeat(5000)}${"}".repeat(5000)}`), /brackets 100 deep/);
  t.regex(messageOf(`{ a(b: ${"[".repeat(5000)}) }`), /brackets 100 deep/);
  t.regex(messageOf(`{ a ${"b ".repeat(4000)} }`), /tokens/);
  t.regex(messageOf(`{ a } ${" ".repeat(20_000)}`), /16384 characters/);
});

test("the whole schema may be asked for, but not again and again", (t) => {
  t.throws(() => messageOf(`{ __schema { types { ${fieldsOf(500)} } } }`), looked);
  const aliases = Array.from({ length: 5 }, (_, i) => `a${i}: __schema { types { name } }`);
  t.regex(messageOf(`{ ${aliases.join(" ")} }`), /may cost 500, this one costs 503/);
});

test("a cost of 500 is not too much", (t) => {
  t.throws(() => messageOf(`{ ${fieldsOf(500)} }`), looked);
  t.regex(messageOf(`{ ${fieldsOf(501)} }`), /costs 501/);
});

test("each question about all trades of the last days costs 100", (t) => {
  const aliases = (count: number, field: string) =>
    Array.from({ length: count }, (_, i) => `a${i}: ${field}`).join(" ");
  // With totalCount, 101 each.
  for (const list of [
    "allTradingPairs",
    "allRoundTrips",
    "allLargeTrades",
    "allLateTrades",
    "allUnusualLosses",
    "tradingPairByFirstUserKeyAndSecondUserKey",
    "roundTripsByMarketKey",
  ]) {
    t.throws(() => messageOf(`{ ${aliases(4, `${list} { totalCount }`)} }`), looked, list);
    t.regex(messageOf(`{ ${aliases(5, `${list} { totalCount }`)} }`), /costs 505/, list);
  }
  // Aggregates of a list read it again: 100 + 100 * (100 + 2).
  const sums = aliases(100, "aggregates { a }");
  t.regex(messageOf(`{ allTradingPairs { ${sums} } }`), /costs 10200/);
  t.throws(() => messageOf(`{ ${aliases(80, "allTrades { totalCount }")} }`), looked);
});

test("a type may be asked for, and what is in its lists counts as often as it comes", (t) => {
  const about = `__type(name: "Thing") {
    fields { name description args { name description type { name } } }
  }`;
  t.throws(() => messageOf(`{ ${about} }`), looked);
  const aliases = (count: number, field: string) =>
    Array.from({ length: count }, (_, i) => `a${i}: ${field}`).join(" ");
  // A quarter of 8 * (1 + 1 + 1 + 8 * (1 + 1 + 2)) + 1, and 5.
  t.regex(messageOf(`{ ${aliases(100, about)} }`), /may cost 500, this one costs 7525/);
  const spread = aliases(100, '__type(name: "Thing") { ...about }');
  const fragment = "fragment about on __Type { fields { ...field } }";
  t.regex(
    messageOf(`{ ${spread} } ${fragment} fragment field on __Field { args { name } }`),
    /costs 2325/,
  );
  for (const list of ["fields", "inputFields", "enumValues", "interfaces", "possibleTypes"]) {
    const types = aliases(100, `__type(name: "Thing") { ${list} { name } }`);
    t.regex(messageOf(`{ ${types} }`), /costs 725/, list);
  }
  t.throws(() => messageOf(`{ ${aliases(90, '__type(name: "Thing") { name }')} }`), looked);
});

test("fragments that use themselves are refused before the validation, used or not", (t) => {
  const uses = 'The fragment "f" uses itself';
  t.is(messageOf("{ ...f } fragment f on Thing { name ...f }"), uses);
  t.is(messageOf("{ ...f } fragment f on Thing { ...g } fragment g on Thing { a ...f }"), uses);
  t.is(messageOf("{ a } fragment f on Thing { ...g } fragment g on Thing { a { ...f } }"), uses);
  const circle = (count: number) =>
    Array.from({ length: count }, (_, i) => {
      const [one, two, three] = [1, 7, 13].map((step) => (i + step) % count);
      return `fragment f${i} on Thing { ...f${one} ...f${two} ...f${three} }`;
    });
  t.regex(messageOf(`${circle(300).join(" ")} { name }`), /^The fragment "f\d+" uses itself$/);
  t.throws(
    () => messageOf("{ ...f ...f ...g } fragment f on Thing { ...g } fragment g on Thing { a }"),
    looked,
  );
});

test("fragments that use one that is not there count too", (t) => {
  const fragments = Array.from(
    { length: 30 },
    (_, i) => `fragment f${i} on Thing { ...f${i + 1} ...f${i + 1} }`,
  );
  t.regex(messageOf(`{ name } ${fragments.join(" ")}`), /may cost 500/);
  t.throws(() => messageOf("{ ...missing }"), looked);
});

test("a query that runs out of stack is refused, not a fault", (t) => {
  const deep = new Proxy<GraphQLSchema>(Object.create(null), {
    get: () => {
      throw new RangeError("Maximum call stack size exceeded");
    },
  });
  const checked = checkQuery(deep, "{ name }");
  t.like("errors" in checked && checked.errors[0], { message: "The query is too deep" });
});

test("brackets in values and types nest no deeper than the parser's stack allows", (t) => {
  const inValue = (depth: number) => `{ __typename(a: ${"[".repeat(depth)}${"]".repeat(depth)}) }`;
  const inObject = (depth: number) => `{ a(b: ${"{c:".repeat(depth)}1${"}".repeat(depth)}) }`;
  const inType = (depth: number) =>
    `query ($a: ${"[".repeat(depth)}Int${"]".repeat(depth)}) { b(c: $a) }`;
  for (const nest of [inValue, inObject, inType]) {
    t.regex(messageOf(nest(1900)), /brackets 100 deep, this one has 190[0-2]/);
    t.regex(messageOf(nest(101)), /brackets 100 deep/);
    t.throws(() => messageOf(nest(98)), looked);
  }
  // Behind a string or a comment that only seems to go on.
  for (const before of ['"\\\\" ', '"""\n\\""" \n""" ', '# "\n', '"" ', '"""""" ', "#\r"]) {
    const query = `{ a(b: [${before.startsWith("#") ? before : `${before},`} ${"[".repeat(1900)}`;
    t.regex(messageOf(query), /brackets 100 deep/, JSON.stringify(before));
  }
});

test("brackets in strings and comments are text", (t) => {
  const many = "[{(".repeat(500);
  for (const text of [
    `"${many}"`,
    `"\\"${many}"`,
    `"""${many}"""`,
    `"""\\"""${many}" ""\n${many}"""`,
  ]) {
    t.throws(() => messageOf(`{ a(b: ${text}) }`), looked, text.slice(0, 12));
  }
  t.throws(() => messageOf(`{ a # ${many}\n }`), looked);
});

test("variables nest no deeper than what goes through them can follow", (t) => {
  const nested = (depth: number) => ({
    a: JSON.parse(`${"[".repeat(depth - 1)}${"]".repeat(depth - 1)}`),
  });
  t.is(findLongVariables(nested(100)), undefined);
  for (const depth of [101, 40_000]) {
    t.regex(findLongVariables(nested(depth))?.message ?? "", /lists and objects 100 deep/);
  }
  t.regex(findLongVariables({ a: "x".repeat(16_384) })?.message ?? "", /16384 characters/);
  t.is(findLongVariables({ a: "x".repeat(999_992) }, 1_000_000), undefined);
  t.regex(
    findLongVariables({ a: "x".repeat(999_993) }, 1_000_000)?.message ?? "",
    /1000000 characters/,
  );
});
