import type { JSX } from "preact";
import { readCategories } from "../api/catalogue.ts";
import { useAsked } from "../hooks/use_asked.ts";

/** The name of a category. Until it is known, its slug stands for it. */
export function useCategoryName(slug: string): string {
  const categories = useAsked(readCategories, []);
  const name = categories.data?.find((category) => category.slug === slug)?.name;
  return name ?? slug.replaceAll("-", " ");
}

/** Leads to the markets of a category. */
export function CategoryLink({ slug }: { slug: string }): JSX.Element {
  return <a href={`/?category=${slug}`}>{useCategoryName(slug)}</a>;
}
