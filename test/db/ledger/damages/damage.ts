/** What is done to a sound database, with names of rows for `:name`, and what must notice it. */
export type Damage = [invariant: string, statement: string];
