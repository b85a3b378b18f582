import test from "ava";
import { loadModule, parsePlPgSQLSync, parseSync } from "libpg-query";
import { objectOf } from "../../src/database/schema_files.ts";
import { listFiles, readText } from "../helpers/repository.ts";

/** Who may call whom, write what and lock what in db/, asked of the parsed functions and views. */

const below = ["core", "installer", "rate_limits", "catalog", "identity", "ledger", "risk"];

/** A schema calls its own functions, and those of these. */
const calls: Record<string, string[]> = {
  core: [],
  installer: [],
  rate_limits: ["core"],
  catalog: ["core"],
  identity: ["core"],
  ledger: ["core", "identity"],
  risk: ["core", "identity"],
  trading: ["core", "catalog", "identity", "ledger", "risk"],
  leaderboard: ["core"],
  analytics: ["core"],
  api: [...below, "trading", "leaderboard"],
  jobs: [...below, "trading", "leaderboard"],
  admin: [...below, "trading", "leaderboard", "analytics", "jobs"],
};

/** Only their own functions, and those of schemas that may call them, name anything of these. */
const ofCallers = ["api", "jobs", "admin", "analytics"];

const exceptions: { from: RegExp; to: RegExp; because: string }[] = [
  {
    from: /^\w+\.verify(_\w+)?$/,
    to: /^(\w+\.verify_\w+|trading\.(fill_sides|user_lines)|ledger\.revenue_account_id|admin\.(audit_log|caps|personal_arguments))$/,
    because: "a verification compares everything with everything, also with calls of operators",
  },
  {
    from: /^installer\.schema_objects$/,
    to: /^(admin\.commands|core\.error_codes)$/,
    because: "the rows of a table that only a release changes are part of the schema",
  },
  {
    from: /^(api|jobs)\.warm_up$/,
    to: /^admin\.rehearse$/,
    because: "a new connection rehearses a whole market, with all that makes one",
  },
  {
    from: /^admin\.rehearse(_orders)?$/,
    to: /^api\.(run_command|run_orders)$/,
    because: "a rehearsal compiles what callers call",
  },
  {
    from: /^api\.get_own_positions$/,
    to: /^analytics\.positions$/,
    because: "a trader's page shows the figures that analysts see",
  },
  {
    from: /^api\.(accept_staff_invitation|add_staff_passkey)$/,
    to: /^admin\.audit_access$/,
    because: "the audit log has who got a way in to call functions of operators",
  },
  {
    from: /^jobs\.take_mail$/,
    to: /^api\.count_requests$/,
    because: "mails to a mailbox are limited as requests are",
  },
];

/**
 * The folders whose functions change rows: of the tables of a schema, and of single tables besides.
 * A folder is a schema, or a room of trading.
 */
const writers: Record<string, string[]> = {
  core: ["admin", "jobs"],
  "core.processes": ["core"],
  rate_limits: ["rate_limits", "api", "jobs", "admin"],
  catalog: ["catalog", "admin"],
  "catalog.markets": ["trading/settle"],
  "catalog.events": ["ledger"],
  "catalog.market_listings": ["jobs"],
  "catalog.event_listings": ["jobs"],
  identity: ["identity", "api", "jobs", "admin"],
  ledger: ["ledger"],
  "ledger.day_openings": ["trading/write"],
  "ledger.fee_payouts": ["trading/settle"],
  "ledger.verifications": ["jobs"],
  risk: ["risk"],
  trading: ["trading/write", "trading/plain"],
  "trading.traders": ["ledger", "risk", "trading/change", "api", "jobs", "admin"],
  "trading.market_state": ["ledger", "admin"],
  "trading.fee_cancellations": ["admin"],
  "trading.fee_schedules": ["admin"],
  "trading.holdings": ["trading/change", "trading/convert", "trading/settle"],
  "trading.set_conversions": ["trading/convert"],
  "trading.order_replacements": ["trading/change"],
  "trading.resolutions": ["trading/settle"],
  "trading.settlements": ["trading/settle"],
  "trading.disputes": ["trading/settle", "admin"],
  "trading.voids": ["trading/settle"],
  "trading.voided_positions": ["trading/settle"],
  "trading.outbox": ["trading/events", "identity", "api"],
  "trading.outbox_relay": ["api", "jobs"],
  "trading.sent_events": ["api"],
  "trading.idempotency_keys": ["jobs"],
  "trading.dead_man_switches": ["api", "jobs", "trading/change"],
  "trading.order_stops": ["trading/change", "jobs"],
  "trading.candles": ["jobs"],
  "trading.candle_progress": ["jobs"],
  "trading.exit_values": ["jobs"],
  "trading.valued_days": ["jobs"],
  leaderboard: ["leaderboard"],
  "leaderboard.profile_changes": ["identity"],
  admin: ["admin"],
};

