import test from "ava";
import { testExchange } from "../../helpers/exchange/test_exchange.ts";
import { randomFrom } from "../../helpers/random.ts";

const exchange = testExchange(test);

async function read(csv: string | null): Promise<[number, string[]][]> {
  const rows = await exchange.look("select line::int, fields from admin.read_csv(csv => $1)", [
    csv,
  ]);
  return rows.map(({ line, fields }) => [line, fields]);
}

const cases: [title: string, csv: string | null, lines: [number, string[]][]][] = [
  [
    "fields and lines",
    "a,b\nc,d\n",
    [
      [1, ["a", "b"]],
      [2, ["c", "d"]],
    ],
  ],
  [
    "a last line without an end, and lines of Windows",
    "a,b\r\nc,d",
    [
      [1, ["a", "b"]],
      [2, ["c", "d"]],
    ],
  ],
  [
    "commas, quotes and lines in quotes",
    '"a,b","say ""hi""","x\ny"\nz',
    [
      [1, ["a,b", 'say "hi"', "x\ny"]],
      [2, ["z"]],
    ],
  ],
  [
    "empty fields",
    'a,,\n,b\n""\n',
    [
      [1, ["a", "", ""]],
      [2, ["", "b"]],
      [3, [""]],
    ],
  ],
  ["a comma at the end of the text", "a,", [[1, ["a", ""]]]],
  [
    "empty lines are left out, and counted",
    "a\n\n\nb\n\n",
    [
      [1, ["a"]],
      [4, ["b"]],
    ],
  ],
  ["quotes alone", '"""",""""""\n', [[1, ['"', '""']]]],
  [
    "lines of Windows in quotes",
    '"a\r\nb",c\r\n"\r"\r\n',
    [
      [1, ["a\r\nb", "c"]],
      [2, ["\r"]],
    ],
  ],
  ["spaces and other signs stay", " a ;é\t, b", [[1, [" a ;é\t", " b"]]]],
  ["a file of Windows without its last line feed", "a,b\r", [[1, ["a", "b"]]]],
  ["nothing", "", []],
  ["null", null, []],
];

for (const [title, csv, lines] of cases) {
  test(title, async (t) => {
    t.deepEqual(await read(csv), lines);
  });
}

test("whatever fields have comes back, in quotes", async (t) => {
  const random = randomFrom(t.title);
  const signs = ["a", ",", '"', '"', "\r", "\n", "\u0001", "c", "é"];
  const list = <T>(least: number, most: number, make: () => T): T[] =>
    Array.from({ length: random.between(least, most) }, make);
  const text = () => list(0, 5, () => random.anyOf(signs)).join("");
  const lines = list(500, 500, () => list(1, 4, text));
  const quoted = lines.map((fields) =>
    fields.map((field) => `"${field.replaceAll('"', '""')}"`).join(","),
  );
  t.deepEqual(
    await read(quoted.join("\n")),
    lines.map((fields, index): [number, string[]] => [index + 1, fields]),
  );
});

test("INVALID_REQUEST: what is no CSV, or too long", async (t) => {
  const wrong = ['a"b', '"a', '"a"b,c', 'a,"', "a\rb", '""a', '"a" ,b', '"a"b"c"', "a\r\r\nb"];
  for (const csv of [...wrong, '"a"\rb', '"a"\r\r', '"', "x".repeat(1_000_001)]) {
    await t.throwsAsync(read(csv), { code: "EX001" }, csv.slice(0, 10));
  }
  t.is((await read("some,longer,fields\n".repeat(5000))).length, 5000);
});

for (const [what, part, separator] of [
  ["commas", ",", ","],
  ["lines", "\n", "\n"],
  ["quotes", '"', '"'],
  ["fields in quotes", '"",', '"'],
] as const) {
  test.serial(`a text of ${what} is read in a time like that of splitting it`, async (t) => {
    const operators = exchange.database.connectAs("exchange_operator");
    const csv = part.repeat(900_000 / part.length);
    const msOf = async (rows: string): Promise<number> => {
      const began = performance.now();
      await operators.query(`select count(*) from ${rows}`, [csv]);
      return performance.now() - began;
    };
    const split = () => msOf(`unnest(string_to_array($1, '${separator}'))`);
    const readIt = () => msOf("admin.read_csv(csv => $1)");
    // A busy machine makes one reading or another slow. A pattern for each field makes all slow.
    let [few, many] = [await split(), await readIt()];
    for (let round = 1; round < 10 && many >= 10 * few; round += 1) {
      [few, many] = [Math.min(few, await split()), Math.min(many, await readIt())];
    }
    t.log(`${Math.round(few)} and ${Math.round(many)} ms`);
    t.true(many < 10 * few, `to read it took ${(many / few).toFixed(1)} times as long`);
  });
}
