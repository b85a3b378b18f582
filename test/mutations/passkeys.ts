import type { Mutation } from "./mutation.ts";

/** Who signs in with a passkey, and who changes them. */
export const passkeys: Mutation[] = [
  {
    name: "any_challenge",
    breaks: "a challenge is good in every session, and for everything",
    file: "identity/functions/take_challenge.sql",
    from: `      and c.session_id is not distinct from take_challenge.session_id
`,
    to: "",
    tests: ["http/passkeys"],
  },
  {
    name: "challenge_without_end",
    breaks: "a challenge is good after five minutes",
    file: "identity/functions/take_challenge.sql",
    from: `      and c.expires_at > core.now()
`,
    to: "",
    tests: ["http/passkeys"],
  },
  {
    name: "old_challenges_stay",
    breaks: "challenges of which none is used grow in number",
    file: "identity/functions/new_challenge.sql",
    from: "limit 2",
    to: "limit 0",
    tests: ["db/api/passkeys"],
  },
  {
    name: "old_session",
    breaks: "passkeys can be changed however long ago the user signed in",
    file: "identity/functions/fresh_session.sql",
    from: `    and s.created_at > core.now() - c_fresh_for
`,
    to: "",
    tests: ["db/api/passkeys"],
  },
  {
    name: "passkeys_counted_at_once",
    breaks: "additions at the same moment make more passkeys than an account may have",
    file: "api/functions/add_passkey.sql",
    from: " for no key update;",
    to: ";",
    tests: ["db/api/passkeys"],
  },
  {
    name: "ways_in_counted_at_once",
    breaks: "removals at the same moment leave an account without a way in",
    file: "api/functions/remove_passkey.sql",
    from: " for no key update;",
    to: ";",
    tests: ["db/api/passkeys"],
  },
  {
    name: "last_passkey",
    breaks: "a user without a password can remove no passkey",
    file: "api/functions/remove_passkey.sql",
    from: `    and not exists (select from identity.passkeys as p where p.user_id = v_user_id)
`,
    to: "",
    tests: ["db/api/passkeys"],
  },
  {
    name: "passkey_of_any_user",
    breaks: "a passkey signs in whatever user it names",
    file: "identity/functions/use_passkey.sql",
    from: `    and u.public_id = use_passkey.user_handle
`,
    to: "",
    tests: ["db/api/passkeys"],
  },
  {
    name: "count_may_stay",
    breaks: "a copy of a passkey signs in that has made as many signatures",
    file: "identity/functions/use_passkey.sql",
    from: "p.sign_count < use",
    to: "p.sign_count <= use",
    tests: ["db/api/passkeys"],
  },
  {
    name: "count_may_end",
    breaks: "a copy of a passkey signs in that does not count",
    file: "identity/functions/use_passkey.sql",
    from: "p.sign_count = 0 and ",
    to: "",
    tests: ["db/api/passkeys"],
  },
];
