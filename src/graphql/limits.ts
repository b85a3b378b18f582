import { depthLimit } from "@graphile/depth-limit";
import {
  getNamedType,
  getVariableValues,
  GraphQLError,
  isCompositeType,
  isObjectType,
  Kind,
  parse,
  specifiedRules,
  typeFromAST,
  TypeInfo,
  validate,
  valueFromAST,
  visit,
  visitWithTypeInfo,
} from "postgraphile/graphql";
import type {
  DocumentNode,
  FieldNode,
  FragmentDefinitionNode,
  GraphQLField,
  GraphQLNamedType,
  GraphQLSchema,
  OperationDefinitionNode,
  SelectionSetNode,
} from "postgraphile/graphql";
import { bracketDepthOf } from "./bracket_depth.ts";
import {
  findLongQuery,
  findTooCostly,
  fragmentsOf,
  MAX_BRACKET_DEPTH,
  MAX_TOKENS,
} from "./cost.ts";
import { findRepetition } from "./introspection.ts";

/** Rows of a page unless the query says. */
const DEFAULT_PAGE_ROWS = 100;
/** Rows of a page at most. */
const MAX_PAGE_ROWS = 1000;
/** Rows of an operation at most. A nested page counts for each row of the outer page. */
const MAX_ROWS = 20_000;
/** Rows of `groupedAggregates` at most. */
export const MAX_GROUPS = 1000;
/** So many rows each aggregate counts as, for each time that its page may come. */
const ROWS_OF_AGGREGATES: Record<string, number> = {
  aggregates: 100,
  groupedAggregates: MAX_GROUPS,
};
/** Values of these rows at most. An answer of as many would be longer than one may be. */
const MAX_VALUES = 2_000_000;
/** Fields and values of all filters of an operation at most. */
const MAX_CONDITIONS = 100;

const rules = [
  ...specifiedRules,
  depthLimit({
    maxDepth: 12,
    maxListDepth: 4,
    maxSelfReferentialDepth: 2,
    revealDetails: true,
    // As deep as the introspection query of GraphQL's tools.
    maxIntrospectionDepth: 14,
    maxDepthByFieldCoordinates: { "__Type.ofType": 9 },
  }),
];

const PAGE_ARGUMENTS = ["first", "last"];
const CURSOR_ARGUMENTS = ["after", "before"];

/** A valid query, or its errors. */
export type Checked = { document: DocumentNode } | { errors: readonly GraphQLError[] };

/**
 * Parses a query, checks its cost and its questions about the schema, and only then validates it
 * against the schema and the limit of depth. Gives pages without a size the default one.
 */
export function checkQuery(schema: GraphQLSchema, query: string): Checked {
  const tooLong = findLongQuery(query);
  if (tooLong !== undefined) return { errors: [tooLong] };
  // The parser calls itself for each bracket, and could run out of stack.
  const depth = bracketDepthOf(query);
  if (depth > MAX_BRACKET_DEPTH) {
    const limit = `A query may have brackets ${MAX_BRACKET_DEPTH} deep, this one has ${depth}`;
    return { errors: [new GraphQLError(limit)] };
  }
  try {
    const document = parse(query, { maxTokens: MAX_TOKENS });
    const tooMuch = findTooCostly(document) ?? findRepetition(document);
    if (tooMuch !== undefined) return { errors: [tooMuch] };
    const errors = validate(schema, document, rules);
    return errors.length > 0 ? { errors } : { document: withPageSizes(schema, document) };
  } catch (error) {
    if (error instanceof GraphQLError) return { errors: [error] };
    // Each of these steps calls itself for what is nested, by fragments too.
    if (error instanceof RangeError) return { errors: [new GraphQLError("The query is too deep")] };
    throw error;
  }
}

function withPageSizes(schema: GraphQLSchema, document: DocumentNode): DocumentNode {
  const typeInfo = new TypeInfo(schema);
  return visit(
    document,
    visitWithTypeInfo(typeInfo, {
      Field(node) {
        const field = typeInfo.getFieldDef();
        if (!isPaged(field) || pageArgumentsOf(node).length > 0) return undefined;
        const first = {
          kind: Kind.ARGUMENT,
          name: { kind: Kind.NAME, value: "first" },
          value: { kind: Kind.INT, value: String(DEFAULT_PAGE_ROWS) },
        } as const;
        return { ...node, arguments: [...(node.arguments ?? []), first] };
      },
    }),
  );
}

function isPaged(field: GraphQLField<unknown, unknown> | null | undefined): boolean {
  return field?.args.some(({ name }) => name === "first") === true;
}

function pageArgumentsOf(node: FieldNode) {
  return (node.arguments ?? []).filter(({ name }) => PAGE_ARGUMENTS.includes(name.value));
}

/** More faults of the variables are not looked for: each is a text that names the value. */
const MAX_FAULTS = 5;

