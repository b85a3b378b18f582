import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeDocument } from "../src/api/openapi.ts";
import { routes } from "../src/api/routes.ts";

/** Makes docs/http.md from the OpenAPI document: `npm run docs:http`. */

/** What is read here of a JSON schema. */
interface Schema {
  $ref?: string;
  type?: string | string[];
  format?: string;
  enum?: unknown[];
  const?: string | boolean;
  default?: unknown;
  description?: string;
  minimum?: number;
  maximum?: number;
  minItems?: number;
  maxItems?: number;
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  anyOf?: Schema[];
  oneOf?: Schema[];
}

interface Response {
  description: string;
  headers?: Record<string, unknown>;
  content: Record<string, { schema: Schema; examples?: Record<string, unknown> }>;
}

interface Parameter {
  in: string;
  name: string;
  schema: Schema;
}

interface Operation {
  tags: string[];
  summary: string;
  description?: string;
  /** The scopes that are needed, by the kind of credential. */
  security: Record<string, string[]>[];
  parameters?: Parameter[];
  requestBody?: { content: Record<string, { schema: Schema }> };
  responses: Record<string, Response>;
}

interface OpenApi {
  tags: { name: string; description: string }[];
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema> };
}

/** A line of a table of fields. */
interface Field {
  name: string;
  type: string;
  notes: string;
}

const introduction = `# The HTTP interface

All routes, with what they take and answer. This page is made from the OpenAPI document (\`GET /openapi.json\`) by \`npm run docs:http\`; do not edit it. [http_guide.md](http_guide.md) has the rules that hold for all routes, and an example of each. [errors.md](errors.md) explains the codes.

"Key read" and "key trade" need the header \`Authorization: Bearer <API key>\` and that [scope](http_guide.md#api-keys) of the key, "token" the same header with a token of a session, "session" the cookie of the website. A read for "everybody" may be sent with a token, and then [counts for its user](http_guide.md#rate-limits). A [schema](#schemas) that several routes use is described once, at the end. Every route may also answer 431 and 500; a route with a limit 429; one with a key 401 or 403 \`KEY_SCOPE\`; one with a body or a query 400 \`INVALID_REQUEST\`; a command 503 \`CONFLICT_RETRY\` or \`OUTCOME_UNKNOWN\`, and a read 503. Any other path is 404 \`Not found\`. Analysts and operators have [GraphQL](operating.md#graphql) too.`;

/** The text of docs/http.md. */
export function makePage(): string {
  const document = makeDocument(routes) as unknown as OpenApi;
  const writer = makeWriter(document);
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      name: `${method.toUpperCase()} ${path.replaceAll(/\{(\w+)\}/g, ":$1")}`,
      operation,
    })),
  );
  const sections = document.tags.flatMap((tag) => {
    const ofTag = operations.filter(({ operation }) => operation.tags.includes(tag.name));
    const index = ofTag.map(({ name, operation }) => [
      linkTo(name),
      callerOf(operation),
      operation.summary,
    ]);
    return [
      `## Routes: ${tag.name}`,
      sentence(tag.description),
      table(["Route", "Who", "What"], index),
      ...ofTag.map(({ name, operation }) => writer.describeRoute(name, operation)),
    ];
  });
  const headings = [...document.tags.map(({ name }) => `Routes: ${name}`), "Schemas"];
  const contents = headings.map((heading) => `- ${linkTo(heading)}`).join("\n");
  return `${joined([introduction, contents, ...sections, writer.describeSchemas()])}\n`;
}

