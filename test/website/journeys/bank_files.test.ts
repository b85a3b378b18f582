import { stripTypeScriptTypes } from "node:module";
import type { Page } from "playwright-core";
import type { ReadBank, ReferenceKind } from "../../../src/website/operator/bank/entry.ts";
import { readText } from "../../helpers/repository.ts";
import { journey } from "../journey.ts";

/** Statements of a bank as XML, by the parser of a real browser. */

const source = stripTypeScriptTypes(readText("src/website/operator/bank/camt.ts"));
const address = `data:text/javascript;base64,${Buffer.from(source).toString("base64")}`;
let page: Page;

const read = (text: string, kind: ReferenceKind = "endToEnd"): Promise<ReadBank> =>
  page.evaluate(
    async ([from, file, by]) => (await import(from!)).readCamt(file, by),
    [address, text, kind],
  ) as Promise<ReadBank>;

const wrap = (statements: string, version = "02") =>
  `<?xml version="1.0" encoding="UTF-8"?>
<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.001.${version}">
<BkToCstmrStmt><GrpHdr><MsgId>4711</MsgId><CreDtTm>2026-11-25T04:00:00</CreDtTm></GrpHdr>
${statements}</BkToCstmrStmt></Document>`;
const statement = (entries: string) =>
  `<Stmt><Id>1</Id><Acct><Id><IBAN>DE02120300000000202051</IBAN></Id></Acct>
<Bal><Tp><CdOrPrtry><Cd>OPBD</Cd></CdOrPrtry></Tp><Amt Ccy="EUR">1.00</Amt></Bal>${entries}</Stmt>`;

interface Entry {
  amount?: string;
  side?: string;
  status?: string;
  day?: string;
  details?: string;
}
const entry = ({ amount, side, status, day, details }: Entry = {}) =>
  `<Ntry>${amount ?? '<Amt Ccy="EUR">12.50</Amt>'}<CdtDbtInd>${side ?? "CRDT"}</CdtDbtInd>
${status ?? "<Sts>BOOK</Sts>"}<BookgDt>${day ?? "<Dt>2026-11-24</Dt>"}</BookgDt>
<AcctSvcrRef>bank's own</AcctSvcrRef><NtryDtls>${details ?? payment()}</NtryDtls></Ntry>`;
const payment = (endToEnd = "bank 4711", more = "") =>
  `<TxDtls><Refs><EndToEndId>${endToEnd}</EndToEndId></Refs>${more}
<RmtInf><Ustrd>for </Ustrd><Ustrd>Dora &amp; Co</Ustrd></RmtInf></TxDtls>`;

const euros = (text: string, currency = "EUR") => `<Amt Ccy="${currency}">${text}</Amt>`;
const one = { day: "2026-11-24", reference: "bank 4711", amountCents: 1250 };

journey("entries of camt.053 become cents by reference and day", async (t, browser) => {
  page = await browser.newPage();
  const first = statement(
    entry() +
      entry({ side: "DBIT", amount: euros("0.29"), details: payment("out 1") }) +
      entry({ status: "<Sts>PDNG</Sts>", details: payment("not yet") }),
  );
  const second = statement(
    entry({ amount: euros("999999999999.99"), day: "<DtTm>2026-11-25T08:00:00</DtTm>" }),
  );
  t.deepEqual(await read(wrap(first + second)), {
    entries: [
      one,
      { day: "2026-11-24", reference: "out 1", amountCents: -29 },
      { day: "2026-11-25", reference: "bank 4711", amountCents: 99_999_999_999_999 },
    ],
    issues: [],
  });
  t.deepEqual((await read(wrap(statement(entry())), "text")).entries, [
    { ...one, reference: "for  Dora & Co".replace("  ", " ") },
  ]);
  t.is((await read(wrap(statement(entry())), "bank")).entries[0]?.reference, "bank's own");

  // Version 08: the status is a code of its own, a payment has an amount and a side of its own, and
  // this bank writes a prefix.
  const sts = (code: string) => `<Sts><Cd>${code}</Cd></Sts>`;
  const part = (name: string, amount: string, side: string) =>
    payment(name, `${euros(amount)}<CdtDbtInd>${side}</CdtDbtInd>`);
  const batch = entry({
    ...{ status: sts("BOOK"), amount: euros("10.00") },
    details: part("a", "12.01", "CRDT") + part("b", "2.01", "DBIT"),
  });
  const eight = wrap(statement(batch + entry({ status: sts("PDNG") })), "08")
    .replaceAll(/<(\/?)([A-Z])/g, "<$1n:$2")
    .replace("xmlns=", "xmlns:n=");
  t.deepEqual(await read(eight), {
    entries: [
      { ...one, reference: "a", amountCents: 1201 },
      { ...one, reference: "b", amountCents: -201 },
    ],
    issues: [],
  });
  // Version 02 has the amount of a payment elsewhere, and its side is that of the entry.
  const old = (name: string, amount: string) =>
    payment(name, `<AmtDtls><TxAmt>${euros(amount)}</TxAmt></AmtDtls>`);
  const paid = entry({
    ...{ side: "DBIT", amount: euros("3.00") },
    details: old("a", "1.10") + old("b", "1.90"),
  });
  t.deepEqual(
    (await read(wrap(statement(paid)))).entries.map(({ amountCents }) => amountCents),
    [-110, -190],
  );
});

