import { crc32 } from "node:zlib";
import test from "ava";
import { testDatabase } from "../../helpers/database/test_database.ts";

const database = testDatabase(test);

async function databaseCrc32(bytes: Buffer): Promise<number> {
  return (await database.pool.query("select core.crc32($1) as crc", [bytes])).rows[0].crc;
}

test("the check value of CRC-32 is the published one", async (t) => {
  t.is(await databaseCrc32(Buffer.from("123456789")), 0xcbf43926);
});

test("it is the CRC-32 of zlib, also of nothing and of every byte", async (t) => {
  for (const bytes of [
    Buffer.alloc(0),
    Buffer.from([0]),
    Buffer.alloc(64, 0xff),
    Buffer.from(Array.from({ length: 256 }, (_, byte) => byte)),
    Buffer.from("jk_00000000000000000000000000000000000000000000"),
  ]) {
    t.is(await databaseCrc32(bytes), crc32(bytes));
  }
});
