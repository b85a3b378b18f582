import { GraphQLError, Kind } from "postgraphile/graphql";
import type {
  DocumentNode,
  FragmentDefinitionNode,
  SelectionNode,
  SelectionSetNode,
} from "postgraphile/graphql";

/** Of a query's text. A longer one is not parsed. */
export const MAX_QUERY_CHARACTERS = 16_384;
/** Names, numbers, braces and so on. */
export const MAX_TOKENS = 4000;
/** Nested brackets, braces and parentheses. A deeper text is not parsed. */
export const MAX_BRACKET_DEPTH = 100;
/** Of the variables, as JSON. */
export const MAX_VARIABLES_CHARACTERS = 16_384;
/** Of those of a mutation: a bonus for 1,000 users, 500 markets, a day of the bank. */
export const MAX_MUTATION_VARIABLES_CHARACTERS = 1_000_000;
/** The highest cost of a document: see {@link findTooCostly}. */
export const MAX_COST = 500;
/** A field with fields of its own is planned as a query or a part of one. */
const COST_OF_QUERIED = 5;
/** Aggregates read all rows that their pages could show. */
const COST_OF_AGGREGATES = 30;
const AGGREGATES = new Set(["aggregates", "groupedAggregates"]);
/** Each question about the trades of the last days reads all of them: see db/admin/views/. */
const COST_OF_SURVEILLANCE = 100;
const SURVEILLANCE = /^(all)?(tradingPair|roundTrip|largeTrade|lateTrade|unusualLoss)/i;
/** GraphiQL asks for the whole schema at once: about 900 fields. */
const COST_ABOUT_SCHEMA = 0.25;
/** A description of the whole schema has up to two megabytes. */
const COST_OF_SCHEMA = 100;
/** Lists of what describes a type, and how often a field in one counts. */
const LISTS_OF_TYPE = new Set([
  "fields",
  "args",
  "inputFields",
  "enumValues",
  "interfaces",
  "possibleTypes",
]);
const ITEMS_OF_LIST = 8;
/** Nested selections, introspection included. */
const MAX_NESTING = 25;

interface Measure {
  fields: number;
  /** Those of them that have fields of their own. */
  queried: number;
  /** Those of the fields that are aggregates. */
  aggregates: number;
  /** Further fields that ask for the schema itself. They need no call of the database. */
  aboutSchema: number;
  /** All fields, as many as there would be in the description of a type. */
  inType: number;
  nesting: number;
}

/**
 * Finds a document that costs too much, by its text alone: to validate and plan a large one keeps the
 * thread busy. A field costs 1, or 5 with fields of its own, under every alias; aggregates
 * cost 30. A list or row of surveillance costs 100, and so do aggregates in it. A fragment costs its
 * fields at each use. `__schema` costs 100, a field in it a quarter. `__type` costs 5, a
 * field in it a quarter, and eight times as much for each list around it. The whole document counts,
 * also operations that are not run. A fragment that uses itself is refused here: the validation would
 * run out of stack on many of them.
 */
