/** Messages between the embedded database's thread and its client. */
export interface SqliteRequest {
  readonly id: number;
  readonly sql: string;
  readonly parameters: readonly unknown[];
  /**
   * Whether the statement is alone or in a transaction. A statement that fails in a transaction ends it for all
   * further ones up to the `rollback`, as on PostgreSQL, so statements may be sent without waiting for earlier
   * ones.
   */
  readonly role: StatementRole;
}

export type StatementRole = 'alone' | 'begin' | 'inside' | 'commit' | 'rollback';

/** Copies the database into an existing empty file, in its committed state at the end of the copy. */
export interface SqliteCopyRequest {
  readonly id: number;
  readonly copyTo: string;
}

export type SqliteReply =
  /** The copy continues by itself while other statements run. Its end is reported like a statement's. */
  | { readonly id: number; readonly begun: true }
  | { readonly id: number; readonly rows: readonly unknown[]; readonly changes: number | undefined }
  | { readonly id: number; readonly error: SqliteFailure };

export interface SqliteFailure {
  readonly message: string;
  /** SQLite's extended result code; undefined if the failure is not SQLite's. */
  readonly errcode: number | undefined;
}

export interface SqliteWorkerData {
  /** A file, or `:memory:`. */
  readonly path: string;
  /** How long to wait for another process that holds the file. */
  readonly busyTimeoutMs: number;
}
