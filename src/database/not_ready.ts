/**
 * The database can't be used, for a reason that the operator can do something about: the message
 * is for them, and where in our code it was found doesn't matter.
 */
export class DatabaseNotReadyError extends Error {
  override name = "DatabaseNotReadyError";
}
