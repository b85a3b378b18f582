import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { Notice } from "../../components/notice.tsx";
import { readBonuses } from "../api/bonus.ts";
import { mayCall } from "../api/session.ts";
import { showCents, showCount } from "../api/values.ts";
import { commands } from "../commands/all.ts";
import { CommandForm } from "./command_form.tsx";
import { LongField } from "./inputs.tsx";

/** Pays a bonus to the users of a pasted list. First it shows what would be paid. */
export function BonusForm(): JSX.Element | null {
  const [text, setText] = useState("");
  const { giveBonus } = commands;
  if (!mayCall(giveBonus.role)) return null;
  const { bonuses, issues } = readBonuses(text);
  const sum = bonuses.reduce((all, { amount_cents: cents }) => all + cents, 0);
  return (
    <details class="panel command">
      <summary>Bonus for many users</summary>
      <div class="page">
        <LongField
          label="Users and amounts as CSV"
          name="bonuses"
          hint="In each line the id of a user and an amount in euros, with a comma between them."
          value={text}
          onValue={setText}
        />
        {issues.length > 0 && (
          <Notice kind="bad">
            <ul>
              {issues.slice(0, 10).map((issue) => (
                <li key={issue}>{issue}</li>
              ))}
            </ul>
          </Notice>
        )}
        {issues.length === 0 && bonuses.length > 0 && (
          <>
            <Notice kind="info">
              {showCount(bonuses.length)} users would get {showCents(sum)} in all. Who has a bonus
              of this name already gets nothing more.
            </Notice>
            <ul class="code">
              {bonuses.map(({ user_id: id, amount_cents: cents }) => (
                <li key={id}>
                  <a href={`/operator/users/${id}`}>{id}</a> {showCents(cents)}
                </li>
              ))}
            </ul>
            <CommandForm key={text} command={giveBonus} given={{ users: bonuses }} isOpen />
          </>
        )}
      </div>
    </details>
  );
}
