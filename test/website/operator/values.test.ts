import test from "ava";
import { bonusesOf, namesIn, readBonuses } from "../../../src/website/operator/api/bonus.ts";
import { csvCell, csvLine } from "../../../src/website/csv.ts";
import {
  conditionOf,
  faultOf,
  identified,
  isIndexed,
  isSortable,
  queryOf,
  stateOf,
} from "../../../src/website/operator/api/filters.ts";
import {
  centsOf,
  eurosOf,
  fieldTimeOf,
  showTime,
  showTotal,
  timeOf,
} from "../../../src/website/operator/api/values.ts";
import { ofCommand, wordsOf } from "../../../src/website/operator/api/words.ts";
import { commands } from "../../../src/website/operator/commands/all.ts";
import { readArguments } from "../../../src/website/operator/commands/arguments.ts";
import { fileNameOf, namedArguments } from "../../../src/website/operator/commands/command.ts";
import { mutationOf } from "../../../src/website/operator/commands/mutation.ts";
import { isStaffPath, listNames, staffPageAt } from "../../../src/website/operator/paths.ts";
import { views } from "../../../src/website/operator/views/all.ts";
import { headsOf, plainValues } from "../../../src/website/operator/views/query.ts";
import type { Row } from "../../../src/website/operator/views/query.ts";
import type { View } from "../../../src/website/operator/views/view.ts";

const id = "0193d0a0-0000-7000-8000-000000000001";
const other = "0193d0a0-0000-7000-8000-000000000002";

test("many markets are read from CSV as from JSON; what a line has too much is named", (t) => {
  const read = (markets: string) =>
    readArguments(commands.createMarkets, { markets, dryRun: "yes" });
  const two = [
    { title: 'Will "A" win, or B?', category: "tests", open: "false" },
    { title: "Rain", category: "weather", position: "2" },
  ];
  const csv = [
    "title,category,open,position",
    '"Will ""A"" win, or B?",tests,false,',
    "",
    "Rain,weather,,2",
  ];
  for (const text of [csv.join("\n"), csv.join("\r\n"), JSON.stringify(two)]) {
    t.deepEqual(read(text), { ok: true, given: { markets: two, dryRun: true } });
  }
  t.deepEqual(read(csv.join("\n").replaceAll(",", ";")).ok, true);
  const tooMany = {
    markets: "The first line must have the names, and no line more cells than it.",
  };
  for (const line of ["Rain,weather,open", "Rain,weather,2\nSnow,weather", ""]) {
    t.deepEqual(read(`title,category\n${line}`), { ok: false, issues: tooMany });
  }
  t.deepEqual(read('[{"title": }]'), { ok: false, issues: { markets: "This is no JSON." } });
  t.deepEqual(read("title"), {
    ...{ ok: false, issues: { markets: "The file has no columns: is it CSV?" } },
  });
});

test("a cell that a spreadsheet would run gets an apostrophe, and a number does not", (t) => {
  const cases: [text: string, cell: string][] = [
    ["=1+1", "'=1+1"],
    ["+49 30", "'+49 30"],
    ["-1+2", "'-1+2"],
    ["@SUM(A1)", "'@SUM(A1)"],
    ["\tx", "'\tx"],
    ["\rx", `"'\rx"`],
    ["-12.50", "-12.50"],
    ["12", "12"],
    ['=a,"b"', `"'=a,""b"""`],
    ["two\nlines", '"two\nlines"'],
    ["plain", "plain"],
    [" =1", "' =1"],
    ["\u00a0=1", "'\u00a0=1"],
    ["\ufeff=1", "'\ufeff=1"],
    ["＝1", "'＝1"],
    ["a;=1", '"a;=1"'],
  ];
  for (const [text, cell] of cases) t.is(csvCell(text), cell, text);
  t.is(csvLine(["a", "=b", "c,d"]), 'a,\'=b,"c,d"\r\n');
});

test("euros to cents and back", (t) => {
  for (const cents of [0, 1, 9, 10, 99, 100, 101, 123_450, -1, -99, -100, -123_456, 10 ** 13]) {
    t.is(centsOf(eurosOf(cents)), cents);
  }
  t.is(eurosOf("5"), "0.05");
  t.is(eurosOf("-5"), "-0.05");
  t.is(centsOf("−2,5"), -250);
  t.is(centsOf("€ 1,000.00"), 100_000);
  for (const text of ["", "-", "1.234", "--1", "1e3", "abc"]) t.is(centsOf(text), undefined, text);
});

