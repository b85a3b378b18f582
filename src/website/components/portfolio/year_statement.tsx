import { timeNow } from "../../api/server_time.ts";
import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { account } from "../../api/account.ts";
import { ownApi } from "../../api/client.ts";
import { ownVersion } from "../../api/own_changes.ts";
import { jsonResultOf, resultOf } from "../../api/result.ts";
import type { Result } from "../../api/result.ts";
import type { StatementEntry, YearStatement } from "../../api/types.ts";
import { formatCents, formatChange, formatDateTime } from "../../format.ts";
import { useAsked } from "../../hooks/use_asked.ts";
import { useCommand } from "../../hooks/use_command.ts";
import { saveFile } from "../../save_file.ts";
import { Change } from "../change.tsx";
import { Choice } from "../choice.tsx";
import { Fact } from "../fact.tsx";
import { HeadedTable } from "../headed_table.tsx";
import { ProblemNotice } from "../notice.tsx";
import { Show } from "../states.tsx";
import { CsvButton } from "./csv_button.tsx";
import { kindWords } from "./words.ts";

/** The cash and the results of a calendar year, as for a tax return. */
export function YearHistory(): JSX.Element {
  const now = new Date(timeNow()).getUTCFullYear();
  const first = new Date(account.value?.createdAt ?? timeNow()).getUTCFullYear();
  const years = Array.from({ length: now - first + 1 }, (_, index) => String(now - index));
  const [year, setYear] = useState(String(now));
  const asked = useAsked(
    () => resultOf(ownApi.GET("/api/account/year-statement", yearParams(year))),
    [year, ownVersion.value],
  );
  return (
    <>
      <Choice
        label="Year"
        value={year}
        options={years.map((value) => ({ value, label: value }))}
        onChange={setYear}
      />
      <Show asked={asked} lines={8}>
        {(statement) => <Year key={statement.year} statement={statement} />}
      </Show>
    </>
  );
}

function Year({ statement }: { statement: YearStatement }): JSX.Element {
  const { year, openingCents, closingCents, feeCents, realisedCents } = statement;
  const [printed, setPrinted] = useState<StatementEntry[]>();
  const command = useCommand();
  useEffect(() => {
    if (printed !== undefined) print();
  }, [printed]);
  const gather = (done: (entries: StatementEntry[]) => void) => (): void => {
    void command.give(() => readEntries(year), done);
  };
  return (
    <div class="section printed">
      <h3>{year}, by UTC days</h3>
      <dl class="facts facts-wide">
        <Fact name="Realised, after fees">
          <Change cents={realisedCents} />
        </Fact>
        <Fact name="Fees of trades">{formatCents(feeCents)}</Fact>
      </dl>
      <Rows
        isOfAmounts
        heads={["Cash", "Amount"]}
        rows={[
          ["At the start", formatCents(openingCents)],
          ...statement.movements.map((row) => [
            `${kindWords(row)} (${row.count})`,
            formatChange(row.amountCents),
          ]),
          ["At the end", formatCents(closingCents)],
        ]}
      />
      <Rows
        isOfAmounts
        heads={["Market", "Fees", "Profit or loss"]}
        rows={statement.markets.map((row) => [
          row.marketTitle,
          formatCents(row.feeCents),
          formatChange(row.realisedCents),
        ])}
      />
      {printed !== undefined && (
        <div class="print-only">
          <Rows
            heads={["Time", "What", "Amount", "Cash after"]}
            rows={printed.map((entry) => [
              formatDateTime(entry.createdAt),
              kindWords(entry),
              formatChange(entry.amountCents),
              formatCents(entry.balanceAfter),
            ])}
          />
        </div>
      )}
      <div class="button-row no-print">
        <button type="button" class="button button-small" onClick={gather(setPrinted)}>
          Print with all movements
        </button>
        <button
          type="button"
          class="button button-small"
          onClick={gather((entries) => {
            const text = JSON.stringify({ ...statement, entries }, null, 2);
            saveFile(new Blob([text], { type: "application/json" }), `statement-${year}.json`);
          })}
        >
          Save as JSON
        </button>
        <CsvButton
          path={`/api/v1/me/statement?from=${startOf(year)}&to=${startOf(year + 1)}`}
          fileName={`statement-${year}.csv`}
        />
      </div>
      <ProblemNotice problem={command.problem} />
    </div>
  );
}

interface RowsProps {
  heads: string[];
  rows: string[][];
  /** All columns but the first. */
  isOfAmounts?: boolean;
}

function Rows({ heads, rows, isOfAmounts = false }: RowsProps): JSX.Element {
  return (
    <div class="table-box" role="region" aria-label={heads[0]} tabIndex={0}>
      <HeadedTable class={isOfAmounts ? "table amounts" : "table"} heads={heads} rows={rows} />
    </div>
  );
}

/** All movements of a year, the oldest first. */
async function readEntries(year: number): Promise<Result<StatementEntry[]>> {
  const entries: StatementEntry[] = [];
  let cursor: string | undefined;
  do {
    const query = { from: startOf(year), to: startOf(year + 1), limit: 200 };
    const params = { params: { query: cursor === undefined ? query : { ...query, cursor } } };
    const page = await jsonResultOf(ownApi.GET("/api/v1/me/statement", params));
    if (!page.ok) return page;
    entries.push(...page.data.data);
    cursor = page.data.nextCursor ?? undefined;
  } while (cursor !== undefined);
  return { ok: true, data: entries.reverse() };
}

function startOf(year: number): string {
  return `${year}-01-01T00:00:00Z`;
}

function yearParams(year: string) {
  return { params: { query: { year: Number(year) } } };
}
