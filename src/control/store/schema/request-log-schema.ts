/** Tables of the request log (ADR 0112): a part of `schema.ts`, which explains the column types. */

/** One request to a share, without foreign keys: a sweep removes the entries of a deleted frontdoor in steps. */
export interface LoggedRequestTable {
  /** The request's id, which is the error id of its page. */
  id: string;
  frontdoor_id: string;
  share_id: string;
  /** The share's token at that time. */
  share_token: string;
  at: number;
  /** 1: it was served. */
  is_served: number;
  outcome: string;
  status: number;
  method: string;
  host: string;
  path: string;
  client: string;
  identity: string | null;
  provider_id: string | null;
  decision: string;
  code: string | null;
  hop: string | null;
  cause: string | null;
  trace_id: string | null;
  gateway_id: string;
  bytes_in: number;
  bytes_out: number;
  /** Microseconds since the end of the head; null: not reached. */
  decided_us: number | null;
  circuit_us: number | null;
  first_byte_us: number | null;
  done_us: number | null;
  left_out: number;
  /** About how many bytes the row takes. */
  bytes: number;
}

/** How much of a frontdoor's request log is stored, for each of the two classes of entries. */
export interface RequestLogUsageTable {
  frontdoor_id: string;
  is_served: number;
  entries: number;
  bytes: number;
}

/** Settings of a frontdoor's request log that differ from the defaults. */
export interface RequestLogSettingTable {
  frontdoor_id: string;
  /** 0: no requests are logged. */
  enabled: number;
  kept_seconds: number;
  max_entries: number;
  max_bytes: number;
}

export interface RequestLogTables {
  logged_request: LoggedRequestTable;
  request_log_usage: RequestLogUsageTable;
  request_log_setting: RequestLogSettingTable;
}