test("times are UTC on the way in and out", (t) => {
  t.is(timeOf("2030-01-02T03:04"), "2030-01-02T03:04:00.000Z");
  t.is(fieldTimeOf("2030-01-02T03:04:00+00:00"), "2030-01-02T03:04");
  t.is(showTime("2030-01-02T03:04:05Z"), "2 Jan 2030, 03:04:05 UTC");
  t.is(showTime("infinity"), "for good");
  t.is(timeOf("half-typed"), undefined);
  t.is(fieldTimeOf(""), "");
});

test("the address says which rows a list shows, and what is wrong in it counts as absent", (t) => {
  const typed = { user: id, status: "open", from: "2030-01-01T00:00" };
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(queryOf(views.orders, typed, "orders"))) {
    if (value !== undefined && value !== "") query.set(name, value);
  }
  t.is(query.get("orders.user"), id);
  query.set("orders.page", "3");
  query.set("orders.sort", "CREATED_AT_ASC");
  const state = stateOf(views.orders, query, "orders");
  t.is(state.page, 3);
  t.is(state.order, "CREATED_AT_ASC");
  for (const [name, value] of Object.entries(typed)) t.is(state.typed[name], value);
  t.is(stateOf(views.orders, query).typed.user, "");

  const wrong = new URLSearchParams({ page: "-1", sort: "DROP_TABLE" });
  t.like(stateOf(views.orders, wrong), { page: 1, order: views.orders.order });

  // No filter reads what is said about the page.
  for (const [name, view] of Object.entries(views)) {
    for (const filter of view.filters) t.false(["page", "sort"].includes(filter.name), name);
  }
  const sorted = stateOf(views.orders, new URLSearchParams({ sort: "ORDER_KEY_ASC" }));
  t.is(sorted.order, "ORDER_KEY_ASC");
  t.is(conditionOf(views.orders, sorted.typed), undefined);
});

test("a long list is ordered by its key, a short one by any column that says so", (t) => {
  const sortable = (isShort: boolean, view = views.orders) =>
    view.columns.filter((column) => isSortable(view, column, isShort)).map(({ field }) => field);
  t.deepEqual(sortable(false), ["orderKey"]);
  t.deepEqual(sortable(true), ["createdAt", "orderKey"]);
  t.deepEqual(sortable(false, views.positions), []);
  t.true(isIndexed(views.orders, "ORDER_KEY_ASC"));
  t.false(isIndexed(views.orders, "CREATED_AT_DESC"));
  t.is(showTotal({ count: 1234, isMore: false }), "1,234");
  t.is(showTotal({ count: 10_000, isMore: true }), "more than 10,000");
  const pages = ["400", "401"].map((page) => stateOf(views.orders, new URLSearchParams({ page })));
  t.deepEqual(
    pages.map(({ page }) => page),
    [400, 1],
  );
});

