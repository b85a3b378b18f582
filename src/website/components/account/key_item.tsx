import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { ownApi } from "../../api/client.ts";
import { resultOf } from "../../api/result.ts";
import type { ApiKey, MadeKey } from "../../api/types.ts";
import { formatDateTime } from "../../format.ts";
import { useCommand } from "../../hooks/use_command.ts";
import { Choice } from "../choice.tsx";
import { ConfirmDialog } from "../confirm_dialog.tsx";
import { RemovableItem } from "./removable_item.tsx";

const overlaps = [
  { value: "0", label: "Not at all" },
  { value: "3600", label: "1 hour" },
  { value: "86400", label: "1 day" },
  { value: "604800", label: "7 days" },
] as const;

type Overlap = (typeof overlaps)[number]["value"];

interface KeyItemProps {
  apiKey: ApiKey;
  onRotated: (key: MadeKey) => void;
  onRevoked: () => void;
}

/** A key in the list, with its powers, and buttons to rotate and to revoke it. */
export function KeyItem({ apiKey, onRotated, onRevoked }: KeyItemProps): JSX.Element {
  const { id, replacedBy } = apiKey;
  return (
    <RemovableItem
      item={apiKey}
      verb="Revoke"
      remove={() => resultOf(ownApi.DELETE("/api/account/keys/{id}", { params: { path: { id } } }))}
      onRemoved={onRevoked}
      facts={powersOf(apiKey)}
      action={replacedBy === null && <Rotate apiKey={apiKey} onRotated={onRotated} />}
    >
      Programs with this key are refused at once. It cannot be made valid again.
    </RemovableItem>
  );
}

type RotateProps = Pick<KeyItemProps, "apiKey" | "onRotated">;

function Rotate({ apiKey: { id, name, createdAt }, onRotated }: RotateProps): JSX.Element {
  const [isAsking, setAsking] = useState(false);
  const [overlap, setOverlap] = useState<Overlap>("86400");
  const command = useCommand();
  const rotate = () =>
    resultOf(
      ownApi.POST("/api/account/keys/{id}/rotate", {
        params: { path: { id } },
        body: { overlapSeconds: Number(overlap) },
      }),
    );
  return (
    <>
      <button
        type="button"
        class="button button-small"
        aria-label={`Rotate ${name}`}
        onClick={() => {
          command.reset();
          setAsking(true);
        }}
      >
        Rotate
      </button>
      {isAsking && (
        <ConfirmDialog
          title={`Rotate “${name}”?`}
          action="Make the new key"
          command={command}
          onConfirm={() =>
            void command.give(rotate, (key) => {
              setAsking(false);
              onRotated(key);
            })
          }
          onClose={() => {
            setAsking(false);
          }}
        >
          <p class="hint">Made {formatDateTime(createdAt)}</p>
          <p>
            A new key takes the place of this one, with the same powers. For how long does this one
            stay valid beside it?
          </p>
          <Choice
            label="This one stays valid for"
            value={overlap}
            options={overlaps}
            onChange={setOverlap}
          />
        </ConfirmDialog>
      )}
    </>
  );
}

/** What a key may do, from where, and until when. */
function powersOf({ scopes, allowedAddresses, expiresAt, replacedBy }: ApiKey): string {
  const may =
    scopes.length === 2
      ? "May read and trade"
      : `May only ${scopes[0] === "read" ? "read" : "trade"}`;
  const where =
    allowedAddresses === null ? "from everywhere" : `from ${allowedAddresses.join(", ")}`;
  const until = expiresAt === null ? "until revoked" : `until ${formatDateTime(expiresAt)}`;
  const rotated = replacedBy === null ? "" : " · rotated: the old key";
  return `${may} · ${where} · ${until}${rotated}`;
}
