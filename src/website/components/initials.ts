/** What stands for a person where others show a picture: one or two capital letters. */
export function initialsOf(displayName: string): string {
  const words = displayName.split(/[\s_.-]+/).filter((word) => /[\p{L}\p{N}]/u.test(word));
  const [first, last] = [words[0], words.length > 1 ? words.at(-1) : undefined];
  return [first, last].map((word) => firstCharacter(word ?? "")).join("");
}

function firstCharacter(word: string): string {
  return /[\p{L}\p{N}]/u.exec(word)?.[0].toUpperCase() ?? "";
}
