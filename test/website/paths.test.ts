import test from "ava";
import { isPagePath, pageAt, returnPathOf } from "../../src/website/paths.ts";

const id = "0193D0A0-0000-7000-8000-00000000000a";

test("a market's path names its id, in lower case", (t) => {
  t.deepEqual(pageAt(`/markets/${id}`), { name: "market", id: id.toLowerCase() });
  t.deepEqual(pageAt("/"), { name: "home", id: "" });
});

test("what is no page has no page", (t) => {
  for (const path of [
    "",
    "//",
    "/Help",
    "/help/",
    "/markets/x",
    `/markets/${id}/x`,
    "/api/v1/me",
  ]) {
    t.false(isPagePath(path), path);
  }
});

test("the way back after signing in is a page of ours, whatever it is asked to be", (t) => {
  const origin = "https://site.example";
  t.is(returnPathOf("/portfolio?tab=fills#x", origin), "/portfolio?tab=fills#x");
  t.is(returnPathOf(`/markets/${id}`, origin), `/markets/${id}`);
  const others = [
    ...[null, "", "portfolio", "https://evil.example/help", "//evil.example/help", "/api/v1/me"],
    ...["/\\", "/\\evil.example/help", "/\t/evil.example/help", "/\t\\", "///", "/\n//["],
  ];
  for (const text of others) t.is(returnPathOf(text, origin), "/", JSON.stringify(text));
});
