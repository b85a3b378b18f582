import { get } from "node:http";
import test from "ava";
import { addressList } from "../../src/http/address_list.ts";
import { testService } from "../helpers/http/test_service.ts";

/** What is large and public: the OpenAPI document and the files of its page; and who gets metrics. */

const service = testService(test, { limited: true });
const { call } = service;

interface Sent {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  bytes: number;
}

/** As it comes, not decompressed. */
const read = (path: string, headers: Record<string, string> = {}) =>
  new Promise<Sent>((resolve, reject) => {
    get(service.url + path, { headers }, (answer) => {
      let bytes = 0;
      answer.on("data", (chunk: Buffer) => (bytes += chunk.length));
      answer.on("end", () => {
        resolve({ status: answer.statusCode!, headers: answer.headers, bytes });
      });
    }).on("error", reject);
  });

for (const [path, most] of [
  ["/openapi.json", 60_000],
  ["/docs/swagger-ui-bundle.js", 500_000],
] as const) {
  test(`${path} is compressed, kept for an hour, and sent once to a client`, async (t) => {
    const from = { "x-forwarded-for": "198.51.100.1" };
    for (const encoding of ["br", "gzip"]) {
      const { status, headers, bytes } = await read(path, { ...from, "accept-encoding": encoding });
      t.is(status, 200);
      t.is(headers["content-encoding"], encoding);
      t.true(bytes < most, `${bytes} bytes`);
      t.regex(String(headers["cache-control"]), /^public, max-age=3600\b/);
      const again = await read(path, { ...from, "if-none-match": String(headers.etag) });
      t.deepEqual([again.status, again.bytes], [304, 0]);
    }
    const plain = await read(path, from);
    t.is(plain.headers["content-encoding"], undefined);
    t.is(plain.bytes, Number(plain.headers["content-length"]));
  });

  test(`429: ${path} counts as a public read`, async (t) => {
    const headers = { "x-forwarded-for": path.length > 13 ? "198.51.100.2" : "198.51.100.3" };
    const statuses = new Set<number>();
    for (let request = 0; request <= 60; request++) {
      statuses.add((await read(path, headers)).status);
    }
    t.deepEqual([...statuses], [200, 429]);
  });
}

test("404: metrics are for the machine itself", async (t) => {
  const metrics = (address: string) =>
    call("GET", "/metrics", { headers: { "x-forwarded-for": address } });
  for (const address of ["127.0.0.1", "127.1.2.3", "::1", "::ffff:127.0.0.1"]) {
    t.is((await metrics(address)).status, 200, address);
  }
  for (const address of ["198.51.100.4", "10.0.0.1", "2001:db8::1", "nonsense"]) {
    const { status, body } = await metrics(address);
    t.is(status, 404, address);
    t.deepEqual(body, { error: "Not found" });
  }
});

test("a list has addresses and networks", (t) => {
  const list = addressList("10.1.0.0/16, 192.0.2.7,2001:db8::/32");
  for (const address of ["10.1.2.3", "::ffff:10.1.2.3", "192.0.2.7", "2001:db8:1::2"]) {
    t.true(list(address), address);
  }
  for (const address of ["10.2.0.0", "192.0.2.8", "2001:db9::"]) t.false(list(address), address);
});