export function findTooCostly(document: DocumentNode): GraphQLError | undefined {
  const fragments = fragmentsOf(document);
  // Each fragment is measured once, so this takes no longer than parsing.
  const measured = new Map<string, Measure>();
  const nothing: Measure = {
    ...{ fields: 0, queried: 0, aggregates: 0, aboutSchema: 0, inType: 0, nesting: 0 },
  };
  const oneField: Measure = { ...nothing, fields: 1, inType: 1 };
  const begun = new Set<string>();
  let cyclic: string | undefined;

  function measureFragment(name: string): Measure {
    const known = measured.get(name);
    if (known !== undefined) return known;
    if (begun.has(name)) {
      cyclic ??= name;
      return nothing;
    }
    begun.add(name);
    const fragment = fragments.get(name);
    // The validation follows also those that use one that is not there, before it rejects them.
    const measure = fragment === undefined ? oneField : measureSet(fragment.selectionSet);
    measured.set(name, measure);
    return measure;
  }

  function measureSet({ selections }: SelectionSetNode): Measure {
    return selections.map(measureSelection).reduce(add, nothing);
  }

  function measureSelection(selection: SelectionNode): Measure {
    if (selection.kind === Kind.FRAGMENT_SPREAD) return measureFragment(selection.name.value);
    const inner =
      selection.selectionSet === undefined ? nothing : measureSet(selection.selectionSet);
    if (selection.kind === Kind.INLINE_FRAGMENT) return inner;
    const { value: name } = selection.name;
    const inType = 1 + inner.inType * (LISTS_OF_TYPE.has(name) ? ITEMS_OF_LIST : 1);
    const nesting = inner.nesting + 1;
    if (name === "__schema") {
      const aboutSchema = inner.fields + inner.aboutSchema;
      return { ...nothing, fields: COST_OF_SCHEMA, aboutSchema, inType, nesting };
    }
    const queried = selection.selectionSet === undefined ? 0 : 1;
    if (name.startsWith("__")) {
      return { ...nothing, fields: 1, queried, aboutSchema: inner.inType, inType, nesting };
    }
    const isAggregate = AGGREGATES.has(name);
    const isSurveillance = SURVEILLANCE.test(name);
    // Aggregates in it read the trades once more.
    const ownCost =
      (isAggregate ? COST_OF_AGGREGATES - COST_OF_QUERIED : 0) +
      (isSurveillance
        ? COST_OF_SURVEILLANCE -
          COST_OF_QUERIED +
          (COST_OF_SURVEILLANCE - COST_OF_AGGREGATES) * inner.aggregates
        : 0);
    return {
      fields: inner.fields + 1 + ownCost,
      queried: inner.queried + queried,
      aggregates: inner.aggregates + (isAggregate ? 1 : 0),
      aboutSchema: inner.aboutSchema,
      inType,
      nesting,
    };
  }

  let whole = nothing;
  for (const definition of document.definitions) {
    if (definition.kind === Kind.OPERATION_DEFINITION) {
      whole = add(whole, measureSet(definition.selectionSet));
    }
  }
  // The validation reads unused fragments too, before it rejects them.
  for (const name of fragments.keys()) {
    if (!measured.has(name)) whole = add(whole, measureFragment(name));
  }
  if (cyclic !== undefined) {
    return new GraphQLError(`The fragment "${cyclic}" uses itself`, {
      nodes: fragments.get(cyclic) ?? null,
    });
  }
  const { fields, queried, aboutSchema, nesting } = whole;
  const cost =
    fields + (COST_OF_QUERIED - 1) * queried + Math.ceil(COST_ABOUT_SCHEMA * aboutSchema);
  if (nesting > MAX_NESTING) {
    return new GraphQLError(`A query may have a depth of ${MAX_NESTING}, this one has ${nesting}`);
  }
  if (cost > MAX_COST) {
    return new GraphQLError(
      `A query may cost ${MAX_COST}, this one costs ${cost}: 1 for each field, ` +
        `${COST_OF_QUERIED} for each that has fields of its own, under every alias and each time ` +
        "that a fragment is used; more for aggregates, for surveillance, and for the schema and its types",
    );
  }
  return undefined;
}

/** The fragments of a document by name. Of several with one name, the last. */
export function fragmentsOf(document: DocumentNode): Map<string, FragmentDefinitionNode> {
  const fragments = new Map<string, FragmentDefinitionNode>();
  for (const definition of document.definitions) {
    if (definition.kind === Kind.FRAGMENT_DEFINITION) {
      fragments.set(definition.name.value, definition);
    }
  }
  return fragments;
}

function add(one: Measure, other: Measure): Measure {
  return {
    fields: one.fields + other.fields,
    queried: one.queried + other.queried,
    aggregates: one.aggregates + other.aggregates,
    aboutSchema: one.aboutSchema + other.aboutSchema,
    inType: one.inType + other.inType,
    nesting: Math.max(one.nesting, other.nesting),
  };
}

/** Finds a text that is too long. */
export function findLongQuery(query: string): GraphQLError | undefined {
  if (query.length <= MAX_QUERY_CHARACTERS) return undefined;
  return new GraphQLError(`A query may have ${MAX_QUERY_CHARACTERS} characters`);
}

/** Finds variables that are too deep or too long. */
export function findLongVariables(
  variables: Record<string, unknown>,
  most = MAX_VARIABLES_CHARACTERS,
): GraphQLError | undefined {
  // What reads them calls itself for each list and object, JSON.stringify too.
  if (isDeeperThan(MAX_BRACKET_DEPTH, variables)) {
    return new GraphQLError(`The variables may have lists and objects ${MAX_BRACKET_DEPTH} deep`);
  }
  const { length } = JSON.stringify(variables);
  if (length <= most) return undefined;
  return new GraphQLError(`The variables may have ${most} characters as JSON`);
}

/** It calls itself no deeper than that. */
function isDeeperThan(depth: number, value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (depth === 0) return true;
  const parts: unknown[] = Array.isArray(value) ? value : Object.values(value);
  return parts.some((part) => isDeeperThan(depth - 1, part));
}
