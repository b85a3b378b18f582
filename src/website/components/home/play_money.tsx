import type { JSX } from "preact";
import { readSignUp } from "../../api/sign_up.ts";
import { formatVolume } from "../../format.ts";
import { useAsked } from "../../hooks/use_asked.ts";

/** Offers play money to visitors. Its line is there before it is known, so that nothing moves. */
export function PlayMoney(): JSX.Element {
  const { data } = useAsked(readSignUp, []);
  const isOffered = data?.policy === "open" && data.playMoneyCents > 0;
  return (
    <p class="play-money">
      {isOffered && (
        <a href="/sign-up">Start with {formatVolume(data.playMoneyCents)} of play money</a>
      )}
    </p>
  );
}
