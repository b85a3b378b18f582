import { readFile, rename, writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import openapiTypescript, { astToString } from "openapi-typescript";
import { makeDocument } from "../api/openapi.ts";
import { routes } from "../api/routes.ts";

const typesFile = resolve(import.meta.dirname, "../client/schema.d.ts");

/** Our own OpenAPI document, as JSON. */
export function documentText(): string {
  return JSON.stringify(makeDocument(routes));
}

/**
 * Makes src/client/schema.d.ts from our own OpenAPI document: the types of the client and of the
 * website. Returns its path.
 */
export async function writeApiTypes(): Promise<string> {
  const document = JSON.parse(documentText()) as Parameters<typeof openapiTypescript>[0];
  const text = astToString(await openapiTypescript(document, { defaultNonNullable: false }));
  const present = await readFile(typesFile, "utf8").catch(() => undefined);
  if (present === text) return typesFile;
  // In one step, since other processes may read it.
  const fresh = `${typesFile}.${process.pid}`;
  await writeFile(fresh, text);
  await rename(fresh, typesFile);
  return typesFile;
}
