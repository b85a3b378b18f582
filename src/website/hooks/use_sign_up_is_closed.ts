import { readSignUp } from "../api/sign_up.ts";
import { useAsked } from "./use_asked.ts";

/**
 * Whether nobody may sign up. False until that is known: where it is true, which is rare, what offers
 * to sign up is seen for a moment.
 */
export function useSignUpIsClosed(): boolean {
  return useAsked(readSignUp, []).data?.policy === "closed";
}