journey(
  "what is wrong with a file is said, with the statement and the entry",
  async (t, browser) => {
    page = await browser.newPage();
    const wrong: [Entry, RegExp][] = [
      [{ amount: euros("1.00", "USD") }, /is in USD/],
      [{ amount: "" }, /has no amount/],
      [{ amount: euros("1.005") }, /not in cents/],
      [{ amount: euros("1e3") }, /not in cents/],
      [{ amount: euros("-1.00") }, /not in cents/],
      [{ side: "BOTH" }, /whether cash came in/],
      [{ status: "" }, /has no status/],
      [{ day: "" }, /no day of booking/],
      [{ details: payment("NOTPROVIDED") }, /no such reference/],
      [{ details: payment("r".repeat(201)) }, /no such reference/],
      [{ details: "" }, /no such reference/],
      [
        { details: payment("a", euros("12.00")) + payment("b", euros("0.49")) },
        /do not add up to its amount/,
      ],
    ];
    for (const [about, issue] of wrong) {
      const { entries, issues } = await read(
        wrap(statement(entry()) + statement(entry() + entry(about))),
      );
      t.deepEqual(entries.length, 2, String(issue));
      t.is(issues.length, 1);
      t.regex(issues[0]!, /^Statement 2, entry 2 /);
      t.regex(issues[0]!, issue);
    }
  },
);

journey("hostile and other files are refused, and nothing is loaded", async (t, browser) => {
  page = await browser.newPage();
  const asked: string[] = [];
  page.on("request", (request) => asked.push(request.url()));
  const bomb = Array.from({ length: 9 }, (_, n) => `<!ENTITY e${n + 1} "&e${n};&e${n};">`).join("");
  const whole = wrap(statement(entry()));
  const refused: [string, RegExp][] = [
    [whole.replace("<Document", `<!DOCTYPE D [<!ENTITY e0 "x">${bomb}]><Document`), /DOCTYPE/],
    [
      whole.replace("<Document", `<!doctype D SYSTEM "http://127.0.0.1:9/x.dtd"><Document`),
      /DOCTYPE/,
    ],
    [whole.replace("bank 4711", "&nowhere;"), /no XML/],
    [whole.slice(0, -20), /no XML/],
    ["", /no XML/],
    ["<html><script>alert(1)</script></html>", /no camt.053/],
    [whole.replace("camt.053", "camt.052"), /no camt.053/],
    [wrap(""), /no statement/],
  ];
  for (const [file, issue] of refused) {
    const { entries, issues } = await read(file);
    t.deepEqual(entries, []);
    t.is(issues.length, 1);
    t.regex(issues[0]!, issue);
  }
  t.deepEqual(asked, []);

  const formula = await read(whole.replace("bank 4711", "=HYPERLINK(1)"));
  t.is(formula.entries[0]?.reference, "=HYPERLINK(1)");
  const comment = await read(whole.replace("12.50", "12<!-- 0 -->.50"));
  t.is(comment.entries[0]?.amountCents, 1250);
  const many = await read(wrap(statement(entry().repeat(10_000))));
  t.is(many.entries.length, 10_000);
});
