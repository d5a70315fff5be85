/** What the embedded database's thread and its client say to each other. */
export interface SqliteRequest {
  readonly id: number;
  readonly sql: string;
  readonly parameters: readonly unknown[];
  /**
   * Where it stands: alone, or in a transaction. A statement that fails in one ends it for all that follow up to the
   * `rollback`, as on PostgreSQL: so statements may be sent before it is known what became of those before them.
   */
  readonly role: StatementRole;
}

export type StatementRole = 'alone' | 'begin' | 'inside' | 'commit' | 'rollback';

/** Copies the database, as it is committed when the copy ends, into a file that is there and empty. */
export interface SqliteCopyRequest {
  readonly id: number;
  readonly copyTo: string;
}

export type SqliteReply =
  /** The copy goes on by itself, whatever statements run meanwhile. Its end is told like a statement's. */
  | { readonly id: number; readonly begun: true }
  | { readonly id: number; readonly rows: readonly unknown[]; readonly changes: number | undefined }
  | { readonly id: number; readonly error: SqliteFailure };

export interface SqliteFailure {
  readonly message: string;
  /** SQLite's extended result code; undefined when the failure is not SQLite's. */
  readonly errcode: number | undefined;
}

export interface SqliteWorkerData {
  /** A file, or `:memory:`. */
  readonly path: string;
  /** How long to wait for another process that holds the file. */
  readonly busyTimeoutMs: number;
}
