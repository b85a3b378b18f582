import { statfs } from "node:fs/promises";
import { connect } from "node:tls";
import type { PeerCertificate } from "node:tls";
import type { ClientBase } from "pg";
import { clockOffsetMs } from "../clock_offset.ts";
import { note, now, soon, those } from "./finding.ts";
import type { Finding } from "./finding.ts";

/** What is around the database: its disk, the clock, the certificate of the website. */

const DAY_MS = 86_400_000;
const MOST_OFFSET_MS = 2000;
const TLS_TIMEOUT_MS = 5000;

/** The disks of data and WAL, if they are on this machine. */
export async function lookAtDisk(client: ClientBase): Promise<Finding[]> {
  const { rows } = await client.query<{ path: string }>(
    `select current_setting('data_directory') || suffix as path
     from unnest(array['', '/pg_wal']) as suffix`,
  );
  const findings: (Finding | false)[] = [];
  for (const { path } of rows) {
    const free = await statfs(path)
      .then(({ bavail, blocks }) => bavail / blocks)
      .catch(() => undefined);
    if (free === undefined) {
      return [
        note(
          "disk",
          "the disk of the database is not on this machine",
          "run the doctor there, or watch the disk otherwise",
        ),
      ];
    }
    findings.push(
      free < 0.2 &&
        (free < 0.05 ? now : soon)(
          "disk",
          `${(free * 100).toFixed(0)} % of the disk of ${path} are free`,
          "docs/operating/monitoring.md, When the disk is full",
        ),
    );
  }
  return those(...findings);
}

export async function lookAtClock(client: ClientBase): Promise<Finding[]> {
  const before = Date.now();
  const { rows } = await client.query<{ at: number }>(
    "select (extract(epoch from clock_timestamp()) * 1000)::float8 as at",
  );
  const offset = clockOffsetMs(before, rows[0]?.at ?? before, Date.now());
  return those(
    Math.abs(offset) > MOST_OFFSET_MS &&
      soon(
        "clock",
        `this machine's clock is ${(offset / 1000).toFixed(1)} s off the database's`,
        "let both follow NTP: the clock of the database says when orders expire and markets close",
      ),
  );
}

/** The certificate that browsers get from PUBLIC_URL. */
export async function lookAtCertificate(publicUrl: string | undefined): Promise<Finding[]> {
  if (publicUrl === undefined) {
    return [
      note(
        "certificate",
        "PUBLIC_URL is not set",
        "set it if there is a website: links of mails and passkeys follow it",
      ),
    ];
  }
  const { hostname, port, protocol } = new URL(publicUrl);
  if (protocol === "http:") {
    return [soon("certificate", "PUBLIC_URL is not https", "put a proxy with TLS in front")];
  }
  const { certificate, fault } = await readCertificate(hostname, port === "" ? 443 : Number(port));
  const left = (Date.parse(certificate?.valid_to ?? "") - Date.now()) / DAY_MS;
  return those(
    fault !== undefined &&
      now(
        "certificate",
        `browsers refuse ${hostname}: ${fault}`,
        "renew or repair the certificate of the proxy",
      ),
    fault === undefined &&
      left < 14 &&
      soon(
        "certificate",
        `the certificate of ${hostname} ends in ${left.toFixed(0)} days`,
        "renew it",
      ),
  );
}

interface Certificate {
  certificate?: PeerCertificate;
  /** Why it is not accepted, or could not be read. */
  fault?: string | undefined;
}

async function readCertificate(host: string, port: number): Promise<Certificate> {
  return await new Promise((resolve) => {
    const socket = connect({ host, port, servername: host, rejectUnauthorized: false });
    const end = (result: Certificate): void => {
      socket.destroy();
      resolve(result);
    };
    socket.setTimeout(TLS_TIMEOUT_MS, () => {
      end({ fault: "it does not answer" });
    });
    socket.once("error", (error: Error) => {
      end({ fault: error.message });
    });
    socket.once("secureConnect", () => {
      const fault = socket.authorized ? undefined : String(socket.authorizationError);
      end({ certificate: socket.getPeerCertificate(), fault });
    });
  });
}
