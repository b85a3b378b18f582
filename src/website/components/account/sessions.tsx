import type { JSX } from "preact";
import { ownApi } from "../../api/client.ts";
import { resultOf } from "../../api/result.ts";
import { noteSignOut } from "../../api/session.ts";
import type { Session } from "../../api/types.ts";
import { formatDateTime } from "../../format.ts";
import { useAsked } from "../../hooks/use_asked.ts";
import { useCommand } from "../../hooks/use_command.ts";
import { navigate } from "../../router.ts";
import { ProblemNotice } from "../notice.tsx";
import { Show } from "../states.tsx";
import { browserWords } from "./browser_words.ts";
import { Section } from "./section.tsx";

/** The browsers that are signed in. */
export function SessionsSection(): JSX.Element {
  const sessions = useAsked(() => resultOf(ownApi.GET("/api/account/sessions")), []);
  const others = useCommand();
  const signOut = useCommand();
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
          onClick={() =>
            void signOut.give(
              () => resultOf(ownApi.POST("/api/account/sign-out")),
              () => {
                noteSignOut();
                navigate("/");
              },
            )
          }
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
      <ProblemNotice problem={signOut.problem ?? others.problem} />
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
