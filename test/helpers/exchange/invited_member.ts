import { call } from "../../../src/database/call.ts";
import { api } from "../../../src/database/calls.ts";
import { sha256Of } from "../../../src/secrets.ts";
import { withClient } from "../database/test_database.ts";
import type { Exchange } from "./test_exchange.ts";

/** What the database has of a link with this path. */
export const linkHashOf = (path: string): Buffer => sha256Of(path.split("#")[1]!);

let made = 0;

/** A user who followed an invitation, so the address is confirmed. */
export async function makeInvitedMember(
  { api: pool, operate }: Exchange,
  passwordHash: string,
): Promise<{ email: string; userId: string }> {
  const number = (made += 1);
  const email = `member-${number}@invited.example`;
  await operate("set_sign_up", { policy: "invitation" });
  const invitationHash = linkHashOf(await operate("invite_user", { email }));
  const about = { email, displayName: "Member", handle: `member-${number}`, passwordHash };
  const { userId } = await withClient(pool, (client) =>
    call(client, api.signUp, { ...about, invitationHash, isHostOnly: false }),
  );
  return { email, userId };
}