function makeWriter({ components }: OpenApi) {
  const { fieldsOf, placeOf, typeOf } = makeFieldWriter(() => current);
  /** The named schemas that have their tables already. */
  const described: [string, Schema][] = [];
  let current = "";

  function describeRoute(name: string, operation: Operation): string {
    current = linkTo(name);
    // The path shows its id.
    const parameters = (operation.parameters ?? []).filter((parameter) => parameter.name !== "id");
    const body = operation.requestBody?.content["application/json"]?.schema;
    const problems = problemsOf(operation);
    return joined([
      `### ${name}`,
      [operation.summary, operation.description ?? ""].filter(isFilled).map(sentence).join(" "),
      parameters.length === 0 ? "" : tableOf("Parameter", parameters.map(parameterField)),
      body ? withFields("**Body**", body) : "",
      ...answersOf(operation)
        .filter(([, response]) => !isProblem(response))
        .map(([status, response]) => responseOf(status, response)),
      problems.length === 0 ? "" : `Errors: ${problems.join(", ")}.`,
    ]);
  }

  function parameterField({ name, schema, ...parameter }: Parameter): Field {
    const shownName = parameter.in === "path" ? `:${name}` : name;
    return { name: shownName, type: typeOf(schema), notes: notesOf(schema) };
  }

  function responseOf(status: string, { description, headers, content }: Response): string {
    const more = Object.keys(headers ?? {}).filter((header) => !/^X-R|^Cache|^ETag/.test(header));
    const heading = [
      `**${status}**`,
      sentence(description),
      ...more.map((header) => `Header \`${header}\`.`),
    ].join(" ");
    const [body] = Object.entries(content);
    const isText =
      body === undefined || (body[0] !== "application/json" && body[1].schema.type === "string");
    return isText ? heading : withFields(heading, body[1].schema);
  }

  /** A heading with the fields of a schema, or with a link to them. */
  function withFields(heading: string, schema: Schema): string {
    const name = nameOf(schema);
    if (name !== undefined) return `${heading} ${link(name)}.`;
    const first = placeOf(schema);
    if (first === undefined) return fieldsOf(schema, heading);
    return `${heading} ${first === current ? "The same fields." : `The fields of ${first}.`}`;
  }

  function describeSchemas(): string {
    const parts = Object.entries(components.schemas).map(([name, schema]) => {
      current = link(name);
      const variants = schema.anyOf ?? [];
      const whole = variants.length === 2 ? merge(variants) : schema;
      const isCode = schema.enum !== undefined;
      const about = isCode ? [`${typeOf(schema)}: ${notesOf(schema)}.`] : fieldsBeyond(whole);
      const part = joined([`### ${name}`, ...about]);
      described.push([name, whole]);
      return part;
    });
    return joined(["## Schemas", ...parts]);
  }

  /** The fields of a schema; those that an earlier one has too are only named. */
  function fieldsBeyond(schema: Schema): string[] {
    const { properties = {}, required = [] } = schema;
    const sharedWith = (other: Schema): string[] =>
      Object.keys(properties).filter(
        (key) =>
          JSON.stringify(properties[key]) === JSON.stringify(other.properties?.[key]) &&
          required.includes(key) === other.required?.includes(key),
      );
    const [nearest] = described
      .map(([name, other]) => ({ name, same: sharedWith(other) }))
      .filter(({ same }) => same.length > 5)
      .sort((one, other) => other.same.length - one.same.length);
    if (nearest === undefined) return [fieldsOf(schema, "")];
    const { name, same } = nearest;
    const names = same.map((key) => `\`${key}\``).join(", ");
    const rest = Object.entries(properties).filter(([key]) => !same.includes(key));
    const more =
      rest.length === 0 ? "" : fieldsOf({ properties: Object.fromEntries(rest), required }, "");
    return [`As of ${link(name)}: ${names}.`, more];
  }

  return { describeRoute, describeSchemas };
}

/** Writes the fields of schemas. One that was shown before is a link to where, such as `current()`. */
function makeFieldWriter(current: () => string) {
  /** Where an inline schema was shown first. */
  const shown = new Map<string, string>();

  /** Where this inline schema was shown; unless it was, it is from now on. */
  function placeOf(schema: Schema): string | undefined {
    const key = JSON.stringify(schema);
    const first = shown.get(key);
    if (first === undefined) shown.set(key, current());
    return first;
  }

  /** The fields of a schema below a heading; a few short ones beside it. */
  function fieldsOf(schema: Schema, heading: string): string {
    const variants = schema.oneOf ?? schema.anyOf ?? [];
    if (variants.length > 2) return joined([heading, variants.map(variantLine).join("\n")]);
    const fields = flatten(variants.length > 0 ? merge(variants) : schema, "");
    const line = fields.map(({ name, type, notes }) => {
      return `\`${name}\` (${[type, notes].filter(isFilled).join("; ")})`;
    });
    const isShort = fields.length < 3 && line.join().length < 150;
    return isShort
      ? [heading, `${line.join(", ")}.`].filter(isFilled).join(" ")
      : joined([heading, tableOf("Field", fields)]);
  }

  function flatten({ properties = {}, required = [] }: Schema, prefix: string): Field[] {
    return Object.entries(properties).flatMap(([key, property]) => {
      const name = prefix + key;
      const isOptional = !required.includes(key) && property.default === undefined;
      const notes = notesOf(property);
      const type = typeOf(property) + (isOptional ? ", optional" : "");
      const inner = withoutNull(property);
      if (inner.items?.properties) {
        return [{ name, type, notes }, ...flatten(inner.items, `${name}[].`)];
      }
      if (!inner.properties) return [{ name, type, notes }];
      const place = placeOf({ properties: inner.properties });
      if (place !== undefined && place !== current()) {
        return [{ name, type: type.replace("object", `as of ${place}`), notes }];
      }
      const isPlain = inner === property && !isOptional && notes === "";
      return [...(isPlain ? [] : [{ name, type, notes }]), ...flatten(inner, `${name}.`)];
    });
  }

  function typeOf(schema: Schema): string {
    const name = nameOf(schema);
    if (name !== undefined) return link(name);
    const variants = schema.anyOf ?? schema.oneOf;
    if (variants) return unionOf(variants.map(typeOf));
    if (schema.const !== undefined) return `\`${String(schema.const)}\``;
    if (schema.enum) return schema.enum.map((value) => `\`${String(value)}\``).join(", ");
    const first = shown.get(JSON.stringify(schema));
    if (first !== undefined && schema.properties) return `as of ${first}`;
    if (schema.items) {
      const items = schema.items.properties ? "objects" : typeOf(schema.items);
      return `array${bounds(schema.minItems, schema.maxItems)} of ${items}`;
    }
    if (schema.format === "uuid") return "UUID";
    if (schema.format === "date-time") return "time";
    const types = [schema.type ?? "any"].flat();
    return types
      .map((type) => (type === "null" ? type : type + bounds(schema.minimum, schema.maximum)))
      .join(" or ");
  }

  return { fieldsOf, placeOf, typeOf };
}

