import type { PoolClient } from "pg";
import { call } from "./api.ts";

/** What those who work with the exchange may be. */
export type StaffRole = "analyst" | "operator";

/** Somebody who works with the exchange. */
export interface Staff {
  staffKeyId: string;
  /** Of the key, which the audit log tells. */
  name: string;
  role: StaffRole;
}

/** Whose staff key has this SHA-256. */
export async function authenticateStaffKey(
  client: PoolClient,
  keyHash: Buffer,
): Promise<Staff | undefined> {
  const [row] = await call<{ staff_key_id: string; name: string; role: StaffRole }>(
    client,
    "authenticate_staff_key",
    "select staff_key_id, name, role from api.authenticate_staff_key(key_hash => $1)",
    [keyHash],
  );
  return row && { staffKeyId: row.staff_key_id, name: row.name, role: row.role };
}
