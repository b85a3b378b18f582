import { readFileSync, readdirSync } from "node:fs";
import { join, resolve } from "node:path";

/** The root of the checkout. */
export const rootDirectory = resolve(import.meta.dirname, "../..");

/** Lets a process keep what it compiled: to compile a server anew takes as long as to start it. */
export const compileCache = {
  NODE_COMPILE_CACHE: join(rootDirectory, "node_modules/.cache/compiled_tests"),
};

const notOurs = new Set(["node_modules", ".git", ".data", "dist"]);

/** The files of the checkout under a folder, by path from the root; links are not followed. */
export function listFiles(folder = ""): string[] {
  return readdirSync(join(rootDirectory, folder), { withFileTypes: true })
    .flatMap((entry) => {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) return notOurs.has(entry.name) ? [] : listFiles(path);
      return entry.isFile() ? [path] : [];
    })
    .sort();
}

/** The text of one of them. */
export function readText(path: string): string {
  return readFileSync(join(rootDirectory, path), "utf8");
}