/** The folders whose functions lock rows by `select ... for`, or a table. */
const rowLockers: Record<string, string[]> = {
  "core.processes": ["jobs"],
  "core.worker_heartbeat": ["api"],
  rate_limits: ["jobs"],
  "rate_limits.allowances": ["rate_limits"],
  "rate_limits.stream_leases": ["api"],
  catalog: ["catalog", "admin"],
  "catalog.markets": ["trading/settle", "jobs"],
  "catalog.event_listings": ["jobs"],
  identity: ["identity", "api", "jobs"],
  "ledger.outside_world": ["ledger"],
  "ledger.closed_days": ["ledger"],
  "ledger.balance_proofs": ["ledger"],
  "trading.traders": ["trading/lock", "trading/plain", "trading/settle", "identity", "jobs"],
  "trading.dead_man_switches": ["api", "jobs"],
  "trading.order_stops": ["jobs"],
  "trading.idempotency_keys": ["jobs"],
  "trading.candle_progress": ["jobs"],
  "trading.valued_days": ["jobs"],
  "trading.sent_events": ["trading/events"],
  "trading.archived_orders": ["trading/write"],
  "leaderboard.state": ["leaderboard"],
  admin: ["admin"],
};

/** The functions that take advisory locks. */
const advisoryLockers: Record<string, string> = {
  "trading.lock_market": "a market",
  "trading.lock_market_if_free": "a market",
  "trading.archive_orders": "one archiver at a time",
  "ledger.seal": "one sealer at a time",
  "api.relay_outbox": "one relay at a time",
  "jobs.remove_sent_events": "the relay",
  "api.open_stream": "the streams of a user",
  "api.close_stream": "the streams of a user",
};

interface Parsed {
  path: string;
  /** Of the function or view. */
  name: string;
  schema: string;
  folder: string;
  calls: string[];
  /** Relations and types. */
  names: string[];
  writes: string[];
  locks: string[];
}

const parsed: Parsed[] = [];
const known = new Set<string>();

test.before("parse", async () => {
  await loadModule();
  for (const path of listFiles("db")) {
    const [, schema, folder] = /^db\/(\w+)\/(\w+)\/\w+\.sql$/.exec(path) ?? [];
    if (schema === undefined || folder === undefined || folder === "tables") continue;
    const name = objectOf(path.slice("db/".length));
    if (folder !== "views") known.add(name);
    parsed.push({
      path,
      name,
      schema,
      folder: schema === "trading" ? `trading/${folder}` : schema,
      ...usesOf(readText(path)),
    });
  }
});

type Uses = Pick<Parsed, "calls" | "names" | "writes" | "locks">;

function usesOf(sql: string): Uses {
  const uses = {
    calls: new Set<string>(),
    names: new Set<string>(),
    writes: new Set<string>(),
    locks: new Set<string>(),
  };
  for (const tree of [parseSync(sql), ...bodiesOf(sql)]) {
    walk(tree, (kind, node) => {
      switch (kind) {
        case "FuncCall":
          uses.calls.add(joined(node.funcname));
          break;
        case "RangeVar":
        case "relation":
          if (node.schemaname) uses.names.add(relationOf(node));
          break;
        case "TypeName":
        case "typeName":
        case "argType":
        case "returnType":
          if (node.names?.length === 2) uses.names.add(joined(node.names));
          break;
        case "InsertStmt":
        case "UpdateStmt":
        case "DeleteStmt":
        case "MergeStmt":
          uses.writes.add(relationOf(node.relation));
          break;
        case "SelectStmt":
          for (const relation of lockedBy(node)) uses.locks.add(relation);
          break;
        case "LockStmt":
          for (const { RangeVar } of node.relations) uses.locks.add(relationOf(RangeVar));
      }
    });
  }
  return {
    calls: [...uses.calls].sort(),
    names: [...uses.names].sort(),
    writes: [...uses.writes].sort(),
    locks: [...uses.locks].sort(),
  };
}

