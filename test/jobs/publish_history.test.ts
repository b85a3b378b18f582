import { execFile, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import test from "ava";
import type { ExecutionContext } from "ava";
import { pino } from "pino";
import { publishHistory } from "../../jobs/history__publish.ts";
import type { JobContext } from "../../src/worker/job.ts";

/** The head of history given to a webhook, and stamped by a service that openssl plays. */

const head = {
  ...{ block: 7, count: 3, hash: "ab".repeat(32), previousHash: "cd".repeat(32) },
  ...{ sealedThrough: "2026-01-01T00:00:00.000Z", createdAt: "2026-01-01T00:00:01.000Z" },
};

type Reply = [status: number, body: Buffer | string];

/** A server of one answer, and what it was sent. */
async function serve(t: ExecutionContext, reply: (body: Buffer) => Promise<Reply> | Reply) {
  const bodies: Buffer[] = [];
  const server = createServer((request, response) => {
    void (async () => {
      const body = Buffer.concat((await request.toArray()) as Buffer[]);
      bodies.push(body);
      const [status, text] = await reply(body);
      response.writeHead(status, { location: "http://127.0.0.1:1/" }).end(text);
    })();
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  t.teardown(() => server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, bodies };
}

async function run(places: { proofWebhookUrl?: string; timeStampUrl?: string }, of: object = head) {
  const log: Record<string, any>[] = [];
  const logger = pino(
    { serializers: { error: String } },
    { write: (line: string) => log.push(JSON.parse(line)) },
  );
  const [job] = publishHistory({ proofWebhookUrl: undefined, timeStampUrl: undefined, ...places });
  const calls = { historyHead: () => Promise.resolve(JSON.stringify(of)) };
  await job!.run({ calls, logger } as unknown as JobContext);
  return log as { msg: string; timeStamp?: string; error?: string }[];
}

const NOT_GIVEN = "the head of history was not given to the webhook";
const NOT_STAMPED = "history was not stamped with the time";

test("without a place there is no job", (t) => {
  t.deepEqual(publishHistory({ proofWebhookUrl: undefined, timeStampUrl: undefined }), []);
});

test("the webhook gets the body of GET /proofs/head; nothing before the first block", async (t) => {
  const webhook = await serve(t, () => [204, ""]);
  t.deepEqual(await run({ proofWebhookUrl: webhook.url }), []);
  t.deepEqual(
    webhook.bodies.map((body) => JSON.parse(body.toString())),
    [head],
  );
  await run({ proofWebhookUrl: webhook.url }, { ...head, block: null, hash: null });
  t.is(webhook.bodies.length, 1);
});

test("a webhook that refuses, redirects or is not there is a line in the log", async (t) => {
  for (const status of [302, 500]) {
    const webhook = await serve(t, () => [status, ""]);
    t.deepEqual(
      (await run({ proofWebhookUrl: webhook.url })).map(({ msg }) => msg),
      [NOT_GIVEN],
    );
  }
  t.is((await run({ proofWebhookUrl: "http://127.0.0.1:1/" }))[0]!.msg, NOT_GIVEN);
});

test("a service that gives no time stamp is a line in the log, and the head goes out", async (t) => {
  const refused = Buffer.from("30053003020102", "hex");
  for (const [reply, message] of [
    [[500, ""], /answered 500/],
    [[200, "no DER"], /is no time stamp/],
    [[200, refused], /refused the request/],
    [[200, Buffer.from("3003020100", "hex")], /refused the request/],
    [[200, Buffer.from("30053003020100", "hex")], /is no time stamp/],
    [[200, Buffer.alloc(70_000)], /more than 65536 bytes/],
  ] as const) {
    const service = await serve(t, () => reply as unknown as Reply);
    const webhook = await serve(t, () => [200, ""]);
    const log = await run({ timeStampUrl: service.url, proofWebhookUrl: webhook.url });
    t.is(log[0]!.msg, NOT_STAMPED);
    t.regex(log[0]!.error!, message);
    t.deepEqual(JSON.parse(webhook.bodies[0]!.toString()), head);
  }
});

const runProgram = promisify(execFile);
const openssl = (args: string[]) => runProgram("openssl", args);
const stampTest = spawnSync("openssl", ["version"]).status === 0 ? test : test.skip;

stampTest(
  "a time stamp is checked by openssl; that of another hash or request is none",
  async (t) => {
    const folder = await mkdtemp(join(tmpdir(), "pgmarkets-stamps-"));
    t.teardown(() => rm(folder, { recursive: true }));
    const file = (name: string) => join(folder, name);
    await writeFile(
      file("tsa.conf"),
      `[tsa]
default_tsa = one
[one]
serial = ${file("serial")}
signer_cert = ${file("tsa.pem")}
signer_key = ${file("tsa.key")}
signer_digest = sha256
default_policy = 1.2.3.4
digests = sha256
[usage]
extendedKeyUsage = critical,timeStamping
[req]
distinguished_name = name
[name]
`,
    );
    await openssl([
      ...["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=clock", "-days", "2"],
      ...["-keyout", file("tsa.key"), "-out", file("tsa.pem"), "-config", file("tsa.conf")],
      ...["-extensions", "usage"],
    ]);
    const stamp = async (query: Buffer): Promise<Buffer> => {
      await writeFile(file("query"), query);
      const config = ["-config", file("tsa.conf"), "-section", "one"];
      await openssl([
        "ts",
        "-reply",
        "-queryfile",
        file("query"),
        "-out",
        file("reply"),
        ...config,
      ]);
      return await readFile(file("reply"));
    };
    const service = await serve(t, async (query) => [200, await stamp(query)]);
    const webhook = await serve(t, () => [200, ""]);
    const [line] = await run({ timeStampUrl: service.url, proofWebhookUrl: webhook.url });
    t.is(line!.msg, "history is stamped with the time");
    const { timeStamp, ...rest } = JSON.parse(webhook.bodies[0]!.toString());
    t.deepEqual(rest, head);
    t.is(timeStamp, line!.timeStamp);
    await writeFile(file("head.tsr"), Buffer.from(timeStamp, "base64"));
    const verify = (digest: string) =>
      openssl([
        ...[
          "ts",
          "-verify",
          "-digest",
          digest,
          "-in",
          file("head.tsr"),
          "-CAfile",
          file("tsa.pem"),
        ],
      ]);
    await verify(head.hash);
    await t.throwsAsync(verify("ef".repeat(32)));

    const query = service.bodies[0]!;
    const hashAt = query.indexOf(Buffer.from(head.hash, "hex"));
    for (const [change, message] of [
      [(bytes: Buffer) => (bytes[hashAt] = 0), /another hash/],
      [(bytes: Buffer) => (bytes[bytes.length - 5]! ^= 1), /another request/],
    ] as const) {
      const forging = await serve(t, async (sent) => {
        const forged = Buffer.from(sent);
        change(forged);
        return [200, await stamp(forged)];
      });
      t.regex((await run({ timeStampUrl: forging.url }))[0]!.error!, message);
    }
  },
);