/** One of many forms: its name, when it comes, and its fields. */
function variantLine({ properties = {} }: Schema): string {
  const { type = {}, ...others } = properties;
  const names = Object.keys(others).map((name) => `\`${name}\``);
  const when = type.description === undefined ? "" : ` (${type.description})`;
  return `- \`${String(type.const)}\`${when}${names.length > 0 ? `: ${names.join(", ")}` : ""}`;
}

function unionOf(types: string[]): string {
  const isBoolean =
    types.includes("boolean") || (types.includes("`true`") && types.includes("`false`"));
  const plain = isBoolean
    ? types.map((type) => (/^`(?:true|false)`$/.test(type) ? "boolean" : type))
    : types;
  return [...new Set(plain)].join(" or ");
}

/** Two forms of one object as one: what only one of them has is optional. */
function merge(variants: Schema[]): Schema {
  const names = [...new Set(variants.flatMap(({ properties }) => Object.keys(properties ?? {})))];
  const properties = names.map((name): [string, Schema] => {
    const found = variants.flatMap((variant) => variant.properties?.[name] ?? []);
    const [first = {}, ...others] = found;
    const isSame = others.every((other) => JSON.stringify(other) === JSON.stringify(first));
    const { description } = first;
    return [
      name,
      isSame ? first : { anyOf: found, ...(description !== undefined && { description }) },
    ];
  });
  const required = names.filter((name) =>
    variants.every((variant) => variant.required?.includes(name)),
  );
  return { properties: Object.fromEntries(properties), required };
}

/** What a route answers, but for a 304: its body is known. */
function answersOf({ responses }: Operation): [status: string, Response][] {
  return Object.entries(responses).filter(([status]) => status !== "304");
}

function problemsOf(operation: Operation): string[] {
  const general =
    /^(?:INVALID_REQUEST|unauthorized|KEY_SCOPE|too-many|internal-server|service-unav|CONFLICT_RETRY|OUTCOME_UNK|the-body-is|request-header)/;
  return answersOf(operation).flatMap(([status, { content }]) =>
    Object.entries(content["application/json"]?.examples ?? {})
      .filter(([name]) => !general.test(name))
      .map(([, example]) => {
        const { value } = example as { value: { code?: string; error: string } };
        return `${status} \`${value.code ?? value.error}\``;
      }),
  );
}

const isProblem = ({ content }: Response): boolean =>
  content["application/json"]?.examples !== undefined;

function callerOf({ security }: Operation): string {
  const [needed] = security;
  if (needed === undefined || Object.keys(needed).length === 0) return "everybody";
  return Object.entries(needed)
    .map(([kind, scopes]) => [kind, ...scopes].join(" "))
    .join();
}

const nameOf = ({ $ref }: Schema): string | undefined => $ref?.replace(/.*\//, "");

const link = (name: string): string => `[${name}](#${name.toLowerCase()})`;

const linkTo = (route: string): string => `[${route}](#${anchorOf(route)})`;

const joined = (parts: string[]): string => parts.filter(isFilled).join("\n\n");

const isFilled = (text: string): boolean => text !== "";

const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\w\- ]/g, "")
    .replaceAll(" ", "-");

/** The schema of what is not null. */
function withoutNull(schema: Schema): Schema {
  const [first, second, third] = schema.anyOf ?? [];
  const isNullable = first !== undefined && second?.type === "null" && third === undefined;
  return isNullable ? first : schema;
}

/** What the type does not say: the default, and the description with it. */
function notesOf(schema: Schema): string {
  const description = schema.description ?? withoutNull(schema).description;
  const value = schema.default;
  const usual =
    value === undefined
      ? []
      : [`default ${typeof value === "string" ? `\`${value}\`` : JSON.stringify(value)}`];
  return [...usual, ...(description === undefined ? [] : [description])].join("; ");
}

function bounds(least: number | undefined, most: number | undefined): string {
  if (most === undefined || most >= 2 ** 31 - 1) return least === undefined ? "" : ` from ${least}`;
  return least === undefined ? ` up to ${most}` : ` ${least}-${most}`;
}

const sentence = (words: string): string => (/[.!]$/.test(words) ? words : `${words}.`);

function tableOf(title: string, fields: Field[]): string {
  return table(
    [title, "Type", "Notes"],
    fields.map(({ name, type, notes }) => [`\`${name}\``, type, notes]),
  );
}

function table(headings: string[], rows: string[][]): string {
  const line = (cells: string[]): string => `| ${cells.join(" | ")} |`.replaceAll(/ +\|/g, " |");
  return [line(headings), `|${"---|".repeat(headings.length)}`, ...rows.map(line)].join("\n");
}

if (import.meta.main) writeFileSync(join(import.meta.dirname, "http.md"), makePage());
