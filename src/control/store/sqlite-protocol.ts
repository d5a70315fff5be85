/** What the embedded database's thread and its client say to each other. */
export interface SqliteRequest {
  readonly id: number;
  readonly sql: string;
  readonly parameters: readonly unknown[];
}

export type SqliteReply =
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
