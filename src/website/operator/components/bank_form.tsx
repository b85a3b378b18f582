import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import { Notice } from "../../components/notice.tsx";
import { mayCall } from "../api/session.ts";
import { showCount } from "../api/values.ts";
import { readCamt } from "../bank/camt.ts";
import { readEntries } from "../bank/csv_entries.ts";
import type { Mapping } from "../bank/csv_entries.ts";
import { readTable } from "../api/csv_table.ts";
import type { CsvTable } from "../api/csv_table.ts";
import { bankOf, daysOf, decodeFile, MOST_BYTES } from "../bank/entry.ts";
import type { ReadBank, ReferenceKind } from "../bank/entry.ts";
import { commands } from "../commands/all.ts";
import { CommandForm } from "./command_form.tsx";
import { Select } from "./inputs.tsx";
import { Issues } from "./issues.tsx";

/** Compares a day with a file of the bank, CSV or CAMT.053. The file stays in the browser. */
export function BankForm(): JSX.Element | null {
  const [file, setFile] = useState<{ name: string; text: string }>();
  const [issue, setIssue] = useState<string>();
  if (!mayCall(commands.reconcile.role)) return null;
  const read = async (input: HTMLInputElement): Promise<void> => {
    const chosen = input.files?.[0];
    setFile(undefined);
    setIssue(undefined);
    if (chosen === undefined) return;
    if (chosen.size > MOST_BYTES) setIssue("The file is larger than 10 MB.");
    else {
      const text = decodeFile(new Uint8Array(await chosen.arrayBuffer()));
      setFile({ name: `${chosen.name} ${chosen.lastModified}`, text });
    }
  };
  return (
    <details class="panel command">
      <summary>Compare a day with a file of the bank</summary>
      <div class="page">
        <div class="field">
          <label>
            File of the bank: CSV, or CAMT.053 as XML
            <input
              type="file"
              accept=".csv,.txt,.xml"
              onChange={(event) => {
                void read(event.currentTarget);
              }}
            />
          </label>
        </div>
        {issue !== undefined && <Notice kind="bad">{issue}</Notice>}
        {file !== undefined && <FileOfBank key={file.name} text={file.text} />}
      </div>
    </details>
  );
}

function FileOfBank({ text }: { text: string }): JSX.Element {
  const isXml = useMemo(() => /^[\ufeff\s]*</.test(text), [text]);
  return isXml ? <Camt text={text} /> : <CsvFile text={text} />;
}

/** What is read, or why it cannot be. */
function attempt<Read>(read: () => Read): Read | string {
  try {
    return read();
  } catch (error) {
    return `This file cannot be read: ${error instanceof Error ? error.message : String(error)}`;
  }
}

function CsvFile({ text }: { text: string }): JSX.Element {
  const table = useMemo(() => attempt(() => readTable(text)), [text]);
  return typeof table === "string" ? <Notice kind="bad">{table}</Notice> : <Csv table={table} />;
}

const references: readonly (readonly [ReferenceKind, string])[] = [
  ["endToEnd", "End-to-end id"],
  ["text", "Text for the recipient"],
  ["bank", "Reference of the bank"],
];

function Camt({ text }: { text: string }): JSX.Element {
  const [kind, setKind] = useState("");
  const read = useMemo(() => {
    const found = references.find(([one]) => one === kind);
    return found && attempt(() => readCamt(text.replace(/^\ufeff/, ""), found[0]));
  }, [text, kind]);
  return (
    <>
      <Select
        {...{ label: "The reference is", value: kind, options: references, none: "choose" }}
        onValue={setKind}
      />
      {read !== undefined && <Found key={kind} read={read} />}
    </>
  );
}

const decimals = [
  [",", "Comma: 1.234,50"],
  [".", "Point: 1,234.50"],
] as const;

function Csv({ table }: { table: CsvTable }): JSX.Element {
  const [chosen, setChosen] = useState<Record<string, string>>({});
  const columns = table.names.map(
    (name, place) => [String(place), name || `${place + 1}`] as const,
  );
  const select = (name: string, label: string, none = "choose", options = columns) => (
    <Select
      {...{ label, none, options, value: chosen[name] ?? "" }}
      onValue={(value) => {
        setChosen({ ...chosen, [name]: value });
      }}
    />
  );
  const read = useMemo(() => {
    const mapping = mappingOf(chosen);
    return mapping && attempt(() => readEntries(table, mapping));
  }, [table, chosen]);
  return (
    <>
      {select("reference", "Column of the reference")}
      {select("date", "Column of the day of booking")}
      {select("amount", "Column of the amount")}
      {select("sign", "Column that says whether cash came in", "none: the amount has a sign")}
      {select("decimal", "Before the cents stands a", "choose", [...decimals])}
      {read !== undefined && <Found key={JSON.stringify(chosen)} read={read} />}
    </>
  );
}

function mappingOf(chosen: Record<string, string>): Mapping | undefined {
  const { reference = "", date = "", amount = "", sign = "", decimal } = chosen;
  if ([reference, date, amount].includes("")) return undefined;
  if (decimal !== "," && decimal !== ".") return undefined;
  return {
    ...{ reference: Number(reference), date: Number(date), amount: Number(amount), decimal },
    sign: sign === "" ? undefined : Number(sign),
  };
}

/** What the file has, day by day. With an issue nothing is compared. */
function Found({ read }: { read: ReadBank | string }): JSX.Element {
  const [day, setDay] = useState("");
  if (typeof read === "string") return <Notice kind="bad">{read}</Notice>;
  const { entries, issues } = read;
  if (issues.length > 0) return <Issues issues={issues} />;
  const days = daysOf(entries).map(([one, count]) => [one, `${one}: ${showCount(count)}`] as const);
  const bank = bankOf(entries, day);
  return (
    <>
      <Select
        {...{ label: "Day, with its entries", value: day, options: days, none: "choose" }}
        onValue={setDay}
      />
      {day !== "" &&
        (bank === undefined ? (
          <Notice kind="bad">The day has too many entries for this page: use SQL.</Notice>
        ) : (
          <CommandForm key={day} command={commands.reconcile} given={{ day, bank }} isOpen />
        ))}
    </>
  );
}
