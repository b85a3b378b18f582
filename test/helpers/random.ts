/**
 * Random tests print their seed. PROPERTY_SEED runs them again with it, PROPERTY_RUNS says how
 * many runs to make.
 */
export function seed(): number {
  return number("PROPERTY_SEED") ?? Math.floor(Math.random() * 2 ** 31);
}

export function runs(usual: number): number {
  return number("PROPERTY_RUNS") ?? usual;
}

function number(name: string): number | undefined {
  const text = process.env[name];
  return text === undefined || text === "" ? undefined : Number(text);
}
