import type { Result } from "../../api/result.ts";
import { users } from "../views/people.ts";
import { fieldsOf, FILE_ROWS, PAGE_ROWS, rowsQuery, textIn, usersQuery } from "../views/query.ts";
import type { Row } from "../views/query.ts";
import type { Condition, View } from "../views/view.ts";
import { ask } from "./graphql.ts";
import { isUuid } from "./values.ts";

/** Asks for the rows of declared views. */

/** One row, or undefined if there is none. */
export async function askForRow(
  view: View,
  condition: Condition,
  more = "",
): Promise<Result<Row | undefined>> {
  const query = `query Row($filter: ${view.type}Filter) {
    rows: ${view.list}(first: 1, filter: $filter) { nodes { ${fieldsOf(view.columns)} ${more} } }
  }`;
  const result = await ask<{ rows: { nodes: Row[] } }>(query, { filter: condition });
  return result.ok ? { ok: true, data: result.data.rows.nodes[0] } : result;
}

/** All rows of a short list. */
export async function askForRows(view: View): Promise<Result<Row[]>> {
  const variables = { first: FILE_ROWS, orderBy: [view.order] };
  const result = await ask<{ rows: { nodes: Row[] } }>(rowsQuery(view, undefined), variables);
  return result.ok ? { ok: true, data: result.data.rows.nodes } : result;
}

/** The user with an id, a handle or an e-mail address; undefined if there is none. */
export async function askForUser(name: string): Promise<Result<Row | undefined>> {
  const typed = name.toLowerCase();
  const filter: Condition = isUuid(typed)
    ? { userId: { equalTo: typed } }
    : { or: [{ handle: { in: [name, typed] } }, { email: { startsWithInsensitive: name } }] };
  const variables = { first: PAGE_ROWS, orderBy: [users.order], filter };
  const result = await ask<{ rows: { nodes: Row[] } }>(rowsQuery(users, filter), variables);
  if (!result.ok) return result;
  const isNamed = (user: Row): boolean =>
    ["userId", "handle", "email"].some((field) => textIn(user, field).toLowerCase() === typed);
  return { ok: true, data: result.data.rows.nodes.find(isNamed) };
}

/** The ids of users by their handles and addresses, which the answer has in small letters. */
export async function askForUserIds(
  names: readonly string[],
): Promise<Result<Map<string, string>>> {
  const ids = new Map<string, string>();
  for (let from = 0; from < names.length; from += FILE_ROWS) {
    const variables = { first: FILE_ROWS, names: names.slice(from, from + FILE_ROWS) };
    const result = await ask<{ users: { nodes: Row[] } }>(usersQuery, variables);
    if (!result.ok) return result;
    for (const user of result.data.users.nodes) {
      const id = textIn(user, "userId");
      for (const field of ["handle", "email"]) ids.set(textIn(user, field).toLowerCase(), id);
    }
  }
  return { ok: true, data: ids };
}