test("filters become conditions, and what cannot be a value lets no row pass", (t) => {
  const none = (field: string) => ({
    and: [{ [field]: { isNull: true } }, { [field]: { isNull: false } }],
  });
  const conditions = (typed: Record<string, string>, view = views.orders) =>
    (conditionOf(view, typed) as { and: unknown[] } | undefined)?.and;
  t.is(conditions({}), undefined);
  t.is(conditions({ user: "  " }), undefined);
  t.deepEqual(conditions({ user: id, status: "open" }), [
    { userId: { equalTo: id } },
    { isInBook: { equalTo: true }, status: { equalTo: "open" } },
  ]);
  t.deepEqual(conditions({ status: "open,partially_filled" }), [{ isInBook: { equalTo: true } }]);
  t.deepEqual(conditions({ status: "filled" }), [{ status: { equalTo: "filled" } }]);
  t.deepEqual(conditions({ same: "mailbox, name" }, views.lookalikes), [
    { same: { equalTo: "mailbox, name" } },
  ]);
  t.deepEqual(conditions({ held: "yes" }, views.positions), [
    { openQuantity: { notEqualTo: "0" } },
  ]);
  t.deepEqual(conditions({ user: "nobody" }), [none("userId")]);
  t.deepEqual(conditions({ status: "lost" }), [none("status")]);
  t.deepEqual(conditions({ from: "2030-01-01T00:00", until: "2030-02-01T00:00" }), [
    // 2029-12-31T23:00Z and 2030-02-01T01:00Z are 1893452400000 and 1896138000000 ms after 1970.
    {
      createdAt: { greaterThanOrEqualTo: "2030-01-01T00:00:00.000Z" },
      orderId: { greaterThanOrEqualTo: "01b8da8e-c580-0000-0000-000000000000" },
    },
    {
      createdAt: { lessThan: "2030-02-01T00:00:00.000Z" },
      orderId: { lessThan: "01b97aa1-c680-0000-0000-000000000000" },
    },
  ]);
  t.deepEqual(conditions({ from: "2030-01-01T00:00" }, views.journals), [
    { createdAt: { greaterThanOrEqualTo: "2030-01-01T00:00:00.000Z" } },
  ]);
  t.deepEqual(conditions({ day: " 2030-02-28 " }, views.feeRevenue), [
    { day: { equalTo: "2030-02-28" } },
  ]);
  for (const day of ["x", "2030-02-29", "30", "2030-2-1", "infinity", "+12030-01-01"]) {
    t.deepEqual(conditions({ day }, views.feeRevenue), [none("day")], day);
    t.is(faultOf(views.feeRevenue.filters[0]!, day), "Give a day like 2030-12-31.", day);
  }
  for (const day of ["", " ", "2030-02-28", " 2028-02-29 "]) {
    t.is(faultOf(views.feeRevenue.filters[0]!, day), undefined, day);
  }
  t.deepEqual(conditions({ frozen: "yes" }, views.users), [{ frozenAt: { isNull: false } }]);
  // A user is found by a part of any of four texts, which one column has together.
  for (const [typed, part] of [
    [id, id],
    ["ann@", "ann@"],
    ["…00000001", "00000001"],
  ] as const) {
    t.deepEqual(conditions({ search: typed }, views.users), [
      { searchText: { includesInsensitive: part } },
    ]);
  }
  t.deepEqual(conditions({ search: id }, views.markets), [
    { or: [{ title: { includesInsensitive: id } }, { marketId: { equalTo: id } }] },
  ]);
  t.deepEqual(conditions({ search: "rain" }, views.markets), [
    { or: [{ title: { includesInsensitive: "rain" } }, none("marketId")] },
  ]);
  t.deepEqual(conditions({ key: "jk_AbC123andTheRest" }, views.apiKeys), [
    { keyPrefix: { startsWith: "jk_AbC123" } },
  ]);
  t.deepEqual(conditionOf(views.orders, { side: "yes" }, { userId: { equalTo: id } }), {
    and: [{ userId: { equalTo: id } }, { side: { equalTo: "yes" } }],
  });
});

test("files have the names of their user and days", (t) => {
  const given = { userId: id, fromDay: "2026-11-01", toDay: "2026-11-30" };
  const { statement, exportUser, reconcile } = commands;
  t.is(fileNameOf(statement, given, "tom"), "statement_tom_2026-11-01_2026-11-30");
  t.is(fileNameOf(statement, given), `statement_${id}_2026-11-01_2026-11-30`);
  t.is(fileNameOf(exportUser, { userId: id }, "tom"), "user_tom");
  t.is(fileNameOf(reconcile, { day: "2026-11-01", bank: [] }), "reconcile_2026-11-01");
  t.is(reconcile.none?.({ bank: [{}, {}] }), "2 entries agree, no difference.");
  t.is(reconcile.none?.({ bank: [{}] }), "1 entry agrees, no difference.");
});

test("a proposal has the arguments by their names in SQL, as they were typed", (t) => {
  t.deepEqual(
    namedArguments({ userId: id, amountCents: "100000", reference: "0004711", until: null }),
    { user_id: id, amount_cents: "100000", reference: "0004711", until: null },
  );
});

