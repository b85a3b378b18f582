import type { Mutation } from "./mutation.ts";

/** Who signs in with a passkey, and who changes them. */
export const passkeys: Mutation[] = [
  {
    name: "any_challenge",
    breaks: "a challenge is good in every session, and for everything",
    tests: ["http/passkeys"],
  },
  {
    name: "challenge_without_end",
    breaks: "a challenge is good after five minutes",
    tests: ["http/passkeys"],
  },
  {
    name: "old_challenges_stay",
    breaks: "challenges of which none is used grow in number",
    from: "limit 2",
    to: "limit 0",
    tests: ["db/api/passkeys"],
  },
  {
    name: "old_session",
    breaks: "passkeys can be changed however long ago the user signed in",
    tests: ["db/api/passkeys"],
  },
  {
    name: "passkeys_counted_at_once",
    breaks: "additions at the same moment make more passkeys than an account may have",
    from: " for no key update;",
    to: ";",
    tests: ["db/api/passkeys"],
  },
  {
    name: "ways_in_counted_at_once",
    breaks: "removals at the same moment leave an account without a way in",
    from: " for no key update;",
    to: ";",
    tests: ["db/api/passkeys"],
  },
  {
    name: "last_passkey",
    breaks: "a user without a password can remove no passkey",
    tests: ["db/api/passkeys"],
  },
  {
    name: "passkey_of_any_user",
    breaks: "a passkey signs in whatever user it names",
    tests: ["db/api/passkeys"],
  },
  {
    name: "count_may_stay",
    breaks: "a copy of a passkey signs in that has made as many signatures",
    from: "<",
    to: "<=",
    tests: ["db/api/passkeys"],
  },
  {
    name: "count_may_end",
    breaks: "a copy of a passkey signs in that does not count",
    from: "p.sign_count = 0 and ",
    tests: ["db/api/passkeys"],
  },
];
