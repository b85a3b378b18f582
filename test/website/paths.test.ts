import test from "ava";
import { isPagePath, pageAt } from "../../src/website/paths.ts";

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
