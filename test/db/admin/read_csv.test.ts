import test from "ava";
import { testExchange } from "../../helpers/exchange/test_exchange.ts";

const exchange = testExchange(test);

async function read(csv: string | null): Promise<[number, string[]][]> {
  const { rows } = await exchange.database
    .connectAs("exchange_operator")
    .query("select line::int, fields from admin.read_csv(csv => $1)", [csv]);
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

test("INVALID_REQUEST: what is no CSV, or too long", async (t) => {
  for (const csv of ['a"b', '"a', '"a"b,c', 'a,"', "a\rb", "x".repeat(1_000_001)]) {
    await t.throwsAsync(read(csv), { code: "EX001" }, csv.slice(0, 10));
  }
  t.is((await read("some,longer,fields\n".repeat(5000))).length, 5000);
});
