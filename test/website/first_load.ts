import type { Website } from "../../src/site/files.ts";

/** The scripts that a browser needs for the first page: those it names, and what they import. */
export function firstScripts({ page, assets }: Website): string[] {
  const html = page.encodings.identity.toString();
  const scripts = new Set(
    [...html.matchAll(/"(\/assets\/[^"]+\.js)"/g)].map(([, path = ""]) => path),
  );
  for (const path of scripts) {
    const source = assets.get(path)?.encodings.identity.toString() ?? "";
    // What is imported by import() comes later.
    for (const [, name = ""] of source.matchAll(
      /(?:\bfrom|\bimport)\s*["'`]\.\/([^"'`]+\.js)["'`]/g,
    )) {
      scripts.add(`/assets/${name}`);
    }
  }
  return [...scripts];
}

/** What these scripts weigh as browsers get them, in kilobytes of 1,000 bytes. */
export function compressedKilobytes({ assets }: Website, paths: string[]): number {
  const bytes = paths.map((path) => {
    const encodings = assets.get(path)?.encodings;
    return (encodings?.br ?? encodings?.identity)?.length ?? Number.NaN;
  });
  return bytes.reduce((sum, one) => sum + one, 0) / 1000;
}
