import test from "ava";
import { parseCurl } from "./curl.ts";
import { withDemo } from "./demo.ts";
import { readDocument } from "./document.ts";
import { layOut, runHttpDocument, shownOf } from "./http_document.ts";

for (const path of ["docs/http_guide.md", "docs/bots.md"]) {
  test(`the answers to the curl lines of ${path}`, async (t) => {
    await withDemo(async (world) => {
      await runHttpDocument(t, readDocument(path), world);
    });
  });
}

test("a curl command is read as the shell and curl would", (t) => {
  const command = `curl -si -X DELETE "$BASE/x?a=1&b=2" -H "Authorization: Bearer $KEY" -d '{"a":"'$ID'"}'`;
  t.deepEqual(parseCurl(command, { BASE: "http://h", KEY: "k", ID: "7" }), {
    method: "DELETE",
    url: "http://h/x?a=1&b=2",
    headers: { Authorization: "Bearer k" },
    body: '{"a":"7"}',
  });
  t.is(parseCurl("curl http://h -d {}", {}).method, "POST");
  t.is(parseCurl("curl http://h", {}).method, "GET");
  t.throws(() => parseCurl("curl $BASE", {}), { message: "$BASE is not set" });
  t.throws(() => parseCurl("curl --json {} http://h", {}));
});

test("an example may leave something out", (t) => {
  const body = {
    a: [
      { b: 1, c: 2 },
      { b: 3, c: 4 },
    ],
    d: { e: 5, f: null },
    g: "h",
  };
  t.deepEqual(shownOf(body, undefined), body);
  t.deepEqual(shownOf(body, { a: [], d: {} }), body);
  const shown = shownOf(body, { a: [{ b: 9, "...": 0 }, "..."], d: { f: 0, "...": 0 }, "...": 0 });
  t.is(layOut(shown, ""), '{ "a": [{ "b": 1, ... }, ...], "d": { "f": null, ... }, ... }');
});

test("JSON is laid out on few lines", (t) => {
  t.is(
    layOut({ a: [1, null, "x"], b: {}, c: [] }, ""),
    '{ "a": [1, null, "x"], "b": {}, "c": [] }',
  );
  const long = "x".repeat(60);
  t.is(
    layOut([{ a: long, b: long }], ""),
    `[\n  {\n    "a": "${long}",\n    "b": "${long}"\n  }\n]`,
  );
  t.is(
    layOut({ a: 1, b: { c: 2 }, d: [long, long], e: 3, f: null }, ""),
    `{\n  "a": 1, "b": { "c": 2 },\n  "d": [\n    "${long}",\n    "${long}"\n  ],\n  "e": 3, "f": null\n}`,
  );
});
