import pg from "pg";
import type { Client, Pool } from "pg";
import { databaseTypes } from "../../../src/database/types.ts";

/** A login of its own, as a DBA gives one to a person or a process. */
export interface Login {
  name: string;
  connectionString: string;
  /** A session of it; a warning or a notice goes to `heard`. */
  connect: (heard?: (message: string) => void) => Promise<Client>;
  drop: () => Promise<void>;
}

let made = 0;

/** Makes a login with these roles. Logins belong to the cluster: the caller drops it. */
export async function makeLogin(
  superuser: Pool,
  connectionString: string,
  roles: string[],
): Promise<Login> {
  made += 1;
  const name = `test_login_${process.pid}_${Math.random().toString(36).slice(2, 8)}_${made}`;
  await superuser.query(`create role ${name} login`);
  for (const role of roles) await superuser.query(`grant ${role} to ${name}`);
  const own = connectionString.replace(/^(\w+:\/\/)[^@/]*@/, `$1${name}@`);
  const clients: Client[] = [];
  return {
    name,
    connectionString: own,
    connect: async (heard = () => undefined) => {
      const client = new pg.Client({ connectionString: own, types: databaseTypes });
      client.on("error", () => undefined);
      client.on("notice", ({ message }) => {
        heard(message ?? "");
      });
      await client.connect();
      clients.push(client);
      return client;
    },
    drop: async () => {
      await Promise.all(clients.map((client) => client.end()));
      await superuser.query(`drop owned by ${name}`);
      await superuser.query(`drop role ${name}`);
    },
  };
}
