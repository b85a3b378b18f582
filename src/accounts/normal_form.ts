/** A longer text is not brought into normal form, which may take seconds. No password is so long. */
export const MOST_TO_NORMALIZE = 1000;

/**
 * The form in which passwords are hashed, counted and compared: other forms of the same letters
 * are the same password. Throws RangeError if the text is longer than {@link MOST_TO_NORMALIZE}.
 */
export function normalForm(text: string): string {
  if (text.length > MOST_TO_NORMALIZE) throw new RangeError("Too long for a password");
  return text.normalize("NFKC");
}
