import type { ExecutionContext } from "ava";
import pg from "pg";
import type { ClientBase, Pool } from "pg";
import { isUpdating, makeMask } from "./document.ts";
import type { Document } from "./document.ts";

/**
 * Runs the SQL of a page as psql would, and compares what it prints with the text block behind
 * each SQL block. Of psql's own commands it knows `\gset`, `\gexec`, and `\set` to the text of a
 * file, which is the csv block before; and `:'name'` for what is set.
 * The last column's trailing blanks, tags such as INSERT 0 1, CONTEXT lines (as by psql's variable
 * SHOW_CONTEXT) and the results of functions that return nothing are left out.
 * `variables`: what `\gset` has set, also on the pages before.
 */
export async function runSqlDocument(
  t: ExecutionContext,
  document: Document,
  pool: Pool,
  variables = new Map<string, string>(),
): Promise<void> {
  const client = await pool.connect();
  try {
    await client.query("set timezone = 'UTC'");
    const session = openSession(client, variables);
    for (const block of document.blocks) {
      if (block.language === "csv") session.file = block.text;
      if (block.language !== "sql" || block.info !== "") continue;
      const where = `${document.path}:${block.line}`;
      const printed = await session.run(block.text, where);
      const [shown] = document.outputsOf(block, "text");
      if (isUpdating && shown) document.replace(shown, printed);
      t.is(shown?.text ?? "", printed, where);
    }
  } finally {
    // The session has taken other roles.
    client.release(true);
  }
  if (isUpdating) document.save();
}

interface Session {
  run: (text: string, where: string) => Promise<string>;
  /** What `cat` of a file prints. */
  file: string;
}

function openSession(client: ClientBase, variables: Map<string, string>): Session {
  const mask = makeMask();
  const notices: string[] = [];
  client.on("notification", ({ channel, payload, processId }) => {
    const content = payload === undefined || payload === "" ? "" : `with payload "${payload}" `;
    notices.push(
      `Asynchronous notification "${channel}" ${content}` +
        `received from server process with PID ${processId}.`,
    );
  });

  async function run(text: string, where: string): Promise<string> {
    const outputs: string[] = [];
    for (const { sql, setsVariables, executes } of statementsOf(text)) {
      const ofFile = /^\\set (\w+) `cat \S+`$/.exec(sql);
      if (ofFile) {
        variables.set(ofFile[1]!, session.file);
        continue;
      }
      const result = await execute(client, fillIn(sql, variables, where));
      if (executes && !(result instanceof pg.DatabaseError)) {
        for (const [statement] of result.rows) {
          outputs.push(print(await execute(client, statement ?? "")));
        }
      } else if (!setsVariables) outputs.push(print(result));
      else if (result instanceof pg.DatabaseError) throw result;
      else setFrom(result, variables, where);
      // What a statement notifies of comes behind its result.
      await client.query("select");
      outputs.push(notices.splice(0).join("\n"));
    }
    return mask(outputs.filter((output) => output !== "").join("\n\n"));
  }
  const session: Session = { run, file: "" };
  return session;
}

interface Statement {
  sql: string;
  setsVariables: boolean;
  executes: boolean;
}

/** A statement ends where a line ends in a semicolon, in \gset or \gexec; \set is a line. */
function statementsOf(text: string): Statement[] {
  const ends = /\\set [^\n]+(?:$|\n)|[\s\S]+?(?:;|\\gset|\\gexec)[ \t]*(?:$|\n)/g;
  return [...text.matchAll(ends)].map(([sql]) => ({
    sql: sql.trim().replace(/\s*(?:;|\\gset|\\gexec)$/, ""),
    setsVariables: /\\gset\s*$/.test(sql),
    executes: /\\gexec\s*$/.test(sql),
  }));
}

function fillIn(sql: string, variables: Map<string, string>, where: string): string {
  return sql.replaceAll(/:'(\w+)'/g, (_match, name: string) => {
    const value = variables.get(name);
    if (value === undefined) throw new Error(`${where}: nothing has set :'${name}'`);
    return pg.escapeLiteral(value);
  });
}

interface Result {
  fields: { name: string; dataTypeID: number }[];
  rows: (string | null)[][];
}

const asText = { getTypeParser: () => (value: string) => value } as unknown as pg.CustomTypesConfig;

async function execute(client: ClientBase, sql: string): Promise<Result | pg.DatabaseError> {
  try {
    return await client.query({ text: sql, rowMode: "array", types: asText });
  } catch (error) {
    if (error instanceof pg.DatabaseError) return error;
    throw error;
  }
}

function setFrom({ fields, rows }: Result, variables: Map<string, string>, where: string): void {
  const [row] = rows;
  if (rows.length !== 1 || !row) throw new Error(`${where}: \\gset needs one row`);
  fields.forEach(({ name }, index) => variables.set(name, row[index] ?? ""));
}

// Of smallint, integer, bigint, oid, real, double precision, numeric.
const alignedRight = new Set([21, 23, 20, 26, 700, 701, 1700]);

const VOID = 2278;

function print(result: Result | pg.DatabaseError): string {
  if (result instanceof pg.DatabaseError) {
    const detail = result.detail === undefined ? [] : [`DETAIL:  ${result.detail}`];
    return [`ERROR:  ${result.message}`, ...detail].join("\n");
  }
  const { fields, rows } = result;
  if (fields.every(({ dataTypeID }) => dataTypeID === VOID)) return "";
  const widths = fields.map(({ name }, column) =>
    Math.max(name.length, ...rows.map((row) => (row[column] ?? "").length)),
  );
  const line = (cells: string[]): string => ` ${cells.join(" | ")}`.trimEnd();
  const heading = fields.map(({ name }, column) => centre(name, widths[column]!));
  const body = rows.map((row) =>
    fields.map(({ dataTypeID }, column) => {
      const value = row[column] ?? "";
      const width = widths[column]!;
      return alignedRight.has(dataTypeID) ? value.padStart(width) : value.padEnd(width);
    }),
  );
  return [
    line(heading),
    widths.map((width) => "-".repeat(width + 2)).join("+"),
    ...body.map(line),
    `(${rows.length} ${rows.length === 1 ? "row" : "rows"})`,
  ].join("\n");
}

function centre(text: string, width: number): string {
  const left = Math.floor((width - text.length) / 2);
  return (" ".repeat(left) + text).padEnd(width);
}
