/** Why a database can't be used. "unusable": see the message. */
export type NotReadyReason =
  | "database_unreachable"
  | "server_version"
  | "migrations_missing"
  | "migrations_unknown"
  | "read_only"
  | "encoding"
  | "session_settings"
  | "prepared_statements"
  | "sequences_behind"
  | "commits_wait"
  | "unusable";

/** The database can't be used, and the operator can repair that. The message is for the operator. */
export class DatabaseNotReadyError extends Error {
  override name = "DatabaseNotReadyError";
  readonly reason: NotReadyReason;

  constructor(message: string, options: ErrorOptions & { reason?: NotReadyReason } = {}) {
    super(message, options);
    this.reason = options.reason ?? "unusable";
  }
}
