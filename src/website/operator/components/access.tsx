import type { JSX } from "preact";
import { Empty } from "../../components/states.tsx";
import { useCommand } from "../../hooks/use_command.ts";
import { useState } from "preact/hooks";
import { ask } from "../api/graphql.ts";
import { mutationOf } from "../commands/mutation.ts";
import type { Row } from "../views/query.ts";
import { text, time } from "../views/parts.ts";
import type { Column } from "../views/view.ts";
import { StaffProblem } from "./problem.tsx";
import { RowTable } from "./row_table.tsx";

const columns: readonly Column[] = [
  text("kind", "Kind"),
  text("name", "Name"),
  time("createdAt", "Since"),
  time("lastUsedAt", "Last used"),
  text("lastAddress", "From"),
  time("expiresAt", "Until"),
  { field: "id", label: "Id", kind: "id" },
];

const asking = mutationOf({ name: "user_access", returns: "rows", columns });

/** Sessions, keys and passkeys of a user. The audit has the question. */
export function Access({ userId }: { userId: string }): JSX.Element {
  const command = useCommand();
  const [rows, setRows] = useState<Row[]>();
  const show = (): void => {
    void command.give(
      () => ask<{ answer: { result: Row[] } }>(asking, { input: { userId } }),
      ({ answer }) => {
        setRows(answer.result);
      },
    );
  };
  return (
    <>
      <button type="button" class="button" aria-disabled={command.isBusy} onClick={show}>
        Show what opens this account now
      </button>
      <StaffProblem problem={command.problem} />
      {rows?.length === 0 && <Empty title="Nothing opens this account." />}
      {rows !== undefined && rows.length > 0 && (
        <RowTable label="Access: rows" columns={columns} rows={rows} />
      )}
    </>
  );
}