/** The statements of functions' bodies, and their expressions, which parse as statements. */
function bodiesOf(sql: string): unknown[] {
  if (sql.includes("language plpgsql")) {
    const trees: unknown[] = [];
    // The parser knows no types of ours: it takes them for records, and refuses to return several.
    walk(parsePlPgSQLSync(sql.replace(/returns \w+\.\w+\[\]/, "returns text[]")), (kind, node) => {
      if (kind === "PLpgSQL_expr") trees.push(parseSync(asStatement(node)));
      if (kind === "PLpgSQL_type" && /^\w+\.\w+/.test(node.typname)) {
        trees.push(parseSync(`select null::${node.typname.replace(/%rowtype$/i, "")}`));
      }
    });
    // It has no defaults of records.
    for (const [, value] of sql.matchAll(/^ +\w+ (?:constant )?\w+\.\w+(?:\[\])? := ([^]*?);$/gm)) {
      trees.push(parseSync(`select ${value}`));
    }
    return trees;
  }
  const [, body] = /^as \$\$\n([\s\S]*?)^\$\$;/m.exec(sql) ?? [];
  return body === undefined ? [] : [parseSync(body)];
}

/** parseMode: 0 is a statement, 2 an expression, more is an assignment. */
function asStatement({ query, parseMode = 0 }: { query: string; parseMode?: number }): string {
  if (parseMode === 0) return query;
  return `select ${parseMode === 2 ? query : query.replace(/^[^=]*?:?=/, "")}`;
}

function walk(tree: unknown, visit: (kind: string, node: any) => void): void {
  if (tree === null || typeof tree !== "object") return;
  for (const [kind, node] of Object.entries(tree)) {
    if (node !== null && typeof node === "object" && !Array.isArray(node)) visit(kind, node);
    walk(node, visit);
  }
}

const joined = (names: any[]): string => names.map(({ String }) => String.sval).join(".");

const relationOf = ({ schemaname, relname }: any): string =>
  schemaname === undefined ? relname : `${schemaname}.${relname}`;

/** The relations whose rows a select locks: those of its `of`, or else of its from clause. */
function lockedBy({ lockingClause, fromClause }: any): string[] {
  const relations = new Map<string, string>();
  walk(fromClause, (kind, node) => {
    if (kind === "RangeVar") relations.set(node.alias?.aliasname ?? node.relname, relationOf(node));
  });
  return (lockingClause ?? []).flatMap(({ LockingClause: { lockedRels } }: any) =>
    lockedRels === undefined
      ? [...relations.values()]
      : lockedRels.map(({ RangeVar }: any) => relations.get(RangeVar.relname)),
  );
}

const schemaOf = (name: string): string => name.split(".")[0] ?? "";

const exceptionFor = (from: string, to: string) =>
  exceptions.find((exception) => exception.from.test(from) && exception.to.test(to));

/** What each function names of other schemas, as [from, to]. */
const links = (of: (use: Parsed) => string[]): [string, string][] =>
  parsed.flatMap((use) =>
    of(use)
      .filter((name) => schemaOf(name) !== use.schema)
      .map((name): [string, string] => [use.name, name]),
  );

const called = () => links((use) => use.calls.filter((name) => known.has(name)));

test("schemas stand in layers: each calls only those that stand before it", (t) => {
  const order = Object.keys(calls);
  t.deepEqual(order.toSorted(), [...new Set(parsed.map(({ schema }) => schema))].sort());
  for (const [schema, callees] of Object.entries(calls)) {
    for (const callee of callees) t.true(order.indexOf(callee) < order.indexOf(schema), schema);
  }
});

