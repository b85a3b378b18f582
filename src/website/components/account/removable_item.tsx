import type { ComponentChildren, JSX } from "preact";
import { useState } from "preact/hooks";
import type { Result } from "../../api/result.ts";
import { formatDate, formatDateTime } from "../../format.ts";
import { useCommand } from "../../hooks/use_command.ts";
import { ConfirmDialog } from "../confirm_dialog.tsx";

interface RemovableItemProps {
  item: { name: string; createdAt: string; lastUsedAt: string | null };
  /** What the button says, such as "Revoke". */
  verb: string;
  remove: () => Promise<Result<unknown>>;
  onRemoved: () => void;
  /** What the removal does, for the question before it. */
  children: ComponentChildren;
}

/** A key or a passkey in a list, with a button that asks once more before it is removed. */
export function RemovableItem({
  item: { name, createdAt, lastUsedAt },
  verb,
  remove,
  onRemoved,
  children,
}: RemovableItemProps): JSX.Element {
  const [isAsking, setAsking] = useState(false);
  const command = useCommand();
  return (
    <li class="item">
      <div>
        <p class="item-name">{name}</p>
        <p class="hint">
          Made {formatDate(createdAt)} ·{" "}
          {lastUsedAt === null ? "never used" : `last used ${formatDateTime(lastUsedAt)}`}
        </p>
      </div>
      <button
        type="button"
        class="button button-small"
        aria-label={`${verb} ${name}`}
        onClick={() => {
          command.reset();
          setAsking(true);
        }}
      >
        {verb}
      </button>
      {isAsking && (
        <ConfirmDialog
          title={`${verb} “${name}”?`}
          action={`${verb} for good`}
          command={command}
          onConfirm={() => void command.give(remove, onRemoved)}
          onClose={() => {
            setAsking(false);
          }}
        >
          {children}
        </ConfirmDialog>
      )}
    </li>
  );
}
