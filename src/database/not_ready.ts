/** Why a database can't be used, in a word; "unusable" for what only the message can say. */
export type NotReadyReason =
  | "database_unreachable"
  | "server_version"
  | "migrations_missing"
  | "migrations_unknown"
  | "read_only"
  | "encoding"
  | "session_settings"
  | "prepared_statements"
  | "unusable";

/**
 * The database can't be used, for a reason that the operator can do something about: the message
 * is for them, and where in our code it was found doesn't matter.
 */
export class DatabaseNotReadyError extends Error {
  override name = "DatabaseNotReadyError";
  readonly reason: NotReadyReason;

  constructor(message: string, options: ErrorOptions & { reason?: NotReadyReason } = {}) {
    super(message, options);
    this.reason = options.reason ?? "unusable";
  }
}
