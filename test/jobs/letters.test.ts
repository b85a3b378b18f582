import test from "ava";
import { compose } from "../../src/mail/compose.ts";

/** What others have chosen does not change how a mail reads, and has no host to click on. */

/** A mail without a link, as lines. */
function linesOf(kind: string, details: object): string[] {
  const mail = { mailId: 1, kind, address: "a@b.example", details: JSON.stringify(details) };
  return compose(mail, { siteUrl: "https://site.example", token: "" }).text.split("\n");
}

const FIELDS = [
  ["new_sign_in", "browser"],
  ["new_key", "name"],
  ["passkey_added", "name"],
  ["passkey_removed", "name"],
  ["email_change_asked", "email"],
  ["dispute_answered", "title"],
] as const;

test("a text has no characters that break a line, or hide or reorder what is around it", (t) => {
  const codes = [0x00, 0x0a, 0x0d, 0x1b, 0x7f, 0x85, 0xad, 0x061c, 0x200b, 0x200e, 0x200f];
  codes.push(0x2028, 0x2029, 0x202a, 0x202e, 0x2060, 0x2066, 0x2069, 0xfeff, 0xe0041);
  for (const [kind, field] of FIELDS) {
    const count = linesOf(kind, { [field]: "a b" }).length;
    for (const code of codes) {
      const lines = linesOf(kind, { [field]: `a${String.fromCodePoint(code)}b` });
      t.is(lines.length, count, `${kind} ${code}`);
      t.true(
        lines.some((line) => line.endsWith("a b")),
        `${kind} ${code}`,
      );
    }
  }
});

test("a hidden character does not save the beginning of a link", (t) => {
  for (const [kind, field] of FIELDS) {
    const text = linesOf(kind, { [field]: "x ht\u200btps://h HTTPS://h www.h <b>" }).join("\n");
    t.notRegex(text, /https?:|www\.|[<>\u200b]/i);
  }
});

test("a name and a browser have no host; versions of a browser stay as they are", (t) => {
  for (const [kind, field] of FIELDS.slice(0, 4)) {
    const text = linesOf(kind, { [field]: "revoke at evil.example/x or мошенник.рф" }).join("\n");
    t.true(text.includes("evil. example/x or мошенник. рф"), text);
  }
  const browser = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36";
  t.true(linesOf("new_sign_in", { browser }).includes(`Browser: ${browser}`));
});

test("what programs read as a dot or as slashes makes no host either", (t) => {
  for (const [kind, field] of FIELDS.slice(0, 4)) {
    for (const dot of [".", "\u2024", "\u3002", "\uff0e", "\uff61"]) {
      const text = linesOf(kind, { [field]: `go to evil${dot}com/login` }).join("\n");
      t.true(text.includes(`evil${dot} com/login`), text);
    }
  }
  for (const [slashes, broken] of [
    ["//", "/ /"],
    ["///", "/ / /"],
    ["\\\\", "\\ \\"],
    ["/\uff0f", "/ \uff0f"],
  ]) {
    const text = linesOf("new_key", { name: `${slashes}evil/com` }).join("\n");
    t.true(text.includes(`${broken}evil/com`), text);
  }
});
