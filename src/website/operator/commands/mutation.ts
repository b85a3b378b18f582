import { camelCase } from "../api/values.ts";
import type { Command } from "./command.ts";

/** The mutation of a command, with its arguments as the variable `input`. */
export function mutationOf({
  name,
  returns,
  columns = [],
}: Pick<Command, "name" | "returns" | "columns">): string {
  const field = camelCase(name);
  const type = `${field.charAt(0).toUpperCase()}${field.slice(1)}Input`;
  const rows = `result { ${columns.map(({ field }) => field).join(" ")} }`;
  const selected =
    returns === "nothing" ? "clientMutationId" : returns === "rows" ? rows : "result";
  return `mutation Give($input: ${type}!) { answer: ${field}(input: $input) { ${selected} } }`;
}
