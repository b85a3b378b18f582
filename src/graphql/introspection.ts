import { BREAK, GraphQLError, Kind, visit } from "postgraphile/graphql";
import type {
  DocumentNode,
  FieldNode,
  FragmentDefinitionNode,
  OperationDefinitionNode,
  SelectionSetNode,
} from "postgraphile/graphql";
import { fragmentsOf } from "./cost.ts";

/** Fields of the root, about the schema itself. */
const ABOUT_SCHEMA = new Set(["__schema", "__type"]);

/**
 * Finds a document that asks for the same part of the schema again, or for rows beside it. The answer
 * is made while the process does nothing else. Without repetitions it is no longer than the
 * description of the whole schema, which the tools of GraphQL ask for: none of them asks for a field
 * twice. This needs no schema, but fragments that do not use themselves.
 */
export function findRepetition(document: DocumentNode): GraphQLError | undefined {
  const fragments = fragmentsOf(document);
  let found: GraphQLError | undefined;

  function findIn(set: SelectionSetNode): GraphQLError | undefined {
    const seen = new Set<string>();
    for (const field of fieldsOf(set, fragments)) {
      const { value: name } = field.name;
      if (seen.has(name)) {
        const limit = `A selection in __schema or __type may have each field once, "${name}" comes again`;
        return new GraphQLError(limit, { nodes: field });
      }
      seen.add(name);
      const inner = field.selectionSet && findIn(field.selectionSet);
      if (inner !== undefined) return inner;
    }
    return undefined;
  }

  visit(document, {
    OperationDefinition({ selectionSet }) {
      const fields = fieldsOf(selectionSet, fragments);
      if (!fields.some(isAboutSchema)) return undefined;
      const rows = fields.find(({ name }) => !name.value.startsWith("__"));
      const keys = fields.map(
        ({ alias, name }) => (name.value === "__schema" ? name : (alias ?? name)).value,
      );
      const again = fields.find((_, index) => keys.indexOf(keys[index] ?? "") !== index);
      if (rows !== undefined) {
        const limit = "A query with __schema or __type may ask for nothing else";
        found = new GraphQLError(limit, { nodes: rows });
      } else if (again !== undefined) {
        const limit =
          "A query may ask for __schema once, and for each __type under a name of its own";
        found = new GraphQLError(limit, { nodes: again });
      }
      return found && BREAK;
    },
    // Also where there is no such field: the validation compares repeated ones before it says so.
    Field(node) {
      if (isAboutSchema(node) && node.selectionSet) found = findIn(node.selectionSet);
      return found && BREAK;
    },
  });
  return found;
}

/** Whether an operation of a checked document asks for the schema, and so for nothing else. */
export function asksForSchema(document: DocumentNode, operation: OperationDefinitionNode): boolean {
  return fieldsOf(operation.selectionSet, fragmentsOf(document)).some(isAboutSchema);
}

function isAboutSchema({ name }: FieldNode): boolean {
  return ABOUT_SCHEMA.has(name.value);
}

/** The fields of a selection, also those that come by fragments. */
function fieldsOf(
  { selections }: SelectionSetNode,
  fragments: Map<string, FragmentDefinitionNode>,
): FieldNode[] {
  return selections.flatMap((selection) => {
    if (selection.kind === Kind.FIELD) return [selection];
    const part =
      selection.kind === Kind.FRAGMENT_SPREAD ? fragments.get(selection.name.value) : selection;
    return part === undefined ? [] : fieldsOf(part.selectionSet, fragments);
  });
}
