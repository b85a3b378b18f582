import { isIP, isIPv6 } from "node:net";
import pg from "pg";
import { z } from "zod";

const flag = (fallback: boolean) =>
  z
    .enum(["0", "1", "false", "true"], { error: "must be 0 or 1" })
    .transform((value) => value === "1" || value === "true")
    .default(fallback);

const wholeNumber = (least: number, most: number) =>
  z
    .string()
    .regex(/^\d+$/, "must be a whole number")
    .transform(Number)
    .pipe(z.number().min(least, `must be at least ${least}`).max(most, `must be at most ${most}`));

/** The addresses of the machine itself. */
export const LOOPBACK = "127.0.0.0/8,::1";

/** Whether this is an address or a network. */
function isNetwork(text: string): boolean {
  const [, address = "", , bits] = /^([^/]+)(\/(\d+))?$/.exec(text.trim()) ?? [];
  return isIP(address) !== 0 && Number(bits ?? 0) <= (isIPv6(address) ? 128 : 32);
}

/** Whether these are addresses, networks, or Express' names for some. */
function areProxies(value: string): boolean {
  return value
    .split(",")
    .every((part) => /^(loopback|linklocal|uniquelocal)$/.test(part.trim()) || isNetwork(part));
}

const trustProxy = z
  .string()
  .refine((value) => /^(off|false|on|true|\d+)$/i.test(value) || areProxies(value), {
    error: "must be off, on, a number of proxies, or their addresses",
  })
  .transform((value): boolean | number | string => {
    if (/^(off|false|0)$/i.test(value)) return false;
    if (/^(on|true)$/i.test(value)) return true;
    return /^\d+$/.test(value) ? Number(value) : value;
  })
  .default(false);

/**
 * Whether pg can read a connection string: of one that names several hosts, with each of them. A `#`
 * is one of a password, and so is an `@` behind the first `/` or `?` if there is none before it.
 */
