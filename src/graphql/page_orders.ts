import { TYPES } from "postgraphile/@dataplan/pg";
import type {
  PgCodec,
  PgCodecWithAttributes,
  PgResourceUnique,
  PgSelectQueryBuilder,
} from "postgraphile/@dataplan/pg";
import { sql } from "postgraphile/@dataplan/pg/pg-sql2";

/**
 * Orders with which the pages of a list bring each row once. PostGraphile's own have three faults:
 *
 * - With a nullable column, what comes after a cursor is asked as if nulls were the least values,
 *   while PostgreSQL has them as the greatest: rows are lost or come again.
 * - A null in a cursor is read as the type of the column is read, as 0 or as an error.
 * - A column is held to be unique if a key begins with it: rows that are equal in it are lost.
 */

interface OrderedColumn {
  name: string;
  codec: PgCodec;
  isNullable: boolean;
  /** Whether no two rows have the same value. */
  isUnique: boolean;
}

/**
 * Whether the value is null goes before it, so that a cursor never compares a null with a value.
 * Without a unique column PostGraphile adds the primary key.
 */
function orderBy({ name, codec, isNullable, isUnique }: OrderedColumn, direction: "ASC" | "DESC") {
  return (query: PgSelectQueryBuilder): void => {
    const value = sql`${query.alias}.${sql.identifier(name)}`;
    if (isNullable) {
      const isNull = sql`(${value} is null)`;
      query.orderBy({ fragment: isNull, codec: TYPES.boolean, nullable: false, direction });
    }
    query.orderBy({ fragment: value, codec: asText(codec), nullable: isNullable, direction });
    if (isUnique) query.setOrderIsUnique();
  };
}

/** Reads values as PostgreSQL writes them, and nulls as they are. */
function asText(codec: PgCodec): PgCodec {
  return {
    ...codec,
    castFromPg: (value) => sql`${value}::text`,
    fromPg: (text: string) => text,
  };
}

/** The columns of a view. Those of its keys are never null. */
function columnsOf(
  { attributes }: PgCodecWithAttributes,
  uniques: readonly PgResourceUnique[],
): OrderedColumn[] {
  return Object.entries(attributes).map(([name, { codec, notNull }]) => {
    const keys = uniques.filter((unique) => unique.attributes.includes(name));
    const isUnique = keys.some((unique) => unique.attributes.length === 1);
    return { name, codec, isNullable: notNull !== true && keys.length === 0, isUnique };
  });
}

/** Puts them in place of PostGraphile's own. */
export const ordersForPages: GraphileConfig.Plugin = {
  name: "OrdersForPagesPlugin",
  after: ["PgOrderAllAttributesPlugin"],
  schema: {
    hooks: {
      GraphQLEnumType_values(values, build, { scope: { isPgRowSortEnum, pgCodec } }) {
        if (isPgRowSortEnum !== true || pgCodec?.attributes === undefined) return values;
        const codec = pgCodec as PgCodecWithAttributes;
        const uniques = build.pgTableResource(codec)?.uniques ?? [];
        const all = { ...values };
        for (const column of columnsOf(codec, uniques)) {
          for (const variant of ["asc", "desc"] as const) {
            const attribute = { codec, attributeName: column.name, variant };
            const name = build.inflection.orderByAttributeEnum(attribute);
            const value = all[name];
            if (value === undefined) continue;
            const apply = orderBy(column, variant === "asc" ? "ASC" : "DESC");
            all[name] = { ...value, extensions: { ...value.extensions, grafast: { apply } } };
          }
        }
        return all;
      },
    },
  },
};
