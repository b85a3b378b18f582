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
/** The highest cost of a document: see {@link findTooCostly}. */
export const MAX_COST = 500;
/** A field with fields of its own is planned as a query or a part of one. */
const COST_OF_QUERIED = 5;
/** GraphiQL asks for the whole schema at once: about 900 fields. */
const COST_ABOUT_SCHEMA = 0.25;
/** Each description of the whole schema is a megabyte or less, but keeps the process busy. */
const COST_OF_SCHEMA = 100;
/** Nested selections, introspection included. */
const MAX_NESTING = 25;

interface Measure {
  fields: number;
  /** Those of them that have fields of their own. */
  queried: number;
  /** Further fields that ask for the schema itself. They need no call of the database. */
  aboutSchema: number;
  nesting: number;
}

/**
 * Finds a document that costs too much, by its text alone: to validate and plan a large one keeps the
 * whole process busy. A field costs 1, or 5 with fields of its own, under every alias. A fragment
 * costs its fields at each use. `__schema` costs 100, a field in it a quarter. The whole document
 * counts, also operations that are not run.
 */
export function findTooCostly(document: DocumentNode): GraphQLError | undefined {
  const fragments = fragmentsOf(document);
  // Each fragment is measured once, so this takes no longer than parsing.
  const measured = new Map<string, Measure>();
  const nothing: Measure = { fields: 0, queried: 0, aboutSchema: 0, nesting: 0 };

  function measureFragment(name: string): Measure {
    const known = measured.get(name);
    if (known !== undefined) return known;
    // The validation rejects a fragment that uses itself.
    measured.set(name, nothing);
    const fragment = fragments.get(name);
    const measure = fragment === undefined ? nothing : measureSet(fragment.selectionSet);
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
    const nesting = inner.nesting + 1;
    if (selection.name.value.startsWith("__")) {
      const fields = selection.name.value === "__schema" ? COST_OF_SCHEMA : 1;
      return { fields, queried: 0, aboutSchema: inner.fields + inner.aboutSchema, nesting };
    }
    return {
      fields: inner.fields + 1,
      queried: inner.queried + (selection.selectionSet === undefined ? 0 : 1),
      aboutSchema: inner.aboutSchema,
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
        "that a fragment is used",
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
    aboutSchema: one.aboutSchema + other.aboutSchema,
    nesting: Math.max(one.nesting, other.nesting),
  };
}

/** Finds variables that are too deep or too long. */
export function findTooLong(variables: Record<string, unknown>): GraphQLError | undefined {
  // What reads them calls itself for each list and object, JSON.stringify too.
  if (isDeeperThan(MAX_BRACKET_DEPTH, variables)) {
    return new GraphQLError(`The variables may have lists and objects ${MAX_BRACKET_DEPTH} deep`);
  }
  const { length } = JSON.stringify(variables);
  if (length <= MAX_VARIABLES_CHARACTERS) return undefined;
  return new GraphQLError(`The variables may have ${MAX_VARIABLES_CHARACTERS} characters as JSON`);
}

function isDeeperThan(depth: number, value: unknown): boolean {
  const isNested = (one: unknown): one is object => typeof one === "object" && one !== null;
  let layer = [value].filter(isNested);
  for (let passed = 0; layer.length > 0; passed++) {
    if (passed === depth) return true;
    layer = layer.flatMap((one) => Object.values(one).filter(isNested));
  }
  return false;
}
