import { z } from "zod";
import { invalidRequest, ProblemError } from "./problems.ts";

/** The value as the schema returns it. Ends the request with all issues if the value is invalid. */
export function validate<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
): z.output<Schema> {
  const result = schema.safeParse(value, { error: inWords });
  if (result.success) return result.data;
  const issues = result.error.issues.map((issue) => ({
    path: issue.path.join("."),
    message: issue.path.length === 0 ? "The body must be a JSON object" : issue.message,
  }));
  throw new ProblemError(invalidRequest(issues));
}

/** Ends the request if a value has fields that its schema does not know. */
export function rejectUnknownFields(schema: z.ZodType, value: unknown): void {
  const paths = unknownFields(schema, value, "");
  if (paths.length === 0) return;
  throw new ProblemError(invalidRequest(paths.map((path) => ({ path, message: "unknown field" }))));
}

/** The paths of fields that the schema does not know: "price2", "orders.3.size". */
function unknownFields(schema: z.core.$ZodType, value: unknown, path: string): string[] {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable) {
    return unknownFields(schema.unwrap(), value, path);
  }
  if (schema instanceof z.ZodArray && Array.isArray(value)) {
    return value.flatMap((item, index) => unknownFields(schema.element, item, `${path}${index}.`));
  }
  if (!(schema instanceof z.ZodObject) || typeof value !== "object" || value === null) return [];
  const shape = schema.shape as Record<string, z.core.$ZodType>;
  return Object.entries(value).flatMap(([name, field]) => {
    const known = Object.hasOwn(shape, name) ? shape[name] : undefined;
    if (known === undefined) return [path + name];
    return unknownFields(known, field, `${path}${name}.`);
  });
}

/** What is wrong with a value, to be read after its name. */
function inWords(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.code === "invalid_format") return formatsInWords.get(issue.format);
  if (issue.code === "too_small") return `must be at least ${issue.minimum}`;
  if (issue.code === "too_big") return `must be at most ${issue.maximum}`;
  if (issue.code !== "invalid_type" && issue.code !== "invalid_value") return undefined;
  if (issue.input === undefined) return "required";
  return issue.code === "invalid_value"
    ? `must be one of ${issue.values.join(", ")}`
    : `must be ${withArticle(issue.expected)}`;
}

const formatsInWords = new Map([
  ["guid", "must be a UUID"],
  ["datetime", "must be an ISO 8601 date and time with seconds and a time zone"],
]);

function withArticle(type: string): string {
  if (type === "int" || type === "number") return "an integer";
  return /^[aeiou]/.test(type) ? `an ${type}` : `a ${type}`;
}
