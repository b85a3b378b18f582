import test from "ava";
import pg from "pg";
import { GraphQLError } from "postgraphile/graphql";
import { showError } from "../../src/graphql/shown_errors.ts";

function show(sqlstate: string) {
  const cause = Object.assign(new pg.DatabaseError("the words of PostgreSQL", 0, "error"), {
    code: sqlstate,
  });
  const { shown, unforeseen } = showError(new GraphQLError("x", { originalError: cause }));
  return { message: shown.message, code: shown.extensions.code, unforeseen };
}

test("a serialization failure, a deadlock and a missed lock are conflicts", (t) => {
  const conflict = {
    ...{ message: "Temporary conflict, safe to retry", code: "CONFLICT_RETRY" },
    unforeseen: false,
  };
  for (const sqlstate of ["40001", "40P01", "55P03"]) t.deepEqual(show(sqlstate), conflict);
});

test("of other errors of the database the caller gets no details", (t) => {
  const internal = { message: "Internal server error", code: undefined, unforeseen: true };
  // An outcome that is not known, an object that is in use, a column that is missing.
  for (const sqlstate of ["40003", "55006", "42703"]) t.deepEqual(show(sqlstate), internal);
});
