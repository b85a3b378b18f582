import test from "ava";
import { centsOfCell, dayOf, readEntries } from "../../../src/website/operator/bank/csv_entries.ts";
import type { Mapping } from "../../../src/website/operator/bank/csv_entries.ts";
import { readTable } from "../../../src/website/operator/api/csv_table.ts";
import type { CsvTable } from "../../../src/website/operator/api/csv_table.ts";
import { bankOf, daysOf, decodeFile } from "../../../src/website/operator/bank/entry.ts";

/** CSV files of banks, as the cash desk reads them. test/website/journeys/ has CAMT.053. */

function tableOf(text: string): CsvTable {
  const table = readTable(text);
  if (typeof table === "string") throw new Error(table);
  return table;
}
function problemOf(text: string): string {
  const table = readTable(text);
  return typeof table === "string" ? table : "none";
}
const plain: Mapping = { reference: 0, date: 1, amount: 2, sign: undefined, decimal: "." };
const read = (text: string, mapping: Partial<Mapping> = {}) =>
  readEntries(tableOf(text), { ...plain, ...mapping });

/** A German bank: lines about the account first, semicolons, a decimal comma, all in quotes. */
const german = `\ufeff"Konto";"DE02 1203 0000 0000 2020 51";
"Kontostand vom 24.11.2026:";"9.012.345,67 €";

"Buchungstag";"Zahlungspflichtiger";"Verwendungszweck";"Betrag (€)";"Kundenreferenz"
"24.11.2026";"Dora ""D."" Dietz";"Einzahlung; bitte buchen";"1.250,00";"bank 4711"
"24.11.26";"Börse";"Auszahlung
in zwei Zeilen";"-500,5";"out 12"
"25.11.2026";"Börse";"";"-0,01";"out 13"
`;

test("a German file: quotes, semicolons, a line break in a field, cents from a decimal comma", (t) => {
  const table = tableOf(german.replaceAll("\n", "\r\n"));
  t.deepEqual(table.names.slice(3), ["Betrag (€)", "Kundenreferenz"]);
  const mapping = { ...plain, date: 0, amount: 3, reference: 4, decimal: "," } as const;
  const { entries, issues } = readEntries(table, mapping);
  t.deepEqual(issues, []);
  t.deepEqual(entries, [
    { day: "2026-11-24", reference: "bank 4711", amountCents: 125_000 },
    { day: "2026-11-24", reference: "out 12", amountCents: -50_050 },
    { day: "2026-11-25", reference: "out 13", amountCents: -1 },
  ]);
  t.deepEqual(daysOf(entries), [
    ["2026-11-24", 2],
    ["2026-11-25", 1],
  ]);
  t.deepEqual(bankOf(entries, "2026-11-24"), [
    { reference: "bank 4711", amount_cents: 125_000 },
    { reference: "out 12", amount_cents: -50_050 },
  ]);
});

test("a column says whether cash came in, in the words of banks", (t) => {
  const file =
    "ref,day,amount,D/C\na,2026-11-24,5.00,C\nb,2026-11-24,5.00,D\nc,2026-11-24,0.07,Soll\n";
  t.deepEqual(
    read(file, { sign: 3 }).entries.map(({ amountCents }) => amountCents),
    [500, -500, -7],
  );
  const wrong = read("ref,day,amount,D/C\na,2026-11-24,5.00,?\nb,2026-11-24,-5.00,D\n", {
    sign: 3,
  });
  t.deepEqual(wrong.issues, [
    "Line 2 does not say whether cash came in: “?”.",
    "Line 3 has a sign both in the amount and in its own column.",
  ]);
});

test("what no bank writes is refused before it keeps the page busy", (t) => {
  const megabytes = (text: string) => text.repeat(10_000_000 / text.length);
  const field = /^Line \d has a field of more than 10000 characters/;
  const cases: [what: string, file: string, problem: RegExp][] = [
    ["quotes", megabytes('"'), field],
    ["quotes in quotes", `a;b\n"${megabytes('""')}";1\n`, field],
    ["quotes in quotes without an end", `a;b\n"${megabytes('""')}`, field],
    ["white space in a field", `a;b\n1${megabytes(" ")}x;2\n`, field],
    ["a long field", `a;b\n${megabytes("x")};2\n`, field],
    ["empty lines", `a;b\n${megabytes("\n")}`, /^The file has more than 100000 lines/],
    ["lines", megabytes("1;2\n"), /^The file has more than 100000 lines/],
    ["line breaks in quotes", megabytes('"\n\n\n\n\n\n\n";"2"\n\n\n'), /more than 100000 lines/],
    ["columns", megabytes(";"), /^Line 1 has more than 200 columns/],
  ];
  for (const [what, file, problem] of cases) t.regex(problemOf(file), problem, what);
  t.is(problemOf(`a;b\n"${'""'.repeat(4999)}";2\n`), "none");
  t.is(problemOf(`a;b\n${"1;2\n".repeat(99_998)}`), "none");
  t.deepEqual(read(`ref;day;amount\nr;2026-11-24;1${" ".repeat(9000)}2\n`).issues, [
    `Line 2 has no amount: “1${" ".repeat(29)}…”.`,
  ]);
});

