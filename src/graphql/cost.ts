import { GraphQLError, Kind } from "postgraphile/graphql";
import type {
  DocumentNode,
  FragmentDefinitionNode,
  SelectionNode,
  SelectionSetNode,
} from "postgraphile/graphql";

/** Of a query's text; it is not even parsed when it is longer. */
export const MAX_QUERY_CHARACTERS = 16_384;
/** Names, numbers, braces and so on. */
export const MAX_TOKENS = 4000;
/** Brackets, braces and parentheses within each other; a text with more is not even parsed. */
export const MAX_BRACKET_DEPTH = 100;
/** Of the variables, as JSON. */
export const MAX_VARIABLES_CHARACTERS = 16_384;
/** What a document may cost: see {@link findTooCostly}. */
export const MAX_COST = 500;
/** A field that has fields of its own is planned as a query, or a part of one. */
const COST_OF_QUERIED = 5;
/** A page in which queries are written asks for the whole schema at once: some 900 fields. */
const COST_ABOUT_SCHEMA = 0.25;
/** Selections within selections, those of introspection included. */
const MAX_NESTING = 25;

interface Measure {
  fields: number;
  /** Of these, the ones that have fields of their own. */
  queried: number;
  /** Fields beside these that ask for the schema itself: the database is not asked for them. */
  aboutSchema: number;
  nesting: number;
}

/**
 * What is too much about a document, from its text alone: holding a large one against a schema, and
 * planning it, keeps the whole process busy. A field costs 1, and 5 if it has fields of its own,
 * under whatever alias; a fragment costs what is in it, each time that it is used. What asks for the
 * schema itself costs a quarter a field. All of the document counts, also an operation that is not run.
 */
export function findTooCostly(document: DocumentNode): GraphQLError | undefined {
  const fragments = new Map<string, FragmentDefinitionNode>();
  for (const definition of document.definitions) {
    if (definition.kind === Kind.FRAGMENT_DEFINITION) {
      fragments.set(definition.name.value, definition);
    }
  }
  // Each fragment is measured once, however often it is used, so this takes no longer than parsing.
  const measured = new Map<string, Measure>();
  const nothing: Measure = { fields: 0, queried: 0, aboutSchema: 0, nesting: 0 };

  function measureFragment(name: string): Measure {
    const known = measured.get(name);
    if (known !== undefined) return known;
    // One that uses itself is for the validation to refuse.
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
      return { fields: 1, queried: 0, aboutSchema: inner.fields + inner.aboutSchema, nesting };
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
  // The validation looks also at those that are not used, before it refuses them.
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

function add(one: Measure, other: Measure): Measure {
  return {
    fields: one.fields + other.fields,
    queried: one.queried + other.queried,
    aboutSchema: one.aboutSchema + other.aboutSchema,
    nesting: Math.max(one.nesting, other.nesting),
  };
}

/** What is too much about the variables. */
export function findTooLong(variables: Record<string, unknown>): GraphQLError | undefined {
  // Whatever goes through them calls itself for each list and object, JSON.stringify included.
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
