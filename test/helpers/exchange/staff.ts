import { randomBytes } from "node:crypto";
import type { Pool } from "pg";
import { call } from "../../../src/database/call.ts";
import { api } from "../../../src/database/calls.ts";
import { sha256Of } from "../../../src/secrets.ts";
import { withClient } from "../database/test_database.ts";
import { nextMail } from "./next_mail.ts";
import type { Exchange } from "./test_exchange.ts";

/** A member of staff who has accepted the invitation. */
export interface StaffMember {
  staffId: string;
  email: string;
  passwordHash: string;
  credentialId: Buffer;
  /** The SHA-256 of the cookie of a session. */
  cookieHash: Buffer;
}

let made = 0;

export const someHash = (digest: string): string =>
  `$argon2id$v=19$m=8,t=1,p=1$c2FsdHNhbHQ$${Buffer.from(digest).toString("base64url")}`;

export const newPasskey = () => ({
  credentialId: randomBytes(32),
  publicKey: randomBytes(77),
  signCount: 0,
  transports: ["usb"],
});

/** Invites a person and accepts, as the pages of staff do. */
export async function makeStaff(
  exchange: Pick<Exchange, "api" | "database" | "operate">,
  roles: string[],
  options: { login?: string } = {},
): Promise<StaffMember> {
  const email = `staff-${(made += 1)}@staff.example`;
  const values = { email, name: `Member ${made}`, roles, ...options };
  const staffId: string = await exchange.operate("create_staff", values);
  const tokenHash = await mailedInvitation(exchange, email);
  const passwordHash = someHash(email);
  const passkey = newPasskey();
  const { cookie } = await accept(exchange, { tokenHash, passwordHash, ...passkey });
  const cookieHash = sha256Of(cookie!);
  return { staffId, email, passwordHash, credentialId: passkey.credentialId, cookieHash };
}

/** The passkey of a new member of staff. */
export async function makeStaffPasskey(
  exchange: Pick<Exchange, "api" | "database" | "operate">,
): Promise<{ passkey_id: string }> {
  const { staffId } = await makeStaff(exchange, ["audit"]);
  const { rows } = await exchange.database
    .connectAs("exchange_operator")
    .query("select passkey_id from admin.staff_passkeys where staff_id = $1", [staffId]);
  return rows[0];
}

/** The hash of the link in the next mail that invites this address. */
export async function mailedInvitation(
  { database }: Pick<Exchange, "database">,
  email: string,
): Promise<Buffer> {
  return withClient(database.connectAs("exchange_worker"), async (client) => {
    for (;;) {
      const mail = await nextMail(client);
      if (mail === undefined) throw new Error(`no invitation was mailed to ${email}`);
      if (mail.kind === "staff_invitation" && mail.address === email) return mail.tokenHash;
    }
  });
}

export interface Acceptance extends ReturnType<typeof newPasskey> {
  tokenHash: Buffer;
  passwordHash: string;
  challenge?: Buffer;
}

/**
 * Calls an admin function with named arguments in a transaction of its own, by a credential: the
 * SHA-256 of a member's cookie, or of an operator's key.
 */
export async function callBy(
  operators: Pool,
  credential: Buffer | string,
  name: string,
  values: Record<string, unknown> = {},
): Promise<any> {
  const shown = typeof credential === "string" ? credential : credential.toString("hex");
  const named = Object.keys(values).map((key, index) => `"${key}" => $${index + 1}`);
  return withClient(operators, async (client) => {
    await client.query("begin");
    try {
      await client.query("select set_config('exchange.credential', $1, true)", [shown]);
      const { rows } = await client.query(
        `select admin.${name}(${named.join(", ")}) as value`,
        Object.values(values),
      );
      await client.query("commit");
      return rows[0]?.value;
    } catch (error) {
      await client.query("rollback");
      throw error;
    }
  });
}

export function accept(exchange: Pick<Exchange, "api">, given: Acceptance) {
  return withClient(exchange.api, async (client) => {
    const challenge = given.challenge ?? (await call(client, api.startPasskeySignIn, {}));
    return call(client, api.acceptStaffInvitation, { ...given, challenge, passkeyName: "a key" });
  });
}
