import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { ownApi } from "../../api/client.ts";
import { resultOf } from "../../api/result.ts";
import { useAsked } from "../../hooks/use_asked.ts";
import { useCommand } from "../../hooks/use_command.ts";
import { Field, issueOf } from "../field.tsx";
import { ProblemNotice } from "../notice.tsx";
import { Empty, Show } from "../states.tsx";
import { Submit } from "../submit.tsx";
import { NewKey } from "./new_key.tsx";
import { RemovableItem } from "./removable_item.tsx";
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
                <RemovableItem
                  key={key.id}
                  item={key}
                  verb="Revoke"
                  remove={() => revoke(key.id)}
                  onRemoved={keys.askAgain}
                >
                  Programs with this key are refused at once. It cannot be made valid again.
                </RemovableItem>
              ))}
            </ul>
          )
        }
      </Show>
    </Section>
  );
}

const revoke = (id: string) =>
  resultOf(ownApi.DELETE("/api/account/keys/{id}", { params: { path: { id } } }));
