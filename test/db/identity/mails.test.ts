import test from "ava";
import { testDatabase } from "../../helpers/database/test_database.ts";
import { readText } from "../../helpers/repository.ts";

const database = testDatabase(test);

/** What jobs.take_mail makes of confirm_email where the address has an account: not kept as such. */
const onlyTaken = "address_taken";

test("the kinds of mails are those that src/mail/compose.ts writes", async (t) => {
  const { rows } = await database.pool.query(
    `select pg_get_constraintdef(oid) as definition
     from pg_constraint where conname = 'mails_are_of_a_known_kind'`,
  );
  const kept = [...rows[0].definition.matchAll(/'(\w+)'::text/g)].map(([, kind]) => kind!);
  const [, contents = ""] =
    /^const contents\b[^\n]*\n([\s\S]*?)^\}/m.exec(readText("src/mail/compose.ts")) ?? [];
  const written = [...contents.matchAll(/^ {2}(\w+): \(/gm)].map(([, kind]) => kind!);
  t.true(written.includes("new_key"));
  t.deepEqual([...kept, onlyTaken].toSorted(), written.toSorted());
});

test("a mail of another kind is not kept: nothing could write it", async (t) => {
  const error = await t.throwsAsync(
    database.pool.query("select identity.queue_mail('newsletter', null, 'ann@example.com')"),
    { code: "23514" },
  );
  t.regex(error.message, /mails_are_of_a_known_kind/);
});
