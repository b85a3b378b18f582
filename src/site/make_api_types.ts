import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import openapiTypescript, { astToString } from "openapi-typescript";
import { makeDocument } from "../api/openapi.ts";
import { routes } from "../api/routes.ts";
import { sourceDirectory } from "./build.ts";

/**
 * Makes src/website/api/schema.d.ts from our own OpenAPI document: the types of the website's API
 * client. Only the compiler and the linter read them, and they run this first.
 */
type Source = Parameters<typeof openapiTypescript>[0];

const document = JSON.parse(JSON.stringify(makeDocument(routes))) as Source;
const types = await openapiTypescript(document, { defaultNonNullable: false });
await writeFile(join(sourceDirectory, "api/schema.d.ts"), astToString(types));
