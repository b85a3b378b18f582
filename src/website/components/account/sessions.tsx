import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { ownApi } from "../../api/client.ts";
import { resultOf } from "../../api/result.ts";
import { noteSignOut } from "../../api/session.ts";
import type { OwnProfile, Session } from "../../api/types.ts";
import { formatDateTime } from "../../format.ts";
import { useAsked } from "../../hooks/use_asked.ts";
import { useCommand } from "../../hooks/use_command.ts";
import { navigate } from "../../router.ts";
import { ConfirmDialog } from "../confirm_dialog.tsx";
import { ProblemNotice } from "../notice.tsx";
import { Show } from "../states.tsx";
import { browserWords } from "./browser_words.ts";
import { Section } from "./section.tsx";
import { SignOutWords } from "./unconfirmed.tsx";

/** The browsers that are signed in. */
export function SessionsSection({ own }: { own: OwnProfile }): JSX.Element {
  const sessions = useAsked(() => resultOf(ownApi.GET("/api/account/sessions")), []);
  const others = useCommand();
  const signOut = useCommand();
  const [isAsked, setIsAsked] = useState(false);
  const giveSignOut = (): void => {
    void signOut.give(
      () => resultOf(ownApi.POST("/api/account/sign-out")),
      () => {
        noteSignOut();
        navigate("/");
      },
    );
  };
  return (
    <Section id="sessions" title="Signed-in browsers">
      <Show asked={sessions}>
        {({ data }) => (
          <ul class="item-list">
            {data.map((session) => (
              <SessionItem key={session.id} session={session} onEnded={sessions.askAgain} />
            ))}
          </ul>
        )}
      </Show>
      <div class="button-row">
        <button
          type="button"
          class="button"
          aria-disabled={signOut.isBusy}
          onClick={() => {
            if (own.emailConfirmed) giveSignOut();
            else setIsAsked(true);
          }}
        >
          Sign out
        </button>
        <button
          type="button"
          class="button button-quiet"
          aria-disabled={others.isBusy}
          onClick={() =>
            void others.give(
              () => resultOf(ownApi.DELETE("/api/account/sessions")),
              sessions.askAgain,
            )
          }
        >
          Sign out all others
        </button>
      </div>
      {isAsked ? (
        <ConfirmDialog
          title="Sign out?"
          action="Sign out"
          command={signOut}
          onConfirm={giveSignOut}
          onClose={() => {
            setIsAsked(false);
          }}
        >
          <p>
            <SignOutWords own={own} />
          </p>
        </ConfirmDialog>
      ) : (
        <ProblemNotice problem={signOut.problem ?? others.problem} />
      )}
    </Section>
  );
}

interface SessionItemProps {
  session: Session;
  onEnded: () => void;
}

function SessionItem({ session, onEnded }: SessionItemProps): JSX.Element {
  const { id, browser, createdAt, lastSeenAt, current } = session;
  const command = useCommand();
  const name = browserWords(browser);
  const params = { path: { id } };
  return (
    <li class="item">
      <div>
        <p class="item-name">
          {name} {current && <span class="badge badge-open">This one</span>}
        </p>
        <p class="hint">
          Since {formatDateTime(createdAt)}
          {lastSeenAt !== null && ` · last seen ${formatDateTime(lastSeenAt)}`}
        </p>
        <ProblemNotice problem={command.problem} />
      </div>
      {!current && (
        <button
          type="button"
          class="button button-small"
          aria-disabled={command.isBusy}
          aria-label={`Sign out ${name}`}
          onClick={() =>
            void command.give(
              () => resultOf(ownApi.DELETE("/api/account/sessions/{id}", { params })),
              onEnded,
            )
          }
        >
          Sign out
        </button>
      )}
    </li>
  );
}
