import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { canUsePasskeys } from "../api/browser_passkeys.ts";
import { publicApi } from "../api/client.ts";
import { signInByPasskey } from "../api/passkeys.ts";
import { resultOf } from "../api/result.ts";
import { noteSignIn } from "../api/session.ts";
import { Field, issueOf, problemBeside } from "../components/field.tsx";
import { LinkAccount, ShowLink, useMailLink } from "../components/mail_link.tsx";
import { ProblemNotice } from "../components/notice.tsx";
import { Submit } from "../components/submit.tsx";
import { typedEmail } from "../components/typed_email.ts";
import { useCommand } from "../hooks/use_command.ts";
import { useSignUpIsClosed } from "../hooks/use_sign_up_is_closed.ts";
import { useTitle } from "../hooks/use_title.ts";
import { backQuery, navigate, query, safeReturnPath } from "../router.ts";

function goBack(): void {
  noteSignIn();
  typedEmail.value = "";
  navigate(safeReturnPath(query.value.get("back")), { replace: true });
}

/** Signs in with a passkey: the browser knows whose it is. */
function PasskeyButton(): JSX.Element {
  const command = useCommand();
  return (
    <div class="other-way">
      <button
        type="button"
        class="button button-wide"
        disabled={command.isBusy}
        aria-busy={command.isBusy}
        onClick={() => void command.give(signInByPasskey, goBack)}
      >
        Sign in with a passkey
      </button>
      <ProblemNotice problem={command.problem} />
    </div>
  );
}

/** Signs in by a link of support, when its button is pressed. */
function SignInByLink({ token }: { token: string }): JSX.Element {
  const asked = useMailLink(token);
  const command = useCommand();
  const submit = (event: Event): void => {
    event.preventDefault();
    const body = { token };
    void command.give(
      () => resultOf(publicApi.POST("/api/account/sign-in-link", { body })),
      goBack,
    );
  };
  return (
    <ShowLink asked={asked}>
      {({ account }) => (
        <form onSubmit={submit}>
          <p>A link of our support signs you in to this account, once:</p>
          <LinkAccount account={account} email={null} />
          <ProblemNotice problem={command.problem} />
          <Submit isBusy={command.isBusy}>Sign in to this account</Submit>
        </form>
      )}
    </ShowLink>
  );
}

/** Signs in with a password, a passkey, or by a link of support. */
export function SignInPage(): JSX.Element {
  useTitle("Sign in");
  const [token] = useState(() => location.hash.slice(1));
  useEffect(() => {
    if (token !== "") history.replaceState(null, "", location.pathname);
  }, []);
  return (
    <div class="narrow panel">
      <h1>Sign in</h1>
      {token === "" ? <SignInForm /> : <SignInByLink token={token} />}
    </div>
  );
}

function SignInForm(): JSX.Element {
  const [email, setEmail] = useState("");
  const [password, setPassword] = useState("");
  const command = useCommand();
  const isSignUpClosed = useSignUpIsClosed();

  const submit = (event: Event): void => {
    event.preventDefault();
    const body = { email: email.trim(), password };
    void command.give(() => resultOf(publicApi.POST("/api/account/sign-in", { body })), goBack);
  };

  return (
    <>
      <form onSubmit={submit} noValidate>
        <Field
          label="E-mail"
          name="email"
          type="email"
          autocomplete="username"
          value={email}
          error={issueOf(command.problem, "email")}
          onValue={(text) => {
            setEmail(text);
            typedEmail.value = text;
          }}
        />
        <Field
          label="Password"
          name="password"
          type="password"
          autocomplete="current-password"
          value={password}
          error={issueOf(command.problem, "password")}
          onValue={setPassword}
        />
        <ProblemNotice problem={problemBeside(command.problem, ["email", "password"])} />
        {command.problem?.status === 401 && (
          <p class="hint">
            Did you sign up and never confirm your address? Then open the link in our mail first. If
            this was the right password, the mail is on its way again.
          </p>
        )}
        <Submit isBusy={command.isBusy}>Sign in</Submit>
      </form>
      {canUsePasskeys() && <PasskeyButton />}
      <p class="form-links">
        <a href="/reset">Forgot your password?</a>
        {!isSignUpClosed && (
          <span>
            New here? <a href={`/sign-up${backQuery()}`}>Sign up</a>
          </span>
        )}
      </p>
    </>
  );
}
