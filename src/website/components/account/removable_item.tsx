import type { ComponentChildren, JSX } from "preact";
import { useId, useState } from "preact/hooks";
import type { Result } from "../../api/result.ts";
import { formatDateTime } from "../../format.ts";
import { useCommand } from "../../hooks/use_command.ts";
import { ConfirmDialog } from "../confirm_dialog.tsx";

interface RemovableItemProps {
  item: {
    name: string;
    createdAt: string;
    lastUsedAt: string | null;
    lastUsedAddress?: string | null;
  };
  /** What the button says, such as "Revoke". */
  verb: string;
  remove: () => Promise<Result<unknown>>;
  onRemoved: () => void;
  /** What else there is to know of it. */
  facts?: string;
  /** Another button before that of the removal. */
  action?: ComponentChildren;
  /** What the removal does, for the question before it. */
  children: ComponentChildren;
}

/** A key or a passkey in a list, with a button that asks once more before it is removed. */
export function RemovableItem(props: RemovableItemProps): JSX.Element {
  const { item, verb, remove, onRemoved, facts, action, children } = props;
  const { name } = item;
  const factsId = useId();
  const about = (
    <>
      {facts !== undefined && <p class="hint">{facts}</p>}
      <p class="hint">
        Made {formatDateTime(item.createdAt)} · {lastUse(item)}
      </p>
    </>
  );
  const [isAsking, setAsking] = useState(false);
  const command = useCommand();
  return (
    <li class="item">
      <div>
        <p class="item-name">{name}</p>
        <div id={factsId}>{about}</div>
      </div>
      <div class="button-row">
        {action}
        <button
          type="button"
          class="button button-small"
          aria-label={`${verb} ${name}`}
          aria-describedby={factsId}
          onClick={() => {
            command.reset();
            setAsking(true);
          }}
        >
          {verb}
        </button>
      </div>
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
          {about}
          <p>{children}</p>
        </ConfirmDialog>
      )}
    </li>
  );
}

function lastUse({ lastUsedAt, lastUsedAddress = null }: RemovableItemProps["item"]): string {
  if (lastUsedAt === null) return "never used";
  const where = lastUsedAddress === null ? "" : ` from ${lastUsedAddress}`;
  return `last used ${formatDateTime(lastUsedAt)}${where}`;
}
