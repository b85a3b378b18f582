import { signal } from "@preact/signals";

/** The e-mail address typed last at sign-in, so that the form for a new password has it too. */
export const typedEmail = signal("");
