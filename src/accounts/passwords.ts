import { argon2, randomBytes } from "node:crypto";
import { createCallLimiter } from "../database/call_limiter.ts";
import { DatabaseFailure } from "../database/failures.ts";
import type { Turn } from "../database/failures.ts";
import { normalForm } from "./normal_form.ts";

/**
 * Passwords are hashed here, by argon2id, and compared in the database. A hash is text in PHC form,
 * `$argon2id$v=19$m=...,t=...,p=...$salt$digest`; its settings are all before the digest.
 */

/** The settings of new hashes, without a salt: 19 MiB and two passes, as OWASP advises. */
export const standardSettings = "$argon2id$v=19$m=19456,t=2,p=1";

const SALT_BYTES = 16;
const DIGEST_BYTES = 32;
/**
 * Hashes under way at once in a process: each takes memory and a thread. Known clients have a place
 * of their own, so they never wait for strangers.
 */
const hashLimits = { most: 3, each: { stranger: 2, known: 1 } };
/** How long a hash waits for its turn, among networks and among the addresses of its own. */
const PATIENCE_MS = 30_000;

/** The settings of a new hash, with a salt of its own. */
export function newSettings(): string {
  return `${standardSettings}$${toBase64(randomBytes(SALT_BYTES))}`;
}

/** Whether a hash with these settings is as new ones are. */
export function isStandard(settings: string): boolean {
  return settings.startsWith(`${standardSettings}$`);
}

/** The hash of a password by these settings, when the client has its turn. */
export async function hashPassword(
  password: string,
  settings: string,
  client: HashClient,
): Promise<string> {
  const { memory, passes, parallelism, salt } = readSettings(settings);
  const message = normalForm(password);
  const digest = await turnOf(client)(
    () =>
      new Promise<Buffer>((resolve, reject) => {
        argon2(
          "argon2id",
          { message, nonce: salt, memory, passes, parallelism, tagLength: DIGEST_BYTES },
          (error, result) => {
            if (error === null) resolve(result);
            else reject(error);
          },
        );
      }),
  );
  return `${settings}$${toBase64(digest)}`;
}

function readSettings(settings: string) {
  const pattern = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([A-Za-z0-9+/]+)$/;
  const [, memory, passes, parallelism, salt] = pattern.exec(settings) ?? [];
  if (salt === undefined) throw new TypeError("These are no settings of a hash");
  return {
    memory: Number(memory),
    passes: Number(passes),
    parallelism: Number(parallelism),
    salt: Buffer.from(salt, "base64"),
  };
}

/** PHC form has no padding. */
function toBase64(bytes: Buffer): string {
  return bytes.toString("base64").replaceAll("=", "");
}

/** Who waits for a hash. */
export interface HashClient {
  /** What the client is counted by: see client_address.ts. */
  address: string;
  /** Whether the client has a session, or a browser in which the user signed in before. */
  isKnown?: boolean;
  /** Whether the client has left: then its hash is not computed. */
  hasLeft?: () => boolean;
}

const hashes = createCallLimiter({ limits: hashLimits, patienceMs: PATIENCE_MS });
/** So few wait in the line of a network, however many addresses it has; these take turns too. */
const networks = createCallLimiter({
  limits: { most: Number.MAX_SAFE_INTEGER, each: { network: hashLimits.most } },
  patienceMs: PATIENCE_MS,
});

/** Gives hashes their turns: networks take turns, and the addresses of a network. */
function turnOf({ address, isKnown = false, hasLeft = () => false }: HashClient): Turn {
  const kind = isKnown ? "known" : "stranger";
  const network = `${kind} ${widerNetworkOf(address)}`;
  const inNetwork = networks.turn(`${kind} ${address}`, { network });
  const amongAll = hashes.turn(network, { [kind]: "" });
  return (attempt) =>
    inNetwork(() =>
      amongAll(() => {
        if (hasLeft()) throw new DatabaseFailure("unreachable");
        return attempt();
      }),
    );
}

/** The /48 of a /64, or the address itself if it is one of IPv4. */
function widerNetworkOf(address: string): string {
  return address.endsWith("::/64") ? address.split(":").slice(0, 3).join(":") : address;
}
