import type { ComponentChildren, JSX } from "preact";
import { publicApi } from "../api/client.ts";
import { resultOf } from "../api/result.ts";
import type { MailLink, WaysIn } from "../api/types.ts";
import type { Asked } from "../hooks/use_asked.ts";
import { useAsked } from "../hooks/use_asked.ts";
import { ProblemNotice } from "./notice.tsx";
import { Show } from "./states.tsx";

/** What the link of a mail will do. To ask this does nothing: only a button of its page acts. */
export function useMailLink(token: string): Asked<MailLink> {
  return useAsked(() => resultOf(publicApi.POST("/api/account/link", { body: { token } })), []);
}

interface ShowLinkProps {
  asked: Asked<MailLink>;
  children: (link: MailLink) => ComponentChildren;
}

/** Shows a link once it is known; or that it is not valid any more. */
export function ShowLink({ asked, children }: ShowLinkProps): JSX.Element {
  if (asked.problem?.code === "INVALID_LINK") return <ProblemNotice problem={asked.problem} />;
  return <Show asked={asked}>{children}</Show>;
}

/** The account that a link is about, so that nobody confuses it with another one. */
export function LinkAccount({ account, email }: Pick<MailLink, "account" | "email">): JSX.Element {
  const presentEmail = account?.presentEmail ?? null;
  return (
    <dl class="facts">
      {account !== null && (
        <>
          <dt>Name</dt>
          <dd>{account.displayName}</dd>
          <dt>Handle</dt>
          <dd>{account.handle}</dd>
        </>
      )}
      {presentEmail !== null && (
        <>
          <dt>Present address</dt>
          <dd>{presentEmail}</dd>
        </>
      )}
      {email !== null && (
        <>
          <dt>{presentEmail === null ? "E-mail" : "New address"}</dt>
          <dd>{email}</dd>
        </>
      )}
    </dl>
  );
}

/** How many ways into an account there are, besides its password; undefined if there are none. */
export function waysInWords({ sessions, passkeys, apiKeys }: WaysIn): string | undefined {
  const some = (count: number, one: string): string[] =>
    count === 0 ? [] : [`${count} ${one}${count === 1 ? "" : "s"}`];
  const all = [
    ...some(sessions, "signed-in browser"),
    ...some(passkeys, "passkey"),
    ...some(apiKeys, "API key"),
  ];
  return all.length === 0 ? undefined : all.join(", ");
}