/** Finds what is wrong with the variables of an operation, or that it may return too many rows. */
export function findExcess(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
  variables: Record<string, unknown>,
): readonly GraphQLError[] {
  const root = schema.getRootType(operation.operation);
  if (root === null || root === undefined) {
    return [new GraphQLError(`There is no ${operation.operation} here`, { nodes: operation })];
  }
  const definitions = operation.variableDefinitions ?? [];
  const options = { maxErrors: MAX_FAULTS };
  const { coerced, errors } = getVariableValues(schema, definitions, variables, options);
  if (coerced === undefined) return errors;

  const fragments = fragmentsOf(document);
  const count = { schema, fragments, coerced, rows: 0, values: 0, conditions: 0 };
  try {
    countIn(operation.selectionSet, root, { rows: 1, pages: 1 }, count);
    return [];
  } catch (error) {
    if (error instanceof GraphQLError) return [error];
    throw error;
  }
}

interface Count {
  schema: GraphQLSchema;
  fragments: Map<string, FragmentDefinitionNode>;
  coerced: Record<string, unknown>;
  rows: number;
  values: number;
  conditions: number;
}

/** How often a selection may come: for each row, or of a page's own fields for each page. */
interface Times {
  rows: number;
  pages: number;
}

/** Counts the rows of a selection. */
function countIn(set: SelectionSetNode, type: GraphQLNamedType, times: Times, count: Count): void {
  for (const selection of set.selections) {
    if (selection.kind === Kind.FIELD) {
      countField(selection, type, times, count);
      continue;
    }
    const part =
      selection.kind === Kind.FRAGMENT_SPREAD
        ? count.fragments.get(selection.name.value)
        : selection;
    const condition = part?.typeCondition;
    const narrowed = condition === undefined ? type : typeFromAST(count.schema, condition);
    if (part !== undefined) countIn(part.selectionSet, narrowed ?? type, times, count);
  }
}

function countField(node: FieldNode, type: GraphQLNamedType, times: Times, count: Count): void {
  const field = isObjectType(type) ? type.getFields()[node.name.value] : undefined;
  if (field === undefined) return;
  count.values += times.rows;
  if (count.values > MAX_VALUES) {
    throw new GraphQLError(`A query may bring ${MAX_VALUES} values`, { nodes: node });
  }
  let inner = { rows: times.rows, pages: times.rows };
  addRows((ROWS_OF_AGGREGATES[node.name.value] ?? 0) * times.pages, node, count);
  if (isPaged(field)) {
    checkCursors(node, count.coerced);
    checkFilter(field, node, count);
    const size = Math.max(
      ...pageArgumentsOf(node).map(({ name, value }) => {
        const size =
          value.kind === Kind.VARIABLE
            ? count.coerced[value.name.value]
            : value.kind === Kind.INT
              ? Number(value.value)
              : undefined;
        if (typeof size === "number" && size >= 0 && size <= MAX_PAGE_ROWS) return size;
        throw new GraphQLError(`${name.value} must be from 0 to ${MAX_PAGE_ROWS}`, { nodes: node });
      }),
    );
    inner = { rows: times.rows * size, pages: times.rows };
    addRows(inner.rows, node, count);
  }
  const named = getNamedType(field.type);
  if (node.selectionSet !== undefined && isCompositeType(named)) {
    countIn(node.selectionSet, named, inner, count);
  }
}

function addRows(rows: number, node: FieldNode, count: Count): void {
  count.rows += rows;
  if (count.rows <= MAX_ROWS) return;
  throw new GraphQLError(`A query may bring ${MAX_ROWS} rows`, { nodes: node });
}

/** Counts the fields and values of a filter. An empty one would let every row pass. */
function checkFilter(field: GraphQLField<unknown, unknown>, node: FieldNode, count: Count): void {
  const given = node.arguments?.find(({ name }) => name.value === "filter");
  const type = field.args.find(({ name }) => name === "filter")?.type;
  if (given === undefined || type === undefined) return;

  function visitValue(value: unknown): void {
    if (value === null || (typeof value === "object" && Object.keys(value).length === 0)) {
      throw new GraphQLError("A filter may have no null and nothing empty", { nodes: node });
    }
    if (++count.conditions > MAX_CONDITIONS) {
      const limit = `The filters of a query may have ${MAX_CONDITIONS} fields and values`;
      throw new GraphQLError(limit, { nodes: node });
    }
    if (typeof value === "object") Object.values(value).forEach(visitValue);
  }
  const value = valueFromAST(given.value, type, count.coerced);
  if (value !== undefined) visitValue(value);
}

/** Checks that cursors are JSON lists in base64, which the engine needs. */
function checkCursors(node: FieldNode, variables: Record<string, unknown>): void {
  for (const { name, value } of node.arguments ?? []) {
    if (!CURSOR_ARGUMENTS.includes(name.value)) continue;
    const cursor =
      value.kind === Kind.VARIABLE
        ? variables[value.name.value]
        : value.kind === Kind.STRING
          ? value.value
          : undefined;
    if (typeof cursor === "string" && !isCursor(cursor)) {
      throw new GraphQLError(`${name.value} must be a cursor of an earlier answer`, {
        nodes: node,
      });
    }
  }
}

function isCursor(text: string): boolean {
  try {
    return Array.isArray(JSON.parse(Buffer.from(text, "base64").toString()));
  } catch {
    return false;
  }
}
