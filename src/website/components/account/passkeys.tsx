import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { ownApi } from "../../api/client.ts";
import { addPasskey, canUsePasskeys } from "../../api/passkeys.ts";
import { resultOf } from "../../api/result.ts";
import type { Passkey } from "../../api/types.ts";
import { formatDate, formatDateTime } from "../../format.ts";
import { useAsked } from "../../hooks/use_asked.ts";
import { useCommand } from "../../hooks/use_command.ts";
import { Field, issueOf } from "../field.tsx";
import { Notice, ProblemNotice } from "../notice.tsx";
import { Empty, Show } from "../states.tsx";
import { Submit } from "../submit.tsx";
import { browserWords } from "./browser_words.ts";
import { Removal } from "./removal.tsx";
import { Section } from "./section.tsx";

/** Devices that sign the user in without a password. */
export function PasskeysSection(): JSX.Element {
  const passkeys = useAsked(() => resultOf(ownApi.GET("/api/account/passkeys")), []);
  return (
    <Section id="passkeys" title="Passkeys">
      <p class="muted">
        A passkey signs you in by the fingerprint, face or PIN that unlocks your device. Passkeys
        stay when you set a new password: remove those that you do not know.
      </p>
      {canUsePasskeys() ? (
        <NewPasskeyForm onAdded={passkeys.askAgain} />
      ) : (
        <p class="muted">This browser cannot make passkeys at this address.</p>
      )}
      <Show asked={passkeys}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty title="No passkeys yet" />
          ) : (
            <ul class="item-list">
              {data.map((passkey) => (
                <PasskeyItem key={passkey.id} passkey={passkey} onRemoved={passkeys.askAgain} />
              ))}
            </ul>
          )
        }
      </Show>
    </Section>
  );
}

function NewPasskeyForm({ onAdded }: { onAdded: () => void }): JSX.Element {
  const [name, setName] = useState(() => browserWords(navigator.userAgent));
  const command = useCommand();
  const submit = (event: Event): void => {
    event.preventDefault();
    void command.give(() => addPasskey(name), onAdded);
  };
  return (
    <>
      <form onSubmit={submit} noValidate class="line-form">
        <Field
          label="Name of the new passkey"
          name="passkeyName"
          value={name}
          error={issueOf(command.problem, "name")}
          onValue={setName}
        />
        <Submit isBusy={command.isBusy}>Add a passkey</Submit>
      </form>
      <ProblemNotice problem={command.problem} />
      {command.isDone && (
        <Notice kind="good">The passkey is added. You can sign in with it.</Notice>
      )}
    </>
  );
}

interface PasskeyItemProps {
  passkey: Passkey;
  onRemoved: () => void;
}

function PasskeyItem({
  passkey: { id, name, createdAt, lastUsedAt },
  onRemoved,
}: PasskeyItemProps): JSX.Element {
  const command = useCommand();
  const params = { path: { id } };
  return (
    <li class="item">
      <div>
        <p class="item-name">{name}</p>
        <p class="hint">
          Added {formatDate(createdAt)} ·{" "}
          {lastUsedAt === null ? "never used" : `last used ${formatDateTime(lastUsedAt)}`}
        </p>
        <ProblemNotice problem={command.problem} />
      </div>
      <Removal
        name={name}
        verb="Remove"
        isBusy={command.isBusy}
        onSure={() =>
          void command.give(
            () => resultOf(ownApi.DELETE("/api/account/passkeys/{id}", { params })),
            onRemoved,
          )
        }
      />
    </li>
  );
}
