import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { ownApi } from "../../api/client.ts";
import { canUsePasskeys } from "../../api/browser_passkeys.ts";
import { addPasskey } from "../../api/passkeys.ts";
import { resultOf } from "../../api/result.ts";
import { useAsked } from "../../hooks/use_asked.ts";
import { useCommand } from "../../hooks/use_command.ts";
import { Field, issueOf, problemBeside } from "../field.tsx";
import { Notice, ProblemNotice } from "../notice.tsx";
import { Empty, Show } from "../states.tsx";
import { Submit } from "../submit.tsx";
import { browserWords } from "./browser_words.ts";
import { RemovableItem } from "./removable_item.tsx";
import { Section } from "./section.tsx";

/** Devices that sign the user in without a password. */
export function PasskeysSection(): JSX.Element {
  const passkeys = useAsked(() => resultOf(ownApi.GET("/api/account/passkeys")), []);
  return (
    <Section id="passkeys" title="Passkeys">
      <p class="muted">
        A passkey signs you in by the fingerprint, face or PIN that unlocks your device. Passkeys
        stay when you change your password here. A new password by the link of a mail ends them,
        unless you choose to keep them there. Remove those that you do not know.
      </p>
      {canUsePasskeys() ? (
        <NewPasskeyForm onAdded={passkeys.askAgain} />
      ) : (
        <p class="muted">
          This browser cannot make passkeys at this address. It must be https with a name, or
          localhost.
        </p>
      )}
      <Show asked={passkeys}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty title="No passkeys yet" />
          ) : (
            <ul class="item-list">
              {data.map((passkey) => (
                <RemovableItem
                  key={passkey.id}
                  item={passkey}
                  verb="Remove"
                  remove={() => remove(passkey.id)}
                  onRemoved={passkeys.askAgain}
                >
                  This passkey does not sign in any more. The device may still offer it.
                </RemovableItem>
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
      <ProblemNotice problem={problemBeside(command.problem, ["name"])} />
      {command.isDone && (
        <Notice kind="good">The passkey is added. You can sign in with it.</Notice>
      )}
    </>
  );
}

const remove = (id: string) =>
  resultOf(ownApi.DELETE("/api/account/passkeys/{id}", { params: { path: { id } } }));
