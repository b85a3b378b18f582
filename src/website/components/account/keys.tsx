import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { ownApi } from "../../api/client.ts";
import { resultOf } from "../../api/result.ts";
import type { MadeKey } from "../../api/types.ts";
import { useAsked } from "../../hooks/use_asked.ts";
import { useCommand } from "../../hooks/use_command.ts";
import { ConfirmDialog } from "../confirm_dialog.tsx";
import { Empty, Show } from "../states.tsx";
import { KeyForm } from "./key_form.tsx";
import { KeyItem } from "./key_item.tsx";
import { NewKey } from "./new_key.tsx";
import { Section } from "./section.tsx";

/** Keys for programs that trade for the user. */
export function KeysSection(): JSX.Element {
  const keys = useAsked(() => resultOf(ownApi.GET("/api/account/keys")), []);
  const [made, setMade] = useState<MadeKey>();
  const showNew = (key: MadeKey): void => {
    setMade(key);
    keys.askAgain();
  };
  const hideNew = (): void => {
    setMade(undefined);
    keys.askAgain();
  };
  return (
    <Section id="keys" title="API keys">
      <p class="muted">
        A program with a key acts as you. Give each program a key of its own that can do no more
        than the program needs, and revoke it when it is not needed any more. See the{" "}
        <a href="/docs">API documentation</a>.
      </p>
      {made !== undefined && (
        <NewKey
          key={made.id}
          made={made}
          onDone={() => {
            setMade(undefined);
          }}
        />
      )}
      <KeyForm onMade={showNew} onFailed={keys.askAgain} />
      <Show asked={keys}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty title="No keys yet" />
          ) : (
            <>
              <ul class="item-list">
                {data.map((key) => (
                  <KeyItem
                    key={key.id}
                    apiKey={key}
                    onRotated={showNew}
                    onRevoked={key.id === made?.id ? hideNew : keys.askAgain}
                  />
                ))}
              </ul>
              <RevokeAll onRevoked={hideNew} />
            </>
          )
        }
      </Show>
    </Section>
  );
}

function RevokeAll({ onRevoked }: { onRevoked: () => void }): JSX.Element {
  const [isAsking, setAsking] = useState(false);
  const command = useCommand();
  return (
    <div class="button-row">
      <button
        type="button"
        class="button button-quiet"
        onClick={() => {
          command.reset();
          setAsking(true);
        }}
      >
        Revoke all keys
      </button>
      {isAsking && (
        <ConfirmDialog
          title="Revoke all keys?"
          action="Revoke all for good"
          command={command}
          onConfirm={() =>
            void command.give(() => resultOf(ownApi.DELETE("/api/account/keys")), onRevoked)
          }
          onClose={() => {
            setAsking(false);
          }}
        >
          Programs with any of your keys are refused at once. No key can be made valid again. Open
          orders stay.
        </ConfirmDialog>
      )}
    </div>
  );
}
