import { readSignUp } from "../api/sign_up.ts";
import { useAsked } from "./use_asked.ts";

/** Whether nobody may sign up. False until that is known. */
export function useSignUpIsClosed(): boolean {
  return useAsked(readSignUp, []).data?.policy === "closed";
}
