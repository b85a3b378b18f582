import test from "ava";
import { errorCodes } from "../../src/database/error_codes.ts";
import { testDatabase } from "../helpers/database/test_database.ts";
import { readText } from "../helpers/repository.ts";

const database = testDatabase(test);

interface ErrorCode {
  sqlstate: string;
  status: number;
  message: string;
}

type ErrorCodes = Record<string, ErrorCode>;

async function codesInSql(): Promise<Record<string, ErrorCode & { codeShown: boolean }>> {
  const { rows } = await database.pool.query(
    "select code, sqlstate, http_status, message, code_shown from core.error_codes",
  );
  return Object.fromEntries(
    rows.map((row) => [
      row.code,
      {
        sqlstate: row.sqlstate,
        status: row.http_status,
        message: row.message,
        codeShown: row.code_shown,
      },
    ]),
  );
}

/** The rows of the table in docs/errors.md whose heading has these columns, in any order. */
function codesInDocs(): ErrorCodes {
  const lines = readText("docs/errors.md").split("\n");
  const cells = (line: string) =>
    line
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim().replaceAll("`", ""));
  const start = lines.findIndex((line) => /\|\s*Code\s*\|/.test(line) && line.includes("SQLSTATE"));
  const heading = cells(lines[start] ?? "");
  const column = (name: string) => heading.indexOf(name);
  const found: ErrorCodes = {};
  for (const line of lines.slice(start + 2)) {
    if (!line.startsWith("|")) break;
    const row = cells(line);
    found[row[column("Code")]!] = {
      sqlstate: row[column("SQLSTATE")]!,
      status: Number(row[column("HTTP")]),
      message: row[column("Message")]!,
    };
  }
  return found;
}

test("TypeScript lists the error codes of core.error_codes", async (t) => {
  t.deepEqual({ ...errorCodes }, await codesInSql());
});

test("docs/errors.md lists the error codes of core.error_codes", async (t) => {
  const expected = Object.fromEntries(
    Object.entries(await codesInSql()).map(([code, { sqlstate, status, message }]) => [
      code,
      { sqlstate, status, message },
    ]),
  );
  t.deepEqual(codesInDocs(), expected);
});

test("the comment of a function for callers names each code that its body has", async (t) => {
  const { rows } = await database.pool.query(
    `select p.oid::regprocedure::text || ': ' || e.code as name
     from pg_proc as p
     join core.error_codes as e
       on pg_get_functiondef(p.oid) ~ quote_literal(e.code)
       or e.code = 'INVALID_REQUEST' and pg_get_functiondef(p.oid) ~ 'core[.]raise_violation[(]'
     where p.pronamespace::regnamespace::text = any ('{api, admin, jobs}')
       and obj_description(p.oid, 'pg_proc') !~ format('\\m%s\\M', e.code)
     order by 1`,
  );
  t.deepEqual(rows, []);
});
