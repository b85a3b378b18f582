import type { Problem } from "./result.ts";

type Issue = NonNullable<Problem["issues"]>[number];

/** The fields of requests, as pages name them. */
const names: Record<string, string> = {
  allowedAddresses: "Each address",
  avatarUrl: "The address of the picture",
  budgetCents: "The budget",
  currentPassword: "The password",
  dayCents: "The limit of a day",
  displayName: "The name",
  email: "The e-mail address",
  expiresAt: "The time",
  handle: "The handle",
  monthCents: "The limit of a month",
  name: "The name",
  newPassword: "The new password",
  password: "The password",
  price: "The price",
  quantity: "The number of shares",
  weekCents: "The limit of a week",
};

/** The field that an issue is about; of a list, the list. */
export function fieldOf(path: string): string {
  return path.replace(/\..*/, "");
}

/** An issue behind the name of its field. */
export function issueSentence(subject: string, message: string): string {
  return `${subject} ${message === "required" ? "is required" : message}.`;
}

/**
 * What is wrong with a request, for people: nothing names a field as programs do. Undefined where the
 * server named no field.
 */
export function issueWords(
  problem: Pick<Problem, "code" | "error" | "issues">,
): string | undefined {
  const first = problem.issues === undefined ? issueIn(problem) : problem.issues[0];
  if (first === undefined || first.path === "") return undefined;
  return issueSentence(names[fieldOf(first.path)] ?? "This", first.message);
}

/** The issue that an error is about: that of a preview comes without its list. */
function issueIn({ code, error }: Pick<Problem, "code" | "error">): Issue | undefined {
  const [, path, message] = /^([\w.]+): (.*)$/.exec(error) ?? [];
  if (code !== "INVALID_REQUEST" || path === undefined || message === undefined) return undefined;
  return { path, message };
}
