import test from "ava";
import { makeFrameParser } from "../../src/client/sse_parser.ts";
import type { Frame } from "../../src/client/sse_parser.ts";
import { effort, randomFrom } from "../helpers/random.ts";

/** Frames do not depend on where chunks are cut, nor on how lines end. */

const bytesOf = (text: string) => new TextEncoder().encode(text);

/** Parses bytes in chunks that end at these places. */
function parse(bytes: Uint8Array, cuts: number[] = []): Frame[] {
  const parser = makeFrameParser();
  const ends = [...cuts, bytes.length].sort((a, b) => a - b);
  let from = 0;
  return ends.flatMap((end) => {
    const frames = parser(bytes.subarray(from, end));
    from = end;
    return frames;
  });
}

const stream = [
  'id: 41\ndata: {"type":"connected"}\n\n',
  ": ping\n\n",
  'data: {"title":"Regnet\'s? \u{1F327} \u20ac"}\nid: 42\n\n',
  "id: 43\n\n",
  "event: x\nretry: 5\ndata:one\ndata: two\ndata\nunknown: y\n\n",
  "data:  two spaces\n\n",
  "id: a\0b\ndata: 7\n\n",
  "\n\n",
].join("");

const expected: Frame[] = [
  { id: "41", data: '{"type":"connected"}' },
  { id: "42", data: '{"title":"Regnet\'s? \u{1F327} \u20ac"}' },
  { id: "43", data: undefined },
  { id: undefined, data: "one\ntwo\n" },
  { id: undefined, data: " two spaces" },
  { id: undefined, data: "7" },
];

for (const [name, end] of Object.entries({ LF: "\n", CRLF: "\r\n", CR: "\r" })) {
  test(`frames with ${name}, cut at every place and at random ones`, (t) => {
    const random = randomFrom(`sse ${name}`);
    const bytes = bytesOf(stream.replaceAll("\n", end));
    t.deepEqual(parse(bytes), expected);
    for (let cut = 0; cut <= bytes.length; cut++) t.deepEqual(parse(bytes, [cut]), expected);
    const everywhere = [...bytes.keys()];
    t.deepEqual(parse(bytes, everywhere), expected, "byte by byte");
    for (let round = 0; round < effort(200); round++) {
      const share = random.next();
      t.deepEqual(
        parse(
          bytes,
          everywhere.filter(() => random.chance(share)),
        ),
        expected,
      );
    }
  });
}

test("a frame that is cut off is none, and its id does not count", (t) => {
  t.deepEqual(parse(bytesOf("data: 1\n\nid: 9\ndata: 2\n")), [{ id: undefined, data: "1" }]);
  t.deepEqual(parse(bytesOf("id: 9")), []);
});

test("a byte order mark at the beginning is left out", (t) => {
  t.deepEqual(parse(bytesOf("\ufeffdata: 1\n\n")), [{ id: undefined, data: "1" }]);
});
