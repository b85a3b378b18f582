import type { Client } from "pg";

/** Parts of pg's client that its types lack. */
interface CuttableClient {
  connection?: { stream: { destroy: () => void } };
}

/** Cuts a connection: its query or its attempt to connect fails. */
export function cut(client: Client): void {
  (client as unknown as CuttableClient).connection?.stream.destroy();
}
