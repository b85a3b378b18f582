import type { BankEntry, ReadBank, ReferenceKind } from "./entry.ts";

/**
 * Statements of a bank in ISO 20022 (camt.053), versions 02 to 13. Only entries that are booked
 * count. The parser of the browser loads nothing, and a file with a DOCTYPE is not parsed at all.
 */

const camt053 = /^urn:iso:std:iso:20022:tech:xsd:camt\.053\.001\.(?:0[2-9]|1[0-3])$/;
const failed = (issue: string): ReadBank => ({ entries: [], issues: [issue] });

/** Reads all statements of a file. */
export function readCamt(text: string, kind: ReferenceKind): ReadBank {
  if (/<!\s*(?:DOCTYPE|ENTITY)/i.test(text)) return failed("A file with a DOCTYPE is not read.");
  const document = new DOMParser().parseFromString(text.trimStart(), "application/xml");
  if (document.getElementsByTagName("parsererror").length > 0) return failed("This is no XML.");
  const root = document.documentElement;
  if (!camt053.test(root.namespaceURI ?? "")) {
    return failed("This is no camt.053 statement of version 02 to 13.");
  }
  const statements = all(root, "BkToCstmrStmt", "Stmt");
  if (statements.length === 0) return failed("The file has no statement.");
  const entries: BankEntry[] = [];
  const issues: string[] = [];
  statements.forEach((statement, index) => {
    all(statement, "Ntry").forEach((entry, place) => {
      const read = entriesOf(entry, kind);
      if (typeof read === "string") {
        issues.push(`Statement ${index + 1}, entry ${place + 1} ${read}.`);
      } else entries.push(...read);
    });
  });
  return { entries, issues };
}

/** None of an entry that is not booked; several of one that stands for several payments. */
function entriesOf(entry: Element, kind: ReferenceKind): BankEntry[] | string {
  // A code of its own since version 04.
  const status = textAt(entry, "Sts", "Cd") ?? textAt(entry, "Sts");
  if (status === undefined) return "has no status";
  if (status !== "BOOK") return [];
  const cents = signedCents(entry, ["Amt"]);
  if (typeof cents === "string") return cents;
  const day = (textAt(entry, "BookgDt", "Dt") ?? textAt(entry, "BookgDt", "DtTm"))?.slice(0, 10);
  if (day === undefined || !/^\d{4}-\d\d-\d\d$/.test(day)) return "has no day of booking";

  const payments = all(entry, "NtryDtls", "TxDtls");
  if (kind === "bank" || payments.length < 2) {
    const reference = referenceOf(entry, payments[0], kind);
    return reference === undefined
      ? "has no such reference of 1 to 200 characters"
      : [{ day, reference, amountCents: cents }];
  }
  const read: BankEntry[] = [];
  for (const payment of payments) {
    const one = signedCents(payment, ["Amt"], ["AmtDtls", "TxAmt", "Amt"], cents < 0);
    const reference = referenceOf(entry, payment, kind);
    if (typeof one === "string") return `has a payment that ${one}`;
    if (reference === undefined) return "has a payment without such a reference";
    read.push({ day, reference, amountCents: one });
  }
  const sum = read.reduce((total, { amountCents }) => total + amountCents, 0);
  return sum === cents ? read : "has payments that do not add up to its amount";
}

/** Cents, below zero for what went out; or what is wrong. */
function signedCents(
  of: Element,
  path: readonly string[],
  otherPath: readonly string[] = path,
  isOut?: boolean,
): number | string {
  const [amount] = [...all(of, ...path), ...all(of, ...otherPath)];
  const currency = amount?.getAttribute("Ccy");
  if (currency !== "EUR") return currency ? `is in ${currency.slice(0, 3)}` : "has no amount";
  const [, whole, fraction = ""] =
    /^(\d{1,12})(?:\.(\d{1,2})0{0,3})?$/.exec(amount?.textContent.trim() ?? "") ?? [];
  if (whole === undefined) return "has an amount that is not in cents";
  const cents = Number(`${whole}${fraction.padEnd(2, "0")}`);
  const side = textAt(of, "CdtDbtInd");
  if (side === "CRDT" || (side === undefined && isOut === false)) return cents;
  if (side === "DBIT" || (side === undefined && isOut === true)) return 0 - cents;
  return "does not say whether cash came in";
}

function referenceOf(
  entry: Element,
  payment: Element | undefined,
  kind: ReferenceKind,
): string | undefined {
  const found =
    kind === "bank"
      ? textAt(entry, "AcctSvcrRef")
      : payment &&
        (kind === "endToEnd"
          ? textAt(payment, "Refs", "EndToEndId")
          : all(payment, "RmtInf", "Ustrd")
              .map(({ textContent }) => textContent.trim())
              .join(" "));
  const isGiven = found !== undefined && found !== "" && found !== "NOTPROVIDED";
  return isGiven && found.length <= 200 ? found : undefined;
}

/** The elements at the end of a path of children, whatever their prefix. */
function all(from: Element, ...path: readonly string[]): Element[] {
  return path.reduce<Element[]>(
    (at, name) =>
      at.flatMap((one) => [...one.children].filter(({ localName }) => localName === name)),
    [from],
  );
}

function textAt(from: Element, ...path: readonly string[]): string | undefined {
  return all(from, ...path)[0]?.textContent.trim();
}
