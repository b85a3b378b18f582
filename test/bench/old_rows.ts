import { CLIENTS, checkAndDrop, writeScript } from "./bench.ts";
import type { Bench, Script } from "./bench.ts";
import type { BenchDatabase } from "./cluster.ts";
import { seedOldRows } from "./old_rows_seed.ts";
import { restLiquidity, restingScript, takingScript } from "./orders.ts";
import type { Result } from "./report.ts";
import { measureInRounds } from "./rounds.ts";

/** Placing orders when the tables are full of old orders and trades, against empty ones. */
export async function measureOldRows(bench: Bench): Promise<Result[]> {
  const { sizes, cluster } = bench;
  const [fresh, old] = [
    await cluster.createDatabase("without_old_rows"),
    await cluster.createDatabase("with_old_rows"),
  ];
  await seedOldRows(old, sizes.oldRows);
  for (const { pool } of [fresh, old]) await restLiquidity(pool, sizes.markets);

  const { markets, traders } = sizes;
  const actions = [
    { name: "rest", lines: restingScript([1, markets], [markets + 1, traders]) },
    { name: "cross", lines: takingScript([1, markets], [markets + 1, traders]) },
  ];
  const results: Result[] = [];
  for (const { name, lines } of actions) {
    const write = (database: BenchDatabase) => writeScript(bench, database, name, lines);
    const time = (run: Script) => async (seconds: number) =>
      (await run({ clients: CLIENTS, until: { seconds } })).latencyMs;
    const figures = await measureInRounds(sizes, sizes.seconds, {
      name: `old rows, ${name}`,
      reference: time(await write(fresh)),
      ours: time(await write(old)),
    });
    const number = sizes.oldRows.toLocaleString("en");
    const target = `${name}, ${number} old orders and trades / none, ${CLIENTS} clients`;
    results.push({ target, unit: "ms", must: 1.3, aim: 1.1, ...figures });
  }
  for (const database of [fresh, old]) {
    await checkAndDrop(database);
  }
  return results;
}