test("functions call functions of lower schemas only", (t) => {
  t.true(called().length > 500);
  const wrong = called().filter(
    ([from, to]) => !calls[schemaOf(from)]?.includes(schemaOf(to)) && !exceptionFor(from, to),
  );
  t.deepEqual(wrong, []);
});

test("nothing below names what is for callers", (t) => {
  const wrong = links(({ names }) => names).filter(
    ([from, to]) =>
      ofCallers.includes(schemaOf(to)) &&
      !calls[schemaOf(from)]?.includes(schemaOf(to)) &&
      !exceptionFor(from, to),
  );
  t.deepEqual(wrong, []);
});

test("every exception is needed", (t) => {
  const all = [...called(), ...links(({ names }) => names)];
  for (const { from, to, because } of exceptions) {
    t.true(
      all.some(
        ([one, other]) =>
          from.test(one) && to.test(other) && !calls[schemaOf(one)]?.includes(schemaOf(other)),
      ),
      because,
    );
  }
});

/** What a table allows of what was found, both as "target folder". */
function compare(found: [string, string][], allowed: Record<string, string[]>) {
  const isAllowed = ([target, folder]: [string, string]) =>
    [target, schemaOf(target)].some((key) => allowed[key]?.includes(folder));
  return {
    wrong: found.filter((use) => !isAllowed(use)).map((use) => use.join(" by ")),
    unused: Object.entries(allowed).flatMap(([key, folders]) =>
      folders
        .filter(
          (folder) =>
            !found.some(
              ([target, by]) => by === folder && (target === key || schemaOf(target) === key),
            ),
        )
        .map((folder) => `${key} by ${folder}`),
    ),
  };
}

const uses = (of: (use: Parsed) => string[]): [string, string][] =>
  parsed.flatMap((use) =>
    of(use)
      .filter((name) => calls[schemaOf(name)] !== undefined)
      .map((name): [string, string] => [name, use.folder]),
  );

test("tables are written by the folders that may", (t) => {
  const found = uses(({ writes }) => writes);
  t.true(found.length > 100);
  t.deepEqual(compare(found, writers), { wrong: [], unused: [] });
});

test("rows are locked by the folders that may", (t) => {
  const found = uses(({ locks }) => locks);
  t.true(found.length > 20);
  t.deepEqual(compare(found, rowLockers), { wrong: [], unused: [] });
});

test("advisory locks are taken by few functions", (t) => {
  const takers = parsed.filter((use) =>
    use.calls.some((name) => /^(pg_catalog\.)?pg_(try_)?advisory_/.test(name)),
  );
  t.deepEqual(takers.map(({ name }) => name).sort(), Object.keys(advisoryLockers).sort());
});

test("every call that a search of the text finds is among those that were parsed", (t) => {
  const missed = parsed.flatMap(({ name, path, calls: found }) =>
    [
      ...readText(path)
        .replace(/--.*$/gm, "")
        .replace(/'[^']*'/g, "''")
        .matchAll(/\b(\w+\.\w+)\s*\(/g),
    ]
      .flatMap(([, callee = ""]) => callee)
      .filter((callee) => known.has(callee) && callee !== name && !found.includes(callee))
      .map((callee) => `${name}: ${callee}`),
  );
  t.deepEqual(missed, []);
});

test("the parser sees calls, names, writes and locks", (t) => {
  t.deepEqual(
    usesOf(`create function a.f(x b.t) returns int language plpgsql as $$
declare
  v_one b.u := c.g(x);
begin
  v_one := c.h(1);
  if c.i() then
    perform from d.r as s for update of s;
    insert into d.w select 1 from d.v;
  end if;
  return (select c.j());
end
$$;`),
    {
      calls: ["c.g", "c.h", "c.i", "c.j"],
      names: ["b.t", "b.u", "d.r", "d.v", "d.w", "pg_catalog.int4"],
      writes: ["d.w"],
      locks: ["d.r"],
    },
  );
});
