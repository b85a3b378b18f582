import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { publicApi } from "../api/client.ts";
import { resultOf } from "../api/result.ts";
import { noteSignIn } from "../api/session.ts";
import { readSignUp } from "../api/sign_up.ts";
import { ageWords } from "../components/account/age.tsx";
import { Checkbox, Field, issueOf, problemBeside } from "../components/field.tsx";
import { Notice, ProblemNotice } from "../components/notice.tsx";
import { Submit } from "../components/submit.tsx";
import { formatCents } from "../format.ts";
import { useAsked } from "../hooks/use_asked.ts";
import { useCommand } from "../hooks/use_command.ts";
import { useTitle } from "../hooks/use_title.ts";
import { backQuery, navigate, query, safeReturnPath } from "../router.ts";

/** The token of an invitation stands behind the # of its link. */
function invitationNow(): string | null {
  return location.hash.length > 1 ? location.hash.slice(1) : null;
}

/** Makes an account. */
export function SignUpPage(): JSX.Element {
  useTitle("Sign up");
  const [invitation] = useState(invitationNow);
  const policy = useAsked(readSignUp, []);
  const isClosed = policy.data?.policy === "closed";
  const needsInvitation = policy.data?.policy === "invitation" && invitation === null;
  const playMoney = policy.data?.playMoneyCents ?? 0;
  return (
    <div class="narrow panel">
      <h1>Sign up</h1>
      {playMoney > 0 && (
        <Notice kind="info">
          This is a demo: a new account gets {formatCents(playMoney)} of play money. It is not real
          money, and cannot be paid out.
        </Notice>
      )}
      {isClosed || needsInvitation ? (
        <Notice kind="warn">
          {isClosed ? "New accounts are not being made now." : "You need an invitation to sign up."}
        </Notice>
      ) : (
        <SignUpForm invitation={invitation} minimumAge={policy.data?.minimumAge ?? null} />
      )}
      <p class="form-links">
        <span>
          Already have an account? <a href={`/sign-in${backQuery()}`}>Sign in</a>
        </span>
      </p>
    </div>
  );
}

interface SignUpFormProps {
  invitation: string | null;
  /** In years; null: nobody is asked. */
  minimumAge: number | null;
}

function SignUpForm({ invitation, minimumAge }: SignUpFormProps): JSX.Element {
  const [isOldEnough, setIsOldEnough] = useState(false);
  const [values, setValues] = useState({ email: "", password: "" });
  const command = useCommand();
  const set = (name: keyof typeof values) => (value: string) => {
    setValues((before) => ({ ...before, [name]: value }));
  };
  const submit = (event: Event): void => {
    event.preventDefault();
    const body = {
      ...{ ...values, email: values.email.trim(), invitation },
      ...(isOldEnough && minimumAge !== null && { confirmedAge: minimumAge }),
    };
    void command.give(
      () => resultOf(publicApi.POST("/api/account/sign-up", { body })),
      () => {
        noteSignIn();
        // One step is left before the first order.
        const back = safeReturnPath(query.peek().get("back"));
        navigate(`/account?first=limits&back=${encodeURIComponent(back)}`, { replace: true });
      },
    );
  };
  const { problem } = command;
  return (
    <form onSubmit={submit} noValidate>
      <Field
        label="E-mail"
        name="email"
        type="email"
        autocomplete="username"
        hint="Others never see it. They see a made-up name, which you can change in your account."
        value={values.email}
        error={issueOf(problem, "email")}
        onValue={set("email")}
      />
      <Field
        label="Password"
        name="password"
        type="password"
        autocomplete="new-password"
        hint="At least 10 characters."
        value={values.password}
        error={issueOf(problem, "password")}
        onValue={set("password")}
      />
      {minimumAge !== null && (
        <Checkbox label={ageWords(minimumAge)} isChecked={isOldEnough} onChange={setIsOldEnough} />
      )}
      <ProblemNotice problem={problemBeside(problem, Object.keys(values))} />
      <Submit isBusy={command.isBusy}>Make my account</Submit>
    </form>
  );
}
