interface OwnPages {
  list: { name: string; title: string }[];
  /** The one that this document shows. */
  page?: { name: string; title: string; html: string };
}

/** Pages that the operator of this exchange wrote. The server puts them into the document. */
export const ownPages = JSON.parse(
  document.querySelector<HTMLMetaElement>("meta[name=own-pages]")?.content ?? '{"list":[]}',
) as OwnPages;
