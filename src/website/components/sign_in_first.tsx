import type { JSX } from "preact";
import { useSignUpIsClosed } from "../hooks/use_sign_up_is_closed.ts";
import { address } from "../router.ts";
import { Empty } from "./states.tsx";

/** In the place of a page that is only for signed-in users. */
export function SignInFirst({ title }: { title: string }): JSX.Element {
  const back = encodeURIComponent(address.value);
  const isSignUpClosed = useSignUpIsClosed();
  return (
    <>
      <h1>{title}</h1>
      <Empty title="Sign in to see this page">
        <div class="button-row centred">
          <a class="button button-main" href={`/sign-in?back=${back}`}>
            Sign in
          </a>
          {!isSignUpClosed && (
            <a class="button" href={`/sign-up?back=${back}`}>
              Sign up
            </a>
          )}
        </div>
      </Empty>
    </>
  );
}
