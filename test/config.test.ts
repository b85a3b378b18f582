import test from "ava";
import { readConfig } from "../src/config.ts";

test("without variables the database is embedded, the address is local, and there is a demo", (t) => {
  t.like(readConfig({}), {
    databaseUrl: undefined,
    port: 3000,
    host: "127.0.0.1",
    demo: true,
    trustProxy: false,
    addressConnections: 500,
    logLevel: "info",
    poolSize: 12,
  });
});

test("variables are read, and an empty variable counts as unset", (t) => {
  const config = readConfig({
    DATABASE_URL: "postgresql://someone@/somewhere?host=/run/postgresql",
    LISTEN_DATABASE_URL: "postgresql://someone@direct/somewhere",
    READ_DATABASE_URL: "postgresql://someone@one,two/somewhere",
    PORT: "0",
    HOST: "",
    DEMO: "0",
    TRUST_PROXY: "1",
    LOG_LEVEL: "debug",
    POOL_SIZE: "25",
    WORKER_PORT: "9100",
    PAGES_FOLDER: "/srv/pages",
  });
  t.like(config, {
    databaseUrl: "postgresql://someone@/somewhere?host=/run/postgresql",
    listenDatabaseUrl: "postgresql://someone@direct/somewhere",
    readStandbys: {
      connectionString: "postgresql://someone@one,two/somewhere",
      longestLagMs: 50,
    },
    port: 0,
    host: "127.0.0.1",
    demo: false,
    trustProxy: 1,
    logLevel: "debug",
    poolSize: 25,
    workerPort: 9100,
    pagesFolder: "/srv/pages",
  });
  t.is(readConfig({ TRUST_PROXY: "off" }).trustProxy, false);
  t.is(config.addressConnections, 0, "a proxy has the connections of all its clients");
  const limited = { TRUST_PROXY: "1", ADDRESS_CONNECTIONS: "2000" };
  t.is(readConfig(limited).addressConnections, 2000);
  t.is(readConfig({ ADDRESS_CONNECTIONS: "0" }).addressConnections, 0);
  for (const proxies of ["loopback, 10.0.0.0/8", "fd00::1", "::1/128"]) {
    t.is(readConfig({ TRUST_PROXY: proxies }).trustProxy, proxies);
  }
});

test("all errors are reported together, without values", (t) => {
  const error = t.throws(() =>
    readConfig({ DATABASE_URL: "mysql://a:secret@b", PORT: "65536", DEMO: "yes", POOL_SIZE: "-1" }),
  );
  for (const name of ["DATABASE_URL", "PORT", "DEMO", "POOL_SIZE"]) {
    t.true(error.message.includes(name), name);
  }
  t.false(error.message.includes("secret"));
});

test("a database URL that pg cannot read is an error that names the variable and no password", (t) => {
  const fault =
    "is not a valid URL: characters such as # / @ in a password must be percent-encoded, " +
    "and a port needs a host";
  for (const url of [
    "postgres://someone:secret#1@db:5432/x",
    "postgres://someone:7#secret@db/x",
    "postgres://someone:sec/ret@db/x",
    "postgres://someone:7/secret@db/x",
    "postgres://someone:secret?@db/x",
    "postgres://someone:7?secret@db/x",
    "postgres://someone:secret%ff@db/x",
    "postgres://someone:secret@:4400/x",
    "postgres://someone:secret@one:5432,two:port/x",
  ]) {
    for (const name of ["DATABASE_URL", "API_DATABASE_URL", "READ_DATABASE_URL"]) {
      const message = `The environment has errors: ${name} ${fault}`;
      t.throws(() => readConfig({ [name]: url }), { message }, url);
    }
  }
  for (const url of [
    "postgres:///x?host=/run/postgresql",
    "postgres:///x@y?host=/run/postgresql",
    "postgres://%2Frun%2Fpostgresql/x",
    "postgres://someone@/x?host=/run/one,/run/two&port=5432,5433",
    "postgres://someone:a%23b%2Fc%40d@one:5432,two:5433/x?target_session_attrs=primary",
    "postgres://someone:a@b c%@db:5432/x?user=a@b",
    "postgres://someone@[::1]:5432/x",
    "postgres://someone@db/x?sslmode=verify-full&sslrootcert=/there/is/none.crt",
  ]) {
    t.is(readConfig({ DATABASE_URL: url }).databaseUrl, url);
  }
});

test("`options` in a database URL is an error that names the variable", (t) => {
  const url = "postgresql://someone@db/somewhere?options=-c%20role%3Dpostgres";
  for (const part of ["API", "LISTEN", "WORKER", "ANALYST", "OPERATOR"]) {
    const name = `${part}_DATABASE_URL`;
    const message = `The environment has errors: ${name} must not contain \`options\`: the server sets the role there`;
    t.throws(() => readConfig({ [name]: url }), { message });
  }
  // A migration acts as the login.
  t.is(readConfig({ DATABASE_URL: url }).databaseUrl, url);
});

test("a proxy setting that Express rejects is an error", (t) => {
  for (const value of ["the proxy", "10.0.0.0/33", "10.0.0.1,", "-1"]) {
    t.throws(() => readConfig({ TRUST_PROXY: value }), { message: /TRUST_PROXY/ }, value);
  }
});

test("a mail server needs the address of the website, which is an origin", (t) => {
  const SMTP_URL = "smtp://mail.example:587";
  t.throws(() => readConfig({ SMTP_URL }), { message: /PUBLIC_URL must be set if SMTP_URL is/ });
  t.throws(() => readConfig({ SMTP_URL: "http://mail.example" }), { message: /SMTP_URL/ });
  for (const PUBLIC_URL of [
    "markets.example",
    "https://a.example/x",
    "ftp://a.example",
    "https://",
  ]) {
    t.throws(() => readConfig({ PUBLIC_URL }), { message: /PUBLIC_URL/ }, PUBLIC_URL);
  }
  const config = readConfig({ SMTP_URL, PUBLIC_URL: "https://Markets.example/" });
  t.is(config.publicUrl, "https://markets.example");
  t.is(config.smtpUrl, SMTP_URL);
});
