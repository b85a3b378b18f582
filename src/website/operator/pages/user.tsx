import type { JSX } from "preact";
import { useAsked } from "../../hooks/use_asked.ts";
import { changes } from "../api/graphql.ts";
import { askForRow } from "../api/queries.ts";
import { textIn } from "../views/query.ts";
import type { Row } from "../views/query.ts";
import { eurosOf, fieldTimeOf } from "../api/values.ts";
import { commands } from "../commands/all.ts";
import { Access } from "../components/access.tsx";
import { CommandForm } from "../components/command_form.tsx";
import { Counted } from "../components/counted.tsx";
import { Facts } from "../components/facts.tsx";
import { Section, StaffPageBody } from "../components/page.tsx";
import { Parts } from "../components/parts_of.tsx";
import { ShowFound } from "../components/show_found.tsx";
import { views } from "../views/all.ts";
import { notOver } from "../views/parts.ts";
import { userDetails } from "../views/user_details.ts";

/** Everything about a user, and what can be done. */
export function UserPage({ id }: { id: string }): JSX.Element {
  const asked = useAsked(
    () => askForRow(userDetails, { userId: { equalTo: id } }),
    [id, changes.value],
  );
  return (
    <ShowFound asked={asked} kind="User">
      {(user) => <User id={id} user={user} />}
    </ShowFound>
  );
}

function User({ id, user }: { id: string; user: Row }): JSX.Element {
  const ofUser = { userId: { equalTo: id } };
  const ofTrader = { or: [{ takerUserId: { equalTo: id } }, { makerUserId: { equalTo: id } }] };
  const parts = [
    { name: "cash", label: "Cash movements", view: views.cashMovements },
    { name: "notes", label: "Notes", view: views.notes },
    { name: "positions", label: "Positions", view: views.positions },
    { name: "orders", label: "Orders", view: views.orders },
    { name: "trades", label: "Trades", view: views.trades, where: ofTrader },
    { name: "ledger", label: "Ledger", view: views.journals },
    { name: "disputes", label: "Disputes", view: views.disputes },
    { name: "settlements", label: "Settlements", view: views.settlements },
    { name: "conversions", label: "Splits, merges, conversions", view: views.conversions },
    { name: "keys", label: "API keys", view: views.apiKeys },
    { name: "mails", label: "Mails", view: views.mails },
    { name: "owed", label: "Receivables", view: views.receivables },
    { name: "unconfirmed", label: "Unconfirmed addresses", view: views.unconfirmed },
    { name: "audit", label: "Audit", view: views.auditEntries },
  ].map((part) => ({ where: ofUser, without: ["userId"], ...part }));
  return (
    <StaffPageBody title={textIn(user, "displayName")}>
      <Section title="User">
        <Facts columns={userDetails.columns} row={user} />
        <p class="code">{id}</p>
      </Section>
      <div class="counts">
        <Counted
          label="orders in books"
          view={views.orders}
          where={{ ...ofUser, ...notOver }}
          href={`/operator/users/${id}?show=orders&status=open,partially_filled,scheduled`}
        />
        <Counted
          label="positions with shares"
          view={views.positions}
          where={{ ...ofUser, openQuantity: { notEqualTo: "0" } }}
          href={`/operator/users/${id}?show=positions&held=yes`}
        />
      </div>
      <UserForms id={id} user={user} />
      <Section title="Access">
        <Access userId={id} />
      </Section>
      <Parts label="About this user" parts={parts} />
    </StaffPageBody>
  );
}

function amountIn(user: Row, field: string): string {
  const value = user[field];
  return typeof value === "string" ? eurosOf(value) : "";
}

/** The policy in force; its figures are not those of another one. */
function rateOf(user: Row, typed: string | undefined): Record<string, string> {
  const tier = textIn(user, "rateTier");
  if (tier === "standard" || (typed ?? tier) !== tier) return { tier };
  return {
    tier,
    requestsPerMinute: String(user.requestsPerMinute),
    burstCapacity: String(user.burstCapacity),
    expiresAt: fieldTimeOf(textIn(user, "ratePolicyExpiresAt")),
  };
}

function UserForms({ id, user }: { id: string; user: Row }): JSX.Element {
  const isFrozen = user.frozenAt !== null;
  const yes = (field: string): string => (user[field] === true ? "yes" : "");
  const [about, handle] = [textIn(user, "displayName"), textIn(user, "handle")];
  const of = { given: { userId: id }, about, handle };
  const statement = <CommandForm command={commands.statement} {...of} />;
  const file = <CommandForm command={commands.exportUser} {...of} />;
  if (user.erasedAt !== null) {
    // What is owed may still be paid or reversed, and what came back later is paid out.
    return (
      <div class="commands">
        <CommandForm command={commands.deposit} {...of} />
        <CommandForm command={commands.withdraw} {...of} />
        <CommandForm command={commands.adjustBalance} {...of} />
        <CommandForm command={commands.reverseDeposit} {...of} />
        {statement}
        {file}
      </div>
    );
  }
  return (
    <div class="commands">
      <CommandForm
        key={String(isFrozen)}
        command={isFrozen ? commands.unfreezeUser : commands.freezeUser}
        {...of}
      />
      <CommandForm command={commands.deposit} {...of} />
      <CommandForm command={commands.withdraw} {...of} />
      <CommandForm command={commands.adjustBalance} {...of} />
      <CommandForm command={commands.reverseDeposit} {...of} />
      <CommandForm command={commands.addNote} {...of} />
      {statement}
      <CommandForm command={commands.cancelOrders} {...of} />
      <CommandForm command={commands.endSessions} {...of} />
      <CommandForm command={commands.selfExclude} {...of} />
      {user.excludedUntil !== null && <CommandForm command={commands.endSelfExclusion} {...of} />}
      <CommandForm
        command={commands.setLossLimits}
        {...of}
        initial={{
          dayCents: amountIn(user, "dayLimitCents"),
          weekCents: amountIn(user, "weekLimitCents"),
          monthCents: amountIn(user, "monthLimitCents"),
        }}
      />
      <CommandForm
        command={commands.setRatePolicy}
        {...of}
        initial={({ tier }) => rateOf(user, tier)}
      />
      <CommandForm
        command={commands.setProfile}
        {...of}
        initial={{
          displayName: textIn(user, "displayName"),
          private: yes("isPrivate"),
          leaderboardOptOut: yes("leaderboardOptOut"),
        }}
      />
      <CommandForm
        command={commands.recoverAccount}
        {...of}
        initial={{ email: textIn(user, "email") }}
      />
      <CommandForm command={commands.signInLink} {...of} />
      <CommandForm command={commands.createSession} {...of} />
      <CommandForm command={commands.createApiKey} {...of} />
      {file}
      <CommandForm command={commands.eraseUser} {...of} />
      <CommandForm command={commands.rotateApiKey} />
      <CommandForm command={commands.revokeApiKey} />
    </div>
  );
}
