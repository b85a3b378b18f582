import { getOperationAST, OperationTypeNode, parse } from "postgraphile/graphql";
import type { GraphQLError } from "postgraphile/graphql";
import { bracketDepthOf } from "./bracket_depth.ts";
import {
  findLongVariables,
  findLongQuery,
  MAX_BRACKET_DEPTH,
  MAX_MUTATION_VARIABLES_CHARACTERS,
  MAX_QUERY_CHARACTERS,
  MAX_TOKENS,
  MAX_VARIABLES_CHARACTERS,
} from "./cost.ts";
import type { GraphqlRequest } from "./execution.ts";

/** Finds what is too long, or too deep to be told to a thread. */
export function findTooLong(
  { query, variables }: GraphqlRequest,
  isMutation: boolean,
): GraphQLError | undefined {
  const most = isMutation ? MAX_MUTATION_VARIABLES_CHARACTERS : MAX_VARIABLES_CHARACTERS;
  return findLongQuery(query) ?? findLongVariables(variables ?? {}, most);
}

/** Whether a mutation is asked for. What can't be parsed is none: it will be refused. */
export function isMutation({
  query,
  operationName,
}: {
  query: string;
  operationName?: string | null | undefined;
}): boolean {
  if (query.length > MAX_QUERY_CHARACTERS || bracketDepthOf(query) > MAX_BRACKET_DEPTH)
    return false;
  try {
    const document = parse(query, { maxTokens: MAX_TOKENS, noLocation: true });
    const operation = getOperationAST(document, operationName);
    return operation?.operation === OperationTypeNode.MUTATION;
  } catch {
    return false;
  }
}
