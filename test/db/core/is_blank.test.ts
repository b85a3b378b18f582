import test from "ava";
import { isBlank } from "../../../src/api/common.ts";
import { testDatabase } from "../../helpers/database/test_database.ts";

/** core.is_blank: which texts show a reader nothing. */

const database = testDatabase(test);

const blank = async (texts: string[]): Promise<boolean[]> => {
  const { rows } = await database.pool.query(
    `select core.is_blank(u.text) as blank
     from unnest($1::text[]) with ordinality as u (text, place) order by u.place`,
    [texts],
  );
  return rows.map((row) => row.blank);
};

test("white space and characters without ink are blank, a letter among them is not", async (t) => {
  const without = [
    ...["", " ", "\t\r\n", "\u00a0", "\u3000", "\u200b", "\u200b\u200d \u2060", "\ufeff"],
    ...["\u00ad", "\u2800", "\u3164", "\u115f\u1160", "\ufe0f", "\u{e0020}\u{e007f}", "\u202e"],
  ];
  t.deepEqual(
    await blank(without),
    without.map(() => true),
  );
  const seen = [
    ...["a", "\u200bb\u200b", ".", "\u00e9", "\u4e2d", "\u{1f600}", "\u{1f468}\u200d\u{1f469}"],
  ];
  t.deepEqual(
    await blank(seen),
    seen.map(() => false),
  );
});

test("requests and the database agree about each character", async (t) => {
  const { rows } = await database.pool.query(
    `select g.code from generate_series(1, x'10ffff'::int) as g (code)
     where g.code not between x'd800'::int and x'dfff'::int and core.is_blank(chr(g.code))
     order by g.code`,
  );
  const codes: number[] = [];
  for (let code = 1; code <= 0x10ffff; code++) {
    if (code >= 0xd800 && code <= 0xdfff) continue;
    if (isBlank(String.fromCodePoint(code))) codes.push(code);
  }
  t.deepEqual(
    rows.map((row) => row.code),
    codes,
  );
  // All that Unicode calls white space or ignorable by default.
  const unicode = /[\p{White_Space}\p{Default_Ignorable_Code_Point}\p{Cc}]/u;
  const missing: string[] = [];
  for (let code = 1; code <= 0x10ffff; code++) {
    if (code >= 0xd800 && code <= 0xdfff) continue;
    const character = String.fromCodePoint(code);
    if (unicode.test(character) && !isBlank(character)) missing.push(code.toString(16));
  }
  t.deepEqual(missing, []);
});