test("amounts are exact, and what is no amount of the chosen form is none", (t) => {
  const comma: [string, number | undefined][] = [
    ["1.234.567,89", 123_456_789],
    ["1 234,5", 123_450],
    ["1'234,50", 123_450],
    ["0,29", 29],
    ["1,15", 115],
    ["+7", 700],
    ["12,50-", -1250],
    ["−3,00 EUR", -300],
    ["-0,00", 0],
    ["999999999999,99", 99_999_999_999_999],
    ["9.999.999.999.999,99", undefined],
    ["1.23", undefined], // a point is no decimal comma, and three digits follow one of thousands
    ["1.234.56,00", undefined],
    ["1,234", undefined],
    ["-5-", undefined],
    ["=1+1", undefined],
    ["1e3", undefined],
    ["", undefined],
    ["0x10", undefined],
    ["٣", undefined],
  ];
  for (const [text, cents] of comma) t.is(centsOfCell(text, ","), cents, text);
  t.is(centsOfCell("1,234.50", "."), 123_450);
  t.is(centsOfCell("1.234,50", "."), undefined);
  // Every amount of cents comes back, also where a float would not give it.
  for (let cents = 0; cents < 100_000; cents += 7) {
    const text = `${Math.floor(cents / 100)},${String(cents % 100).padStart(2, "0")}`;
    if (centsOfCell(text, ",") !== cents) t.fail(text);
  }
});

test("days of the calendar, with the day before the month", (t) => {
  t.is(dayOf("2026-11-24"), "2026-11-24");
  t.is(dayOf("2026-11-24T09:30:00+01:00"), "2026-11-24");
  t.is(dayOf("4/1/2026"), "2026-01-04");
  t.is(dayOf("29.02.2028"), "2028-02-29");
  for (const text of [
    "29.02.2026",
    "31.04.2026",
    "11/24/2026",
    "24.11/2026",
    "20261124",
    "x",
    "",
  ]) {
    t.is(dayOf(text), undefined, text);
  }
});

test("each wrong line is named by the line in the file where it begins", (t) => {
  const file = `ref,day,amount
"two
lines",2026-11-24,1.00
,2026-11-24,1.00
a,24 Nov,1.00
a,2026-11-24,=HYPERLINK("x")
a,2026-11-24
${"r".repeat(201)},2026-11-24,1.00
`.replace('=HYPERLINK("x")', '"=HYPERLINK(""x"")"');
  const { entries, issues } = read(file);
  t.is(entries[0]?.reference, "two\nlines");
  t.deepEqual(issues, [
    "Line 4 has no reference of 1 to 200 characters.",
    "Line 5 has no date: “24 Nov”.",
    'Line 6 has no amount: “=HYPERLINK("x")”.',
    "Line 7 has other columns.",
    "Line 8 has no reference of 1 to 200 characters.",
  ]);
});

test("a reference that a spreadsheet would run stays the text that it is", (t) => {
  t.is(read("ref,day,amount\n=1+1,2026-11-24,1.00\n").entries[0]?.reference, "=1+1");
});

test("a file that is no CSV is refused in words", (t) => {
  for (const text of ["", "\n\n", "one\ntwo\n", "\u0000\u0001"]) {
    t.regex(problemOf(text), /no columns/, JSON.stringify(text));
  }
  t.regex(problemOf('a;b\n1;"open\n'), /Line 2 has a quote within a field/);
});

test("a long file is read, and a day that is too long for a command is not sent", (t) => {
  const lines = Array.from({ length: 30_000 }, (_, n) => `ref ${n};24.11.2026;1,00`);
  const file = `a;b;c\n${lines.join("\n")}\n`;
  const { entries, issues } = readEntries(tableOf(file), { ...plain, decimal: "," });
  t.deepEqual([entries.length, issues.length], [30_000, 0]);
  t.is(bankOf(entries, "2026-11-24"), undefined);
  t.is(bankOf(entries.slice(0, 10_000), "2026-11-24")?.length, 10_000);
  // Quotes and separators without end.
  t.is(typeof readTable('"'.repeat(1_000_001)), "string");
  t.is(typeof readTable(";".repeat(100_000)), "string");
});

test("files of older programs are read by the code of Windows", (t) => {
  t.is(decodeFile(new TextEncoder().encode("Börse €")), "Börse €");
  t.is(decodeFile(new Uint8Array([0x42, 0xf6, 0x72, 0x73, 0x65, 0x20, 0x80])), "Börse €");
});
