import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { Notice } from "../../components/notice.tsx";
import { Show } from "../../components/states.tsx";
import { useAsked } from "../../hooks/use_asked.ts";
import { bonusesOf, namesIn, paidBy, readBonuses } from "../api/bonus.ts";
import type { ReadBonuses } from "../api/bonus.ts";
import { askForUserIds } from "../api/queries.ts";
import { mayCall } from "../api/session.ts";
import { showCents } from "../api/values.ts";
import { commands } from "../commands/all.ts";
import { CommandForm } from "./command_form.tsx";
import { Issues } from "./issues.tsx";
import { LongField } from "./inputs.tsx";

/** Pays a bonus to the users of a pasted list. First it shows what would be paid. */
export function BonusForm(): JSX.Element | null {
  const [text, setText] = useState("");
  if (!mayCall(commands.giveBonus.role)) return null;
  return (
    <details class="panel command">
      <summary>Bonus for many users</summary>
      <div class="page">
        <LongField
          label="Users and amounts as CSV"
          name="bonuses"
          hint="In each line the id, the handle or the e-mail of a user, and an amount in euros."
          value={text}
          onValue={setText}
        />
        <Listed key={text} text={text} />
      </div>
    </details>
  );
}

/** What a list would pay, or which lines are wrong. */
function Listed({ text }: { text: string }): JSX.Element | null {
  const read = readBonuses(text);
  const names = namesIn(read);
  const asked = useAsked(() => askForUserIds(names), [text]);
  if (read.issues.length > 0) return <Issues issues={read.issues} />;
  if (read.lines.length === 0) return null;
  return (
    <Show asked={asked} lines={1}>
      {(ids) => <Bonuses lines={read.lines} {...bonusesOf(read.lines, ids)} />}
    </Show>
  );
}

type BonusesProps = Pick<ReadBonuses, "lines"> & ReturnType<typeof bonusesOf>;

function Bonuses({ lines, bonuses, issues }: BonusesProps): JSX.Element {
  if (issues.length > 0) return <Issues issues={issues} />;
  return (
    <>
      <Notice kind="info">
        {paidBy(bonuses)} in all. Who has a bonus of this name already gets nothing more.
      </Notice>
      <ul class="code">
        {bonuses.map(({ user_id: id, amount_cents: cents }, index) => (
          <li key={id}>
            <a href={`/operator/users/${id}`}>{lines[index]?.user ?? id}</a> {showCents(cents)}
          </li>
        ))}
      </ul>
      <CommandForm command={commands.giveBonus} given={{ users: bonuses }} isOpen />
    </>
  );
}
