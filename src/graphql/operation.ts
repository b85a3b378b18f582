import { getOperationAST, OperationTypeNode, parse } from "postgraphile/graphql";
import { bracketDepthOf } from "./bracket_depth.ts";
import { MAX_BRACKET_DEPTH, MAX_QUERY_CHARACTERS, MAX_TOKENS } from "./cost.ts";

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
