import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { mergeSets } from "../../api/positions.ts";
import { formatCents, formatCount } from "../../format.ts";
import { useCommand } from "../../hooks/use_command.ts";
import { ConfirmDialog } from "../confirm_dialog.tsx";
import { Notice } from "../notice.tsx";
import type { CompleteSets } from "./complete_sets.ts";

/** Says that YES and NO shares of a market can be cash now, and does it when asked. */
export function MergeHint({ sets }: { sets: CompleteSets }): JSX.Element {
  const { marketTitle, quantity } = sets;
  const [asked, setAsked] = useState<AskedSets>();
  return (
    <Notice kind="info">
      <p>
        <strong>{marketTitle}</strong>: you hold {pairsOf(quantity)}. Together they pay{" "}
        {cashOf(quantity)} whatever the outcome is, and you can have that now, without a fee.
      </p>
      <button
        type="button"
        class="button button-small"
        aria-label={`Merge into cash: ${marketTitle}`}
        onClick={() => {
          setAsked({ ...sets, idempotencyKey: crypto.randomUUID() });
        }}
      >
        Merge into cash
      </button>
      {asked !== undefined && (
        <MergeDialog
          sets={asked}
          onClose={() => {
            setAsked(undefined);
          }}
        />
      )}
    </Notice>
  );
}

/** What was asked about: it stays as it is when the shares change, so that its key stands for it. */
interface AskedSets extends CompleteSets {
  idempotencyKey: string;
}

function MergeDialog({ sets, onClose }: { sets: AskedSets; onClose: () => void }): JSX.Element {
  const { marketId, marketTitle, quantity, idempotencyKey } = sets;
  const command = useCommand();
  return (
    <ConfirmDialog
      title={`Merge into ${cashOf(quantity)}?`}
      action="Merge into cash"
      command={command}
      onConfirm={() =>
        void command.give(() => mergeSets({ marketId, quantity }, idempotencyKey), onClose)
      }
      onClose={onClose}
    >
      {pairsOf(quantity)} of “{marketTitle}” become {cashOf(quantity)} of cash. To have such shares
      again, you would have to buy them.
    </ConfirmDialog>
  );
}

const pairsOf = (quantity: number): string =>
  `${formatCount(quantity)} YES and ${formatCount(quantity)} NO`;

/** A set pays 100 cents. */
const cashOf = (quantity: number): string => formatCents(quantity * 100);
