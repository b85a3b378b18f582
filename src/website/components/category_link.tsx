import type { JSX } from "preact";
import { readCategories } from "../api/catalogue.ts";
import { useAsked } from "../hooks/use_asked.ts";

/** Leads to the markets of a category. Until its name is known, its slug stands for it. */
export function CategoryLink({ slug }: { slug: string }): JSX.Element {
  const categories = useAsked(readCategories, []);
  const name = categories.data?.find((category) => category.slug === slug)?.name;
  return <a href={`/?category=${slug}`}>{name ?? slug.replaceAll("-", " ")}</a>;
}
