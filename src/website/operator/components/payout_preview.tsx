import { Fragment } from "preact";
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { Fact } from "../../components/fact.tsx";
import { Field } from "../../components/field.tsx";
import { Empty } from "../../components/states.tsx";
import { Submit } from "../../components/submit.tsx";
import type { Result } from "../../api/result.ts";
import { parseCount } from "../../format.ts";
import { useAsked } from "../../hooks/use_asked.ts";
import { useCommand } from "../../hooks/use_command.ts";
import { ask } from "../api/graphql.ts";
import { textIn } from "../views/query.ts";
import type { Row } from "../views/query.ts";
import { showCents, showCount } from "../api/values.ts";
import type { Arguments } from "../commands/command.ts";
import { mutationOf } from "../commands/mutation.ts";
import { outcome as outcomeField, payout as payoutField } from "../commands/parts.ts";
import { cents, count, side, userId } from "../views/parts.ts";
import type { Column } from "../views/view.ts";
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

const previewing = mutationOf({ name: "preview_resolution", returns: "rows", columns });

/** What each position of a market would be paid. */
interface Preview {
  title: string;
  rows: Row[];
}

interface PreviewProps {
  market: Row;
  /** The market that would lose its YES to this one. */
  winner: Row | undefined;
}

async function askForPreviews(
  markets: { market: Row; outcome: string; yesPayoutCents: number | null }[],
): Promise<Result<Preview[]>> {
  const previews: Preview[] = [];
  for (const { market, outcome, yesPayoutCents } of markets) {
    const input = { marketId: market.marketId, outcome, yesPayoutCents };
    const asked = await ask<{ answer: { result: Row[] } }>(previewing, { input });
    if (!asked.ok) return asked;
    const title = `${textIn(market, "title")}: ${outcome.toUpperCase()}`;
    previews.push({ title, rows: asked.data.answer.result });
  }
  return { ok: true, data: previews };
}

/**
 * What an outcome would pay each position, also those of the market that would lose its YES. Nothing
 * is changed, but the audit has the question.
 */
export function PayoutPreview({ market, winner }: PreviewProps): JSX.Element {
  const [outcome, setOutcome] = useState("");
  const [payout, setPayout] = useState("");
  const [previews, setPreviews] = useState<Preview[]>();
  const command = useCommand();
  const isCustom = outcome === "custom";
  const yesPayoutCents = isCustom ? (parseCount(payout) ?? null) : null;
  const preview = (event: Event): void => {
    event.preventDefault();
    const asked = [{ market, outcome, yesPayoutCents }];
    if (winner !== undefined && outcome === "yes") {
      asked.push({ market: winner, outcome: "no", yesPayoutCents: null });
    }
    setPreviews(undefined);
    void command.give(() => askForPreviews(asked), setPreviews);
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
        {isCustom && (
          <Field
            {...{ label: payoutField.label, name: "share", inputMode: "numeric" }}
            value={payout}
            onValue={setPayout}
          />
        )}
        <Submit
          isBusy={command.isBusy}
          disabled={outcome === "" || (isCustom && yesPayoutCents === null)}
        >
          Preview
        </Submit>
      </form>
      <StaffProblem problem={command.problem} />
      {previews?.map(({ title, rows }) => (
        <Fragment key={title}>
          {previews.length > 1 && <h3>{title}</h3>}
          <Payouts rows={rows} />
        </Fragment>
      ))}
    </>
  );
}

/** In a question: what an outcome would pay the shares of a market. */
export function PaidInAll({ given }: { given: Arguments }): JSX.Element {
  const { marketId, outcome, yesPayoutCents = null } = given;
  const asked = useAsked(
    () =>
      ask<{ answer: { result: Row[] } }>(previewing, {
        input: { marketId, outcome, yesPayoutCents },
      }),
    [],
  );
  const rows = asked.data?.answer.result;
  if (rows === undefined) {
    if (asked.problem !== undefined) return <StaffProblem problem={asked.problem} />;
    return <p class="muted">Working out what is paid…</p>;
  }
  if (rows.length === 0) return <p>Nobody holds shares: nothing is paid.</p>;
  const paid = rows.filter(({ payoutCents }) => Number(payoutCents) > 0);
  const users = new Set(paid.map((row) => row.userId)).size;
  return (
    <p>
      {showCents(sumOf(rows, "payoutCents"))} is paid for this market, to {showCount(paid.length)}{" "}
      {paid.length === 1 ? "position" : "positions"} of {showCount(users)}{" "}
      {users === 1 ? "user" : "users"}.
    </p>
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
        <Fact name="Positions">{showCount(rows.length)}</Fact>
        <Fact name="Users">{showCount(users)}</Fact>
        <Fact name="Paid in all">{showCents(sumOf(rows, "payoutCents"))}</Fact>
      </dl>
      <RowTable label="Payouts" columns={columns} rows={rows} />
    </div>
  );
}