function isConnectionString(url: string): boolean {
  const [, login = "", hosts = "", rest = ""] =
    /^(\w+:\/\/(?:[^/?#]*@)?)([^@/?#]*)(.*)$/s.exec(url) ?? [];
  const [path = "", query = ""] = rest.split("?");
  const isCut = hosts !== "" && (path.includes("@") || /^[^=&]*@/.test(query));
  if (rest.includes("#") || (isCut && !login.includes("@"))) return false;
  return hosts.split(",").every((host) => {
    try {
      return new pg.Client({ connectionString: login + host + rest }) instanceof pg.Client;
    } catch (error) {
      // A certificate that can't be read: the error at the start names the file.
      return error instanceof Error && "syscall" in error;
    }
  });
}

const POSTGRES_SCHEME = /^postgres(ql)?:\/\//;

const databaseUrl = z
  .string()
  .regex(POSTGRES_SCHEME, "must begin with postgres:// or postgresql://")
  .refine((url) => !POSTGRES_SCHEME.test(url) || isConnectionString(url), {
    error:
      "is not a valid URL: characters such as # / @ in a password must be percent-encoded, " +
      "and a port needs a host",
  })
  .optional();

/** Whether a connection string has the startup parameter `options`. */
export function hasOwnOptions(connectionString: string): boolean {
  return /[?&]options=/.test(connectionString);
}

/** The address of sessions that act as a role. Those of a migration by DATABASE_URL do not. */
const urlForRole = databaseUrl.refine((url) => url === undefined || !hasOwnOptions(url), {
  error: "must not contain `options`: the server sets the role there",
});

const smtpUrl = z
  .string()
  .regex(/^smtps?:\/\//, "must begin with smtp:// or smtps://")
  .optional();

const serviceUrl = z
  .string()
  .refine((url) => URL.canParse(url) && /^https?:\/\//.test(url), {
    error: "must be http:// or https:// with a host",
  })
  .optional();

const siteUrl = z
  .string()
  .refine((url) => URL.canParse(url) && /^https?:\/\/[^/?#]+\/?$/.test(url), {
    error: "must be http:// or https:// with a host, and no path",
  })
  .transform((url) => new URL(url).origin)
  .optional();

const variables = z.object({
  DATABASE_URL: databaseUrl,
  API_DATABASE_URL: urlForRole,
  LISTEN_DATABASE_URL: urlForRole,
  READ_DATABASE_URL: urlForRole,
  READ_LONGEST_LAG_MS: wholeNumber(1, 10_000).default(50),
  WORKER_DATABASE_URL: urlForRole,
  ANALYST_DATABASE_URL: urlForRole,
  OPERATOR_DATABASE_URL: urlForRole,
  PORT: wholeNumber(0, 65_535).default(3000),
  HOST: z.string().default("127.0.0.1"),
  METRICS_PORT: wholeNumber(0, 65_535).optional(),
  METRICS_ADDRESSES: z
    .string()
    .refine((value) => value.split(",").every(isNetwork), "must be addresses and networks")
    .default(LOOPBACK),
  WORKER_PORT: wholeNumber(0, 65_535).optional(),
  METRICS_HOST: z.string().default("127.0.0.1"),
  DEMO: flag(true),
  TRUST_PROXY: trustProxy,
  ADDRESS_CONNECTIONS: wholeNumber(0, 25_000).optional(),
  LOG_LEVEL: z
    .enum(["fatal", "error", "warn", "info", "debug", "trace", "silent"], {
      error: "must be fatal, error, warn, info, debug, trace or silent",
    })
    .default("info"),
  POOL_SIZE: wholeNumber(2, 500).default(12),
  PUBLIC_URL: siteUrl,
  SMTP_URL: smtpUrl,
  MAIL_FROM: z.string().optional(),
  PAGES_FOLDER: z.string().optional(),
  PROOF_WEBHOOK_URL: serviceUrl,
  TIME_STAMP_URL: serviceUrl,
  NODE_ENV: z.string().optional(),
});

const environmentSchema = variables.refine(
  ({ SMTP_URL, PUBLIC_URL }) => SMTP_URL === undefined || PUBLIC_URL !== undefined,
  { path: ["PUBLIC_URL"], error: "must be set if SMTP_URL is: mails have links to it" },
);

/** More than the event streams of an address, and no burden for a process. */
const ADDRESS_CONNECTIONS = 500;

/** Standbys that answer reads. */
export interface ReadStandbys {
  /** Names one or several hosts. */
  connectionString: string;
  /** A read waits for so long that one catches up; then it is left until it has. */
  longestLagMs: number;
}

/** What the environment configures. */
export interface Config {
  /** The PostgreSQL to use; without it, the embedded one in `.data/`. */
  databaseUrl: string | undefined;
  /** The same database, by a login with only the role exchange_api: for the HTTP interface. */
  apiDatabaseUrl: string | undefined;
  /** The same database, without a transaction pooler in between: to listen for events. */
  listenDatabaseUrl: string | undefined;
  /** Hot standbys of the same database, for public reads. Without them the primary answers all. */
  readStandbys: ReadStandbys | undefined;
  /** The same database, by a login with only the role exchange_worker: for the jobs. */
  workerDatabaseUrl: string | undefined;
  /** The same database, by a login with only the role exchange_analyst: for GraphQL. */
  analystDatabaseUrl: string | undefined;
  /** The same database, by a login with only the role exchange_operator: for GraphQL. */
  operatorDatabaseUrl: string | undefined;
  /** 0 picks a free port. */
  port: number;
  host: string;
  /** Who gets `/metrics` at the port of the HTTP interface: addresses and networks. */
  metricsAddresses: string;
  /** Where `/metrics` is served. Without it, at the port of the HTTP interface. */
  metricsPort: number | undefined;
  metricsHost: string;
  /** Where `npm run worker` serves its health, at the same host. Without it, nowhere. */
  workerPort: number | undefined;
  /** Whether an empty database gets a demo. Demo traders run in the embedded database only. */
  demo: boolean;
  /** Express' `trust proxy`: which proxies say where a request comes from. */
  trustProxy: boolean | number | string;
  /** Connections that an address may have open at once; 0: any number. */
  addressConnections: number;
  logLevel: string;
  /** Connections for orders and reads. Two thirds are for orders. */
  poolSize: number;
  /** Where browsers find the website, such as https://example.com, for links and for cookies. */
  publicUrl: string | undefined;
  /** The mail server. Without it, `npm start` prints the links of mails. */
  smtpUrl: string | undefined;
  /** The sender of mails. */
  mailFrom: string | undefined;
  /** Markdown files of pages that the operator wrote. */
  pagesFolder: string | undefined;
  /** Gets the head of sealed history every five minutes. */
  proofWebhookUrl: string | undefined;
  /** A service of RFC 3161 that stamps these heads with the time. */
  timeStampUrl: string | undefined;
  /** Whether NODE_ENV is production. `npm run server` and `worker` then need a database URL. */
  isProduction: boolean;
}

/** Reads the environment. An empty variable counts as missing. Throws one error with all faults. */
export function readConfig(environment: NodeJS.ProcessEnv = process.env): Config {
  const given = Object.entries(environment).filter(([, value]) => value !== "");
  const result = environmentSchema.safeParse(Object.fromEntries(given));
  if (!result.success) {
    // The message has no values: DATABASE_URL has a password.
    const faults = result.error.issues.map((issue) => `${issue.path.join(".")} ${issue.message}`);
    throw new Error(`The environment has errors: ${faults.join("; ")}`);
  }
  const { data } = result;
  return {
    databaseUrl: data.DATABASE_URL,
    apiDatabaseUrl: data.API_DATABASE_URL,
    listenDatabaseUrl: data.LISTEN_DATABASE_URL,
    readStandbys:
      data.READ_DATABASE_URL === undefined
        ? undefined
        : {
            connectionString: data.READ_DATABASE_URL,
            longestLagMs: data.READ_LONGEST_LAG_MS,
          },
    workerDatabaseUrl: data.WORKER_DATABASE_URL,
    analystDatabaseUrl: data.ANALYST_DATABASE_URL,
    operatorDatabaseUrl: data.OPERATOR_DATABASE_URL,
    port: data.PORT,
    host: data.HOST,
    metricsAddresses: data.METRICS_ADDRESSES,
    metricsPort: data.METRICS_PORT,
    metricsHost: data.METRICS_HOST,
    workerPort: data.WORKER_PORT,
    demo: data.DEMO,
    trustProxy: data.TRUST_PROXY,
    // A proxy has the connections of all its clients.
    addressConnections:
      data.ADDRESS_CONNECTIONS ?? (data.TRUST_PROXY === false ? ADDRESS_CONNECTIONS : 0),
    logLevel: data.LOG_LEVEL,
    poolSize: data.POOL_SIZE,
    publicUrl: data.PUBLIC_URL,
    smtpUrl: data.SMTP_URL,
    mailFrom: data.MAIL_FROM,
    pagesFolder: data.PAGES_FOLDER,
    proofWebhookUrl: data.PROOF_WEBHOOK_URL,
    timeStampUrl: data.TIME_STAMP_URL,
    isProduction: data.NODE_ENV === "production",
  };
}
