/**
 * Records of single requests that gateways report for the owner of a share: failures, and requests that the owner
 * inspects. `POST /gateway/v1/failures` and `/gateway/v1/inspections`, in batches. Records beyond the limits are
 * dropped and counted.
 */
export interface RequestTimings {
  /** Since the end of the head, in milliseconds; null: not reached. */
  readonly decidedMs: number | null;
  readonly circuitMs: number | null;
  readonly firstByteMs: number | null;
  readonly doneMs: number | null;
}

export interface RequestFailure {
  /** The request's id, which is the error id on the page. */
  readonly id: string;
  readonly at: number;
  /** `NO_SHARE` if no share has the host. The frontdoor's id is empty then, too. */
  readonly shareId: string;
  readonly frontdoorId: string;
  readonly status: number;
  /** Code and cause from the gateway's failure table. */
  readonly code: string;
  /** client, gateway, control, router, agent or service. */
  readonly hop: string;
  readonly cause: string;
  readonly method: string;
  readonly host: string;
  /** Without its query. */
  readonly path: string;
  readonly client: string;
  /** The subject, and the e-mail address if there is one. */
  readonly identity: string | null;
  /** Why the request was admitted or refused. */
  readonly decision: string;
  readonly traceId: string | null;
  readonly timings: RequestTimings;
}

export interface InspectedMessage {
  readonly headers: readonly (readonly [string, string])[];
  /** The kept bytes in base64. */
  readonly body: string;
  /** The whole length on the wire. */
  readonly bodyBytes: number;
  readonly isTruncated: boolean;
}

/** One request and its response. Secrets in headers and query are replaced by `********`. */
export interface InspectedRequest {
  readonly id: string;
  readonly replayOf: string | null;
  readonly at: number;
  readonly shareId: string;
  readonly frontdoorId: string;
  readonly method: string;
  readonly host: string;
  readonly target: string;
  readonly client: string;
  readonly identity: string | null;
  readonly decision: string;
  /** The status that the caller received; 0: none. */
  readonly status: number;
  /** Null if the response was complete. */
  readonly failure: { readonly code: string; readonly hop: string; readonly cause: string } | null;
  readonly traceId: string | null;
  readonly timings: RequestTimings;
  readonly request: InspectedMessage;
  readonly answer: InspectedMessage;
}

export const MAX_RECORD_BATCH = 500;
/** Replaces a share's id in the failure of a request to a host without a share. */
export const NO_SHARE = '';
/** Limit for each body of an inspected request. */
export const MAX_INSPECTED_BODY_BYTES = 65_536;
/** Replaces secret values. */
export const REDACTED = '********';
