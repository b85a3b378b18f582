import test from "ava";
import pg from "pg";
import { GraphQLError } from "postgraphile/graphql";
import { showError } from "../../src/graphql/shown_errors.ts";

function show(sqlstate: string) {
  const cause = Object.assign(new pg.DatabaseError("the words of PostgreSQL", 0, "error"), {
    code: sqlstate,
  });
  const { shown, unforeseen } = showError(new GraphQLError("x", { originalError: cause }), false);
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

test("a mutation whose connection was lost may have been carried out; a query may be repeated", (t) => {
  const database = (code: string) =>
    Object.assign(new pg.DatabaseError("no", 0, "error"), { code, severity: "FATAL" });
  const system = (syscall: string) => Object.assign(new Error("no"), { syscall });
  const codesOf = (cause: Error) =>
    [false, true].map((isMutation) => {
      const error = new GraphQLError("x", { originalError: cause });
      return showError(error, isMutation).shown.extensions.code;
    });
  const lost: Error[] = [database("57P01"), database("08P01"), system("read")];
  lost.push(new Error("Connection terminated unexpectedly"));
  lost.push(new Error("Client has encountered a connection error and is not queryable"));
  for (const cause of lost) {
    t.deepEqual(codesOf(cause), ["CONFLICT_RETRY", "OUTCOME_UNKNOWN"]);
    const { shown } = showError(new GraphQLError("x", { originalError: cause }), true);
    const advice = "The outcome is unknown; look at the audit log before you repeat it";
    t.is(shown.message, advice, "commands of operators have no idempotency key");
  }
  const never: Error[] = [database("57P03"), database("53300"), system("connect")];
  never.push(new Error("Connection terminated due to connection timeout"));
  for (const cause of never) t.deepEqual(codesOf(cause), ["CONFLICT_RETRY", "CONFLICT_RETRY"]);
});
