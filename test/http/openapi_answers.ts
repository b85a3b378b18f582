import { Ajv2020 } from "ajv/dist/2020.js";
import formats from "ajv-formats";
import { makeDocument } from "../../src/api/openapi.ts";
import { routes } from "../../src/api/routes.ts";
import type { Answer } from "../helpers/http/test_service.ts";

/** Whether an answer may lack a header that its response has in the document. */
const isOptional = (name: string, { $ref }: { $ref: string }): boolean =>
  name === "Retry-After" || $ref.endsWith(".optional");

/** Answers held against the OpenAPI document. */
export interface AnswerCheck {
  /** What is wrong with an answer; empty when it is as the document says. */
  faultsOf: (method: string, path: string, answer: Answer) => string[];
  /** The answers met so far: "placeOrder 201". */
  met: Set<string>;
}

/** The document, with objects that have no field beside those that it names: ours have none. */
const document: any = JSON.parse(JSON.stringify(makeDocument(routes)), (_key, value) =>
  value?.type === "object" && value.properties !== undefined && !("additionalProperties" in value)
    ? { ...value, additionalProperties: false }
    : value,
);

/** Of the headers in the document, an answer of success has those of its response and no others. */
export function checkAnswers(): AnswerCheck {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  formats.default(ajv);
  ajv.addSchema(document, "openapi");
  const met = new Set<string>();

  function faultsOf(method: string, url: string, answer: Answer): string[] {
    const found = operationAt(method, url);
    if (found === undefined) return ["no such operation"];
    const { operation, pointer } = found;
    const response = operation.responses[answer.status];
    const name = `${operation.operationId} ${answer.status}`;
    if (response === undefined) return [`${name} is not in the document`];
    met.add(name);

    const headers = [
      ...Object.entries<{ $ref: string }>(response.headers)
        .filter(([header, given]) => !isOptional(header, given) && !answer.headers.has(header))
        .map(([header]) => `${name} lacks header ${header}`),
      ...Object.keys(document.components.headers)
        .map((component) => component.replace(".optional", ""))
        .filter((header) => answer.headers.has(header) && !(header in response.headers))
        .filter(() => answer.status < 300)
        .map((header) => `${name} has the header ${header}`),
    ];
    if (response.content === undefined)
      return answer.body === "" ? headers : [...headers, "a body"];
    const type = answer.headers.get("content-type")?.split(";")[0] ?? "";
    if (response.content[type] === undefined) return [...headers, `${name} is ${type}`];
    const schema = `${pointer}/responses/${answer.status}/content/${escape(type)}/schema`;
    const validate = ajv.compile({ $ref: `openapi#${schema}` });
    if (validate(answer.body)) return [...headers, ...otherText(name, response, answer)];
    const faults = validate.errors!.map((error) => `${error.instancePath} ${error.message!}`);
    return [...headers, ...faults.map((fault) => `${name}: ${fault}`)];
  }

  return { faultsOf, met };
}

/** The texts of 404 have no part that varies: each is one of the examples. */
function otherText(name: string, response: any, { status, body }: Answer): string[] {
  if (status !== 404) return [];
  const examples: any[] = Object.values(response.content["application/json"].examples);
  return examples.some(({ value }) => value.error === body.error)
    ? []
    : [`${name} has no example of: ${body.error}`];
}

function operationAt(method: string, url: string) {
  const path = url.split("?")[0]!;
  // A path without parameters comes before one that could be read so.
  const templates = Object.keys(document.paths).sort(
    (a, b) => a.split("{").length - b.split("{").length,
  );
  for (const template of templates) {
    const pattern = new RegExp(`^${template.replaceAll(/\{\w+\}/g, "[^/]+")}$`);
    const operation = document.paths[template][method.toLowerCase()];
    if (pattern.test(path) && operation !== undefined) {
      return { operation, pointer: `/paths/${escape(template)}/${method.toLowerCase()}` };
    }
  }
  return undefined;
}

/** As a JSON pointer in a URI has it. */
function escape(name: string): string {
  return encodeURIComponent(name.replaceAll("~", "~0").replaceAll("/", "~1"));
}
