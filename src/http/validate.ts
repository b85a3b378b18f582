import type { z } from "zod";
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
