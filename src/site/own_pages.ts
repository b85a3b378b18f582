import { readdir, readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { micromark } from "micromark";
import { compressedFile } from "../http/static_file.ts";
import type { StaticFile } from "../http/static_file.ts";
import type { Website } from "./files.ts";

const MOST_PAGES = 20;
const MOST_CHARACTERS = 200_000;

interface OwnPage {
  name: string;
  title: string;
  html: string;
}

/**
 * The website with pages that the operator of the exchange wrote, such as terms, privacy and help
 * lines. A file `terms.md` of the folder is the page `/pages/terms`. It is Markdown and begins with a
 * line `# Title`. The footer lists the pages by the names of their files. Throws an error that names
 * the file which cannot be a page.
 */
export async function withOwnPages(website: Website, folder: string): Promise<Website> {
  const files = (await readdir(folder)).filter((file) => file.endsWith(".md")).sort();
  if (files.length > MOST_PAGES) throw new Error(`${folder} has more than ${MOST_PAGES} pages`);
  const pages = await Promise.all(
    files.map(async (file) =>
      pageOf(join(folder, file), await readFile(join(folder, file), "utf8")),
    ),
  );
  const list = pages.map(({ name, title }) => ({ name, title }));
  const html = website.page.encodings.identity.toString("utf8");
  const make = async (page?: OwnPage) => {
    const json = JSON.stringify({ list, page });
    const content = json.replaceAll("&", "&amp;").replaceAll('"', "&quot;");
    const element = `<meta name="own-pages" content="${content}" />`;
    const text = html.replace("</head>", () => `${element}</head>`);
    return compressedFile(website.page.contentType, Buffer.from(text));
  };
  const ownPages = new Map<string, StaticFile>();
  for (const page of pages) ownPages.set(`/pages/${page.name}`, await make(page));
  return { ...website, page: await make(), ownPages };
}

function pageOf(path: string, markdown: string): OwnPage {
  const name = basename(path, ".md");
  if (!/^[a-z0-9-]{1,40}$/.test(name)) {
    throw new Error(
      `${path}: the name of a page has small letters, digits and hyphens, at most 40`,
    );
  }
  if (markdown.length > MOST_CHARACTERS) {
    throw new Error(`${path}: a page has at most ${MOST_CHARACTERS} characters`);
  }
  const title = /^# +(\S.{0,59})\r?\n/.exec(markdown)?.[1]?.trim();
  if (title === undefined) {
    throw new Error(`${path}: a page begins with a line "# Title" of at most 60 characters`);
  }
  // It escapes HTML, and keeps only addresses of http, https and mail.
  return { name, title, html: micromark(markdown) };
}
