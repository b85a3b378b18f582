import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { ownApi } from "../../api/client.ts";
import { resultOf } from "../../api/result.ts";
import type { ApiKey } from "../../api/types.ts";
import { formatDate, formatDateTime } from "../../format.ts";
import { useAsked } from "../../hooks/use_asked.ts";
import { useCommand } from "../../hooks/use_command.ts";
import { Field, issueOf } from "../field.tsx";
import { ConfirmDialog } from "../confirm_dialog.tsx";
import { ProblemNotice } from "../notice.tsx";
import { Empty, Show } from "../states.tsx";
import { Submit } from "../submit.tsx";
import { NewKey } from "./new_key.tsx";
import { Section } from "./section.tsx";

/** Keys for programs that trade for the user. */
export function KeysSection(): JSX.Element {
  const keys = useAsked(() => resultOf(ownApi.GET("/api/account/keys")), []);
  const [name, setName] = useState("");
  const [made, setMade] = useState<{ name: string; key: string }>();
  const command = useCommand();
  const submit = (event: Event): void => {
    event.preventDefault();
    setMade(undefined);
    void command.give(
      () => resultOf(ownApi.POST("/api/account/keys", { body: { name } })),
      (key) => {
        setMade(key);
        setName("");
        keys.askAgain();
      },
    );
  };
  return (
    <Section id="keys" title="API keys">
      <p class="muted">
        A program with a key trades as you. Give each program a key of its own, and revoke it when
        it is not needed any more. See the <a href="/docs">API documentation</a>.
      </p>
      {made !== undefined && (
        <NewKey
          made={made}
          onDone={() => {
            setMade(undefined);
          }}
        />
      )}
      <form onSubmit={submit} noValidate class="line-form">
        <Field
          label="Name of the new key"
          name="keyName"
          value={name}
          error={issueOf(command.problem, "name")}
          onValue={setName}
        />
        <Submit isBusy={command.isBusy}>Create key</Submit>
      </form>
      <ProblemNotice problem={command.problem} />
      <Show asked={keys}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty title="No keys yet" />
          ) : (
            <ul class="item-list">
              {data.map((key) => (
                <KeyItem key={key.id} apiKey={key} onRevoked={keys.askAgain} />
              ))}
            </ul>
          )
        }
      </Show>
    </Section>
  );
}

interface KeyItemProps {
  apiKey: ApiKey;
  onRevoked: () => void;
}

function KeyItem({
  apiKey: { id, name, createdAt, lastUsedAt },
  onRevoked,
}: KeyItemProps): JSX.Element {
  const command = useCommand();
  const [isAsking, setAsking] = useState(false);
  const params = { path: { id } };
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
        aria-label={`Revoke ${name}`}
        onClick={() => {
          command.reset();
          setAsking(true);
        }}
      >
        Revoke
      </button>
      {isAsking && (
        <ConfirmDialog
          title={`Revoke “${name}”?`}
          action="Revoke for good"
          command={command}
          onConfirm={() =>
            void command.give(
              () => resultOf(ownApi.DELETE("/api/account/keys/{id}", { params })),
              onRevoked,
            )
          }
          onClose={() => {
            setAsking(false);
          }}
        >
          Programs with this key are refused at once. It cannot be made valid again.
        </ConfirmDialog>
      )}
    </li>
  );
}
