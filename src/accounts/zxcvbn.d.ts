declare module "zxcvbn/lib/frequency_lists.js" {
  const frequencyLists: {
    /** The most frequent first, in lower case. */
    passwords: string[];
  };
  export default frequencyLists;
}
