import { PgAggregatesPreset } from "@graphile/pg-aggregates";
import type { PgSelectRowsStep, PgSelectStep } from "postgraphile/@dataplan/pg";
import { constant, SafeError, Step } from "postgraphile/grafast";
import type { ExecutionDetails } from "postgraphile/grafast";
import { PostGraphileConnectionFilterPreset } from "postgraphile-plugin-connection-filter";
import { MAX_GROUPS } from "./limits.ts";

/** The operators of `filter`. No patterns of the caller: they may take long on a short text. */
const OPERATORS = [
  "isNull",
  "equalTo",
  "notEqualTo",
  "lessThan",
  "lessThanOrEqualTo",
  "greaterThan",
  "greaterThanOrEqualTo",
  "in",
  "notIn",
  "includes",
  "includesInsensitive",
  "startsWith",
  "startsWithInsensitive",
];

/** Of columns only, not of related rows, computed ones or lists. */
const filters = {
  connectionFilterAllowedOperators: OPERATORS,
  connectionFilterArrays: false,
  connectionFilterComputedColumns: false,
  connectionFilterSetofFunctions: false,
};

/** What the plugins can do beyond that: each of them adds to every type. */
const unusedPlugins = [
  "PgConnectionArgFilterBackwardRelationsPlugin",
  "PgConnectionArgFilterForwardRelationsPlugin",
  "PgAggregatesFilterRelationalAggregatesPlugin",
  "PgAggregatesOrderByAggregatesPlugin",
];
const unusedBehavior = [
  "-resource:groupedAggregates:having",
  "-stddevSample:resource:aggregates",
  "-stddevPopulation:resource:aggregates",
  "-varianceSample:resource:aggregates",
  "-variancePopulation:resource:aggregates",
].join(" ");

/** The rows of groups, sorted by their keys; too many are an error. */
class GroupsStep extends Step<unknown[]> {
  override isSyncAndSafe = false;

  constructor($groups: PgSelectStep) {
    super();
    this.addDependency($groups.items());
    this.addDependency($groups.getGroupDetails());
  }

  listItem($item: Parameters<PgSelectRowsStep["listItem"]>[0]): Step {
    return (this.getDep(0) as unknown as PgSelectRowsStep).listItem($item);
  }

  override execute({
    indexMap,
    values: [rowsOf, detailsOf],
  }: ExecutionDetails<[string[][], Details]>) {
    return indexMap((i) => {
      const rows = rowsOf.at(i);
      if (rows.length > MAX_GROUPS) {
        throw new SafeError(`There are more than ${MAX_GROUPS} groups: filter, or group otherwise`);
      }
      const { indicies } = detailsOf.at(i);
      const compare = new Intl.Collator("en", { numeric: true }).compare;
      return rows.toSorted((one, other) => {
        for (const { index } of indicies) {
          const order = compare(one[index] ?? "", other[index] ?? "");
          if (order !== 0) return order;
        }
        return 0;
      });
    });
  }
}

interface Details {
  indicies: readonly { index: number }[];
}

const boundedGroups: GraphileConfig.Plugin = {
  name: "BoundedGroupsPlugin",
  schema: {
    hooks: {
      GraphQLObjectType_fields_field(
        field,
        _build,
        { scope: { fieldName, isPgConnectionRelated } },
      ) {
        const { plan } = field;
        if (fieldName !== "groupedAggregates" || isPgConnectionRelated !== true || !plan)
          return field;
        return {
          ...field,
          plan(...args) {
            const $groups = plan(...args) as PgSelectStep;
            $groups.setFirst(constant(MAX_GROUPS + 1));
            args[1].apply($groups);
            return new GroupsStep($groups);
          },
        };
      },
    },
  },
};

/** Filters by range and text, and sums by group. */
export const filtersAndGroups: GraphileConfig.Preset = {
  extends: [PostGraphileConnectionFilterPreset, PgAggregatesPreset],
  plugins: [boundedGroups],
  disablePlugins: unusedPlugins,
  schema: {
    ...filters,
    defaultBehavior: unusedBehavior,
  },
};
