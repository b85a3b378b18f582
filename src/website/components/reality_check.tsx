import type { JSX } from "preact";
import { useEffect, useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { account } from "../api/account.ts";
import { ownApi } from "../api/client.ts";
import { RETRY_MS, durationWords, followRealityCheck } from "../api/reality_check.ts";
import { resultOf } from "../api/result.ts";
import { noteSignOut } from "../api/session.ts";
import { turns } from "../api/stream_turns.ts";
import type { RealityCheck } from "../api/types.ts";
import { formatChange, formatCents, toneOf } from "../format.ts";
import { navigate } from "../router.ts";
import { SignOutWords } from "./account/unconfirmed.tsx";
import { Fact } from "./fact.tsx";

/** Of all windows of this browser, one reminds. */
const takeTurn = turns(["pgmarkets.reality-check"]);

/** Reminds a user of the time on the website, in the window that is seen. */
export function RealityCheckDialog({ everyMinutes }: { everyMinutes: number }): JSX.Element | null {
  const [due, setDue] = useState<RealityCheck>();
  const [round, setRound] = useState(0);
  useEffect(() => {
    let stop: (() => void) | undefined;
    const follow = (): void => {
      stop?.();
      stop = undefined;
      setDue(undefined);
      if (document.hidden) return;
      const read = async () => await resultOf(ownApi.GET("/api/account/reality-check"));
      stop = followRealityCheck({ read, takeTurn, onDue: setDue });
    };
    follow();
    document.addEventListener("visibilitychange", follow);
    return () => {
      stop?.();
      document.removeEventListener("visibilitychange", follow);
    };
  }, [everyMinutes, round]);
  const goOn = async (): Promise<void> => {
    setDue(undefined);
    const { ok } = await resultOf(ownApi.POST("/api/account/reality-check"));
    // Nobody is kept from going on because the server did not hear of it.
    setTimeout(
      () => {
        setRound((before) => before + 1);
      },
      ok ? 0 : RETRY_MS,
    );
  };
  return due === undefined ? null : <Reminder check={due} onGoOn={() => void goOn()} />;
}

interface ReminderProps {
  check: RealityCheck;
  onGoOn: () => void;
}

function Reminder({ check, onGoOn }: ReminderProps): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null);
  const goOn = useRef<HTMLButtonElement>(null);
  const id = useId();
  useLayoutEffect(() => {
    const element = dialog.current;
    element?.showModal();
    goOn.current?.focus();
    return () => {
      element?.close();
    };
  }, []);
  const signOut = async (): Promise<void> => {
    onGoOn();
    const { ok } = await resultOf(ownApi.POST("/api/account/sign-out"));
    if (!ok) return;
    noteSignOut();
    navigate("/");
  };
  return (
    <dialog
      class="dialog"
      ref={dialog}
      aria-labelledby={`${id}-title`}
      aria-describedby={`${id}-what`}
      onCancel={onGoOn}
    >
      <h2 id={`${id}-title`}>You have been here for {durationWords(check.lastedMs)}</h2>
      <dl class="figures">
        <Fact name="Your result in this time" class={toneOf(check.realisedCents)}>
          {formatChange(check.realisedCents)}
        </Fact>
        <Fact name={check.spentCents < 0 ? "Taken out of trading" : "Put into trading"}>
          {formatCents(Math.abs(check.spentCents))}
        </Fact>
      </dl>
      <p class="hint" id={`${id}-what`}>
        The result is what you sold, exchanged or were paid, less what those shares had cost, less
        fees, also by your API keys. Shares that you still hold are not part of it; what you paid
        for them is part of what you put in.
      </p>
      {account.value?.emailConfirmed === false && (
        <p class="hint">
          <SignOutWords own={account.value} />
        </p>
      )}
      <div class="button-row">
        <button type="button" class="button button-main" ref={goOn} onClick={onGoOn}>
          Go on
        </button>
        <a class="button" href="/portfolio" onClick={onGoOn}>
          See my history
        </a>
        <a class="button" href="/account#exclusion" onClick={onGoOn}>
          Take a break
        </a>
        <button type="button" class="button button-quiet" onClick={() => void signOut()}>
          Sign out
        </button>
      </div>
    </dialog>
  );
}
