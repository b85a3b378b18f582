import { setImmediate } from "node:timers/promises";
import {
  getArgumentValues,
  getDirectiveValues,
  getNamedType,
  getVariableValues,
  GraphQLError,
  GraphQLIncludeDirective,
  GraphQLSkipDirective,
  isLeafType,
  isListType,
  isNonNullType,
  Kind,
  SchemaMetaFieldDef,
  TypeMetaFieldDef,
  TypeNameMetaFieldDef,
} from "postgraphile/graphql";
import type {
  DocumentNode,
  ExecutionResult,
  FieldNode,
  GraphQLField,
  GraphQLObjectType,
  GraphQLOutputType,
  GraphQLResolveInfo,
  GraphQLSchema,
  OperationDefinitionNode,
  SelectionNode,
  SelectionSetNode,
} from "postgraphile/graphql";
import { fragmentsOf } from "./cost.ts";

export interface SchemaQuestion {
  schema: GraphQLSchema;
  /** Checked: valid, and no selection has a field twice. */
  document: DocumentNode;
  /** Asks for nothing but the schema. */
  operation: OperationDefinitionNode;
  variables: Record<string, unknown>;
}

/** The whole schema takes longer. After this time others have their turn. */
const STEP_MS = 5;

/** A field of a selection, as it is asked of each value. */
interface AskedField {
  key: string;
  type: GraphQLOutputType;
  selectionSet: SelectionSetNode | undefined;
  valueOf: (source: unknown) => unknown;
}

const metaFields: Partial<Record<string, GraphQLField<unknown, unknown>>> = {
  __schema: SchemaMetaFieldDef,
  __type: TypeMetaFieldDef,
  __typename: TypeNameMetaFieldDef,
};

/**
 * Answers an operation that asks for the schema, in steps: the executors make the whole answer at
 * once, and Grafast keeps it with the plan.
 */
export async function describeSchema(question: SchemaQuestion): Promise<ExecutionResult> {
  const { schema, document, operation } = question;
  const { coerced, errors } = getVariableValues(
    schema,
    operation.variableDefinitions ?? [],
    question.variables,
  );
  if (coerced === undefined) return { errors };
  const fragments = fragmentsOf(document);
  const asked = new Map<SelectionSetNode, AskedField[]>();

  function fieldsOf(set: SelectionSetNode, type: GraphQLOutputType): AskedField[] {
    const known = asked.get(set);
    if (known !== undefined) return known;
    const parent = getNamedType(type) as GraphQLObjectType;
    const fields = set.selections.filter(isIncluded).flatMap((selection) => {
      if (selection.kind === Kind.FIELD) return [fieldOf(selection, parent)];
      const part =
        selection.kind === Kind.FRAGMENT_SPREAD ? fragments.get(selection.name.value) : selection;
      return part === undefined ? [] : fieldsOf(part.selectionSet, parent);
    });
    asked.set(set, fields);
    return fields;
  }

  function isIncluded(selection: SelectionNode): boolean {
    return (
      getDirectiveValues(GraphQLSkipDirective, selection, coerced)?.if !== true &&
      getDirectiveValues(GraphQLIncludeDirective, selection, coerced)?.if !== false
    );
  }

  function fieldOf(node: FieldNode, parentType: GraphQLObjectType): AskedField {
    const { value: name } = node.name;
    const field = metaFields[name] ?? parentType.getFields()[name];
    if (field?.resolve === undefined) throw new Error(`no field ${name} describes the schema`);
    const { resolve, type } = field;
    const values = getArgumentValues(field, node, coerced);
    const info = { schema, parentType } as GraphQLResolveInfo;
    const valueOf = (source: unknown) => resolve(source, values, undefined, info);
    return { key: node.alias?.value ?? name, type, selectionSet: node.selectionSet, valueOf };
  }

  function answer(value: unknown, type: GraphQLOutputType, set?: SelectionSetNode): unknown {
    if (isNonNullType(type)) return answer(value, type.ofType, set);
    if (value === null || value === undefined) return null;
    if (isListType(type)) {
      return Array.from(value as unknown[], (item) => answer(item, type.ofType, set));
    }
    if (isLeafType(type)) return type.serialize(value);
    const fields = set === undefined ? [] : fieldsOf(set, type);
    return Object.fromEntries(
      fields.map((field) => [
        field.key,
        answer(field.valueOf(value), field.type, field.selectionSet),
      ]),
    );
  }

  let begun = performance.now();

  /** The same in steps: each type of the schema, and each field of one, is answered at once. */
  async function answerInSteps(
    value: unknown,
    type: GraphQLOutputType,
    set?: SelectionSetNode,
  ): Promise<unknown> {
    if (isNonNullType(type)) return await answerInSteps(value, type.ofType, set);
    if (value === null || value === undefined || isLeafType(type)) return answer(value, type);
    if (!isListType(type)) {
      const entries: [string, unknown][] = [];
      for (const field of set === undefined ? [] : fieldsOf(set, type)) {
        const inner = await answerInSteps(field.valueOf(value), field.type, field.selectionSet);
        entries.push([field.key, inner]);
      }
      return Object.fromEntries(entries);
    }
    const answers: unknown[] = [];
    for (const item of value as unknown[]) {
      if (performance.now() - begun > STEP_MS) {
        await setImmediate();
        begun = performance.now();
      }
      answers.push(answer(item, type.ofType, set));
    }
    return answers;
  }

  const root = schema.getQueryType();
  if (!root) throw new Error("the schema has no queries");
  try {
    const data = await answerInSteps(schema, root, operation.selectionSet);
    return { data: data as ExecutionResult["data"] & object };
  } catch (error) {
    // A variable that is null where an argument may not be.
    if (error instanceof GraphQLError) return { errors: [error] };
    throw error;
  }
}