test("a pasted list of bonuses is read, and each wrong line is named", (t) => {
  const head = "user_id,amount\n";
  const paid = [
    { user_id: id, amount_cents: 500 },
    { user_id: other, amount_cents: 250 },
  ];
  const third = "0193d0a0-0000-7000-8000-000000000003";
  const ids = new Map([
    ["tom", id],
    ["tom@x.example", id],
    ["ann", third],
  ]);
  const lists = [
    `${head}${id},5\n\n"${other.toUpperCase()}",2.50\n`,
    `${id};5\r\n${other};"2,50"`,
    `user,amount\nTom,"5,00"\n${other},2.5,\n`,
    `Tom@X.example\t5\n${other}\t"2,5"`,
  ];
  for (const list of lists) {
    const read = readBonuses(list);
    t.deepEqual(read.issues, [], list);
    t.deepEqual(bonusesOf(read.lines, ids), { bonuses: paid, issues: [] }, list);
  }
  t.deepEqual(namesIn(readBonuses(lists[0]!)), []);
  t.deepEqual(namesIn(readBonuses(lists[2]!)), ["Tom", "tom"]);
  t.deepEqual(readBonuses(" \n"), { lines: [], issues: [] });

  const wrong = readBonuses(`${head},5\n${id},0\n${id},1,2\n${id},1\nann,1e3`);
  t.deepEqual(
    wrong.issues.map((issue) => issue.slice(0, 6)),
    ["Line 2", "Line 3", "Line 4", "Line 6"],
  );
  t.deepEqual(namesIn(wrong), []);
  // The first line is of names only if both columns have one.
  t.deepEqual(readBonuses("ann,1.50\ntom;2").issues, [
    "Line 1 has one column, and others have more.",
  ]);
  for (const amount of ["", "ten", "-", "n/a"]) {
    t.deepEqual(readBonuses(`ann,${amount}\ntom,2`).issues, ["Line 1 has no amount above zero."]);
  }
  const { lines } = readBonuses(`nobody,1\ntom,1\nann,1\n${id},1\n`);
  t.deepEqual(bonusesOf(lines, ids), {
    bonuses: [
      { user_id: id, amount_cents: 100 },
      { user_id: third, amount_cents: 100 },
    ],
    issues: ["Line 1: there is no user nobody.", "Line 4 names a user for the second time."],
  });
  const confirm = commands.giveBonus.confirm as (given: Record<string, unknown>) => string;
  t.regex(confirm({ name: "autumn", users: paid }), /“autumn”: 2 users get €7\.50 in all/);
  t.regex(confirm({ name: "a", users: paid.slice(1) }), /: 1 user gets €2\.50 in all/);
  const many = Array.from(
    { length: 1001 },
    (_, index) => `0193d0a0-0000-7000-8000-${String(index).padStart(12, "0")},1`,
  );
  t.is(readBonuses(many.join("\n")).issues.length, 1);
});

test("codes of approvals are said in words", (t) => {
  for (const code of ["APPROVAL_REQUIRED", "ROLE_REQUIRED", "OWN_PROPOSAL", "PROPOSAL_CHANGED"]) {
    t.notRegex(wordsOf({ status: 200, error: code, code }), /[A-Z]_/);
  }
  const said = (error: string) => wordsOf({ status: 200, error });
  t.regex(
    said("The day is not compared with the bank since it has ended: call admin.reconcile"),
    /use “Compare a day with the bank” on this page first\.$/,
  );
  t.is(said("there is no user"), "There is no user.");
  t.is(said("The balance is only -50 cents"), "The balance is only -€0.50.");
  t.is(said("'9 cents' was used for 9 cents"), "'9 cents' was used for €0.09.");
  const ofShare = "A YES share must pay from 0 to 100 cents.";
  t.is(said(ofShare), ofShare);
});

test("a command without an answer may have been carried out, a question has no effect", (t) => {
  const said = (query: string, status: number) =>
    wordsOf(ofCommand(query, { status, error: "No answer from the server" }));
  const command = mutationOf(commands.deposit);
  for (const status of [0, 502, 504]) {
    t.regex(said(command, status), /not known .* carried out\. Look at the audit or the list/);
  }
  const preview = mutationOf({ name: "preview_resolution", returns: "rows", columns: [] });
  for (const query of ["query Rows { x }", preview]) {
    t.regex(said(query, 0), /Check your connection and try again/);
  }
  t.regex(said(command, 503), /Something went wrong/);
});

