import { randomBytes } from "node:crypto";
import type { Exchange } from "./test_exchange.ts";

/** The id of the newest session of a user; one is made if there is none. */
export async function ownSession(
  { database }: Pick<Exchange, "database">,
  userId: string,
): Promise<string> {
  const { rows } = await database.pool.query(
    `with present as (
       select s.public_id from identity.sessions as s
       join identity.users as u on u.id = s.user_id
       where u.public_id = $1 and s.expires_at > core.now()
       order by s.id desc limit 1
     ),
     made as (
       insert into identity.sessions (user_id, cookie_hash, expires_at)
       select u.id, $2, core.now() + interval '30 days' from identity.users as u
       where u.public_id = $1 and not exists (select from present)
       returning public_id
     )
     select public_id from present union all select public_id from made`,
    [userId, randomBytes(32)],
  );
  return rows[0].public_id;
}
