import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { Field } from "../../components/field.tsx";
import { Empty } from "../../components/states.tsx";
import { Submit } from "../../components/submit.tsx";
import { useCommand } from "../../hooks/use_command.ts";
import { ask } from "../api/graphql.ts";
import type { Row } from "../views/query.ts";
import { showCents, showCount } from "../api/values.ts";
import { outcome as outcomeField } from "../commands/parts.ts";
import { cents, count, side, userId } from "../views/parts.ts";
import type { Column } from "../views/view.ts";
import { Fact } from "./facts.tsx";
import { Select } from "./inputs.tsx";
import { StaffProblem } from "./problem.tsx";
import { RowTable } from "./row_table.tsx";

const columns: readonly Column[] = [
  userId,
  side,
  count("quantity", "Shares"),
  cents("payoutCents", "Payout"),
  cents("realisedPnlCents", "Result"),
];

/** What the page asks for a preview. */
export const previewMutation = `mutation Preview($input: PreviewResolutionInput!) {
  answer: previewResolution(input: $input) { result { ${columns.map(({ field }) => field).join(" ")} } }
}`;

/** What an outcome would pay each position. Nothing is changed, but the audit has the question. */
export function PayoutPreview({ marketId }: { marketId: string }): JSX.Element {
  const [outcome, setOutcome] = useState("");
  const [payout, setPayout] = useState("");
  const [rows, setRows] = useState<Row[]>();
  const command = useCommand();
  const preview = (event: Event): void => {
    event.preventDefault();
    const yesPayoutCents = outcome === "custom" ? Number(payout) : null;
    const input = { marketId, outcome, yesPayoutCents };
    setRows(undefined);
    void command.give(
      () => ask<{ answer: { result: Row[] } }>(previewMutation, { input }),
      ({ answer }) => {
        setRows(answer.result);
      },
    );
  };
  return (
    <>
      <form class="filter-form" onSubmit={preview} noValidate>
        <Select
          label="Outcome to look at"
          value={outcome}
          options={outcomeField.options ?? []}
          none="choose"
          onValue={setOutcome}
        />
        {outcome === "custom" && (
          <Field
            {...{ label: "Cents a YES share gets", name: "share", inputMode: "numeric" }}
            value={payout}
            onValue={setPayout}
          />
        )}
        <Submit isBusy={command.isBusy} disabled={outcome === ""}>
          Preview
        </Submit>
      </form>
      <StaffProblem problem={command.problem} />
      {rows !== undefined && <Payouts rows={rows} />}
    </>
  );
}

function sumOf(rows: Row[], field: string): number {
  return rows.reduce((sum, row) => sum + Number(row[field]), 0);
}

function Payouts({ rows }: { rows: Row[] }): JSX.Element {
  if (rows.length === 0) return <Empty title="Nobody holds shares: nothing would be paid." />;
  const users = new Set(rows.map((row) => row.userId)).size;
  return (
    <div class="page" role="status">
      <dl class="facts facts-wide">
        <Fact label="Positions">{showCount(rows.length)}</Fact>
        <Fact label="Users">{showCount(users)}</Fact>
        <Fact label="Paid in all">{showCents(sumOf(rows, "payoutCents"))}</Fact>
      </dl>
      <RowTable label="Payouts" columns={columns} rows={rows} />
    </div>
  );
}