test("paths of staff", (t) => {
  for (const path of ["/operator", "/operator/welcome", `/operator/users/${id}`]) {
    t.true(isStaffPath(path), path);
  }
  for (const name of listNames) t.deepEqual(staffPageAt(`/operator/lists/${name}`)?.id, name);
  for (const path of ["/operator/", "/operator/nothing", "/operators", "/operator/lists/users"]) {
    t.false(isStaffPath(path), path);
  }
});

test("a file has names beside ids, and cash that went out below zero", (t) => {
  const lineOf = (view: View, row: Row) =>
    Object.fromEntries(
      view.columns.flatMap((column) => {
        const values = plainValues(column, row);
        return headsOf(column).map((head, at) => [head, values[at]]);
      }),
    );
  t.like(lineOf(views.markets, { marketId: id, title: "Rain?", status: "open" }), {
    ...{ Market: "Rain?", "Market id": id, Status: "open" },
  });
  const amounts: [kind: string, cents: string, euros: string][] = [
    ["deposit", "100000", "1000.00"],
    ["withdrawal", "49900", "-499.00"],
    ["reversal", "5", "-0.05"],
    ["adjustment", "-250", "-2.50"],
    ["adjustment", "250", "2.50"],
    ["bonus", "100", "1.00"],
  ];
  for (const [kind, amountCents, euros] of amounts) {
    const row = { userId: id, userByUserKey: { handle: "tom" }, kind, amountCents };
    t.like(lineOf(views.cashMovements, row), {
      ...{ User: "tom", "User id": id, Kind: kind, "Amount (EUR)": euros, Journal: "" },
    });
  }
  t.like(lineOf(views.journals, { marketId: null, marketByMarketKey: null }), {
    ...{ Market: "", "Market id": "" },
  });
  t.like(lineOf(views.reductions, { orderKey: "7", orderByOrderKey: { orderId: id } }), {
    ...{ Order: id, "Order number": "7" },
  });
  for (const view of Object.values(views)) {
    const heads = view.columns.flatMap(headsOf);
    t.is(new Set(heads).size, heads.length, view.title);
  }
});

test("a file has the unit of each number, as the page shows it", (t) => {
  const { markets, resolutions, feeSchedules } = views;
  for (const [view, field, value, head, cell] of [
    [markets, "lastYesPriceCents", "63", "Last YES price (cents)", "63"],
    [resolutions, "yesPayoutCents", 100, "A YES share got (cents)", "100"],
    [feeSchedules, "takerRateBps", 175, "Taker's fee (%)", "1.75"],
  ] as const) {
    const column = view.columns.find((one) => one.field === field)!;
    t.deepEqual(headsOf(column), [head]);
    t.deepEqual(plainValues(column, { [field]: value }), [cell]);
  }
});

test("a filter for a user takes the handle or the address, one for another id says so", async (t) => {
  const users: Record<string, Row> = {
    anna: { userId: id },
    "ben@mail.example": { userId: other },
  };
  const find = (view: View, typed: Record<string, string>) =>
    identified(view, typed, (name) => Promise.resolve({ ok: true, data: users[name] }));
  const typed = { trader: " anna ", taker: "ben@mail.example", maker: id, trade: "anna" };
  t.deepEqual(await find(views.trades, typed), {
    ...{ ok: true },
    data: { typed: { trader: id, taker: other, maker: id, trade: "anna" }, issues: {} },
  });
  const none = "There is no such user: give an id, a handle or an e-mail address.";
  for (const view of [views.orders, views.auditEntries]) {
    t.deepEqual(await find(view, { user: "nobody", market: "Rain" }), {
      ...{ ok: true, data: { typed: { user: "nobody", market: "Rain" }, issues: { user: none } } },
    });
    const fault = (name: string, text: string): string | undefined =>
      faultOf(
        view.filters.find((filter) => filter.name === name)!,
        text,
      );
    for (const name of ["user", "market"]) {
      t.is(fault(name, "anna"), "This is no id.");
      for (const text of ["", id]) t.is(fault(name, text), undefined);
    }
  }
  const search = views.markets.filters.find(({ name }) => name === "search")!;
  t.is(faultOf(search, "Rain"), undefined);
});
