import test from "ava";
import { routes } from "../../src/api/routes.ts";
import { readDocument } from "./document.ts";

test("docs/http_guide.md and docs/bots.md call every route of the interface", (t) => {
  const calls = ["docs/http_guide.md", "docs/bots.md"]
    .flatMap((path) => readDocument(path).blocks)
    .filter(({ language }) => language === "sh")
    .flatMap(({ text }) => text.replaceAll(/\\\n\s*/g, "").split("\n"))
    .filter((line) => line.startsWith("curl "));
  const isCalled = (method: string, path: string): boolean => {
    const pattern = new RegExp(`\\$BASE${path.replaceAll(/:\w+/g, "[^/ ?]+")}(?=["? ]|$)`);
    return calls.some((line) => {
      const [, sent = line.includes(" -d ") ? "POST" : "GET"] = / -X (\w+)/.exec(line) ?? [];
      return sent === method.toUpperCase() && pattern.test(line);
    });
  };
  const missing = routes
    .filter(({ path }) => path.startsWith("/api/v1/"))
    .filter(({ method, path }) => !isCalled(method, path))
    .map(({ method, path }) => `${method} ${path}`);
  t.deepEqual(missing, []);
});
