import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { publicApi } from "../api/client.ts";
import { canUsePasskeys, signInByPasskey } from "../api/passkeys.ts";
import { resultOf } from "../api/result.ts";
import { noteSignIn } from "../api/session.ts";
import { Field, issueOf, problemBeside } from "../components/field.tsx";
import { ProblemNotice } from "../components/notice.tsx";
import { Submit } from "../components/submit.tsx";
import { typedEmail } from "../components/typed_email.ts";
import { useCommand } from "../hooks/use_command.ts";
import { useTitle } from "../hooks/use_title.ts";
import { navigate, query, safeReturnPath } from "../router.ts";

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

/** Signs in with a password, a passkey, or by a link of support. */
export function SignInPage(): JSX.Element {
  useTitle("Sign in");
  const [email, setEmail] = useState("");
  const [password, setPassword] = useState("");
  const command = useCommand();

  useEffect(() => {
    const token = location.hash.slice(1);
    if (token === "") return;
    history.replaceState(null, "", location.pathname);
    const body = { token };
    void command.give(
      () => resultOf(publicApi.POST("/api/account/sign-in-link", { body })),
      goBack,
    );
  }, []);

  const submit = (event: Event): void => {
    event.preventDefault();
    const body = { email: email.trim(), password };
    void command.give(() => resultOf(publicApi.POST("/api/account/sign-in", { body })), goBack);
  };

  return (
    <div class="narrow panel">
      <h1>Sign in</h1>
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
        <Submit isBusy={command.isBusy}>Sign in</Submit>
      </form>
      {canUsePasskeys() && <PasskeyButton />}
      <p class="form-links">
        <a href="/reset">Forgot your password?</a>
        <span>
          New here? <a href="/sign-up">Sign up</a>
        </span>
      </p>
    </div>
  );
}
