/**
 * What gateways tell the owner of a share about single requests: why one failed, and requests that the owner asked to
 * see. `POST /gateway/v1/failures` and `/gateway/v1/inspections`, in batches; what does not fit is dropped and counted.
 */
export interface RequestTimings {
  /** From the end of the head, in milliseconds; null: not reached. */
  readonly decidedMs: number | null;
  readonly circuitMs: number | null;
  readonly firstByteMs: number | null;
  readonly doneMs: number | null;
}

export interface RequestFailure {
  /** The error id on the page: the request's id. */
  readonly id: string;
  readonly at: number;
  /** `NO_SHARE`: no share has the host; the frontdoor's id is empty then, too. */
  readonly shareId: string;
  readonly frontdoorId: string;
  readonly status: number;
  /** Code and cause of the gateway's failure table. */
  readonly code: string;
  /** client, gateway, control, router, agent, service. */
  readonly hop: string;
  readonly cause: string;
  readonly method: string;
  readonly host: string;
  /** Without its query. */
  readonly path: string;
  readonly client: string;
  /** Subject, and e-mail when there is one. */
  readonly identity: string | null;
  /** Why it was let in, or not. */
  readonly decision: string;
  readonly traceId: string | null;
  readonly timings: RequestTimings;
}

export interface InspectedMessage {
  readonly headers: readonly (readonly [string, string])[];
  /** Base64 of what was kept. */
  readonly body: string;
  /** Whole length on the wire. */
  readonly bodyBytes: number;
  readonly isTruncated: boolean;
}

/** One request and its answer; secrets in headers and query are replaced by `********`. */
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
  /** That its caller got; 0: none. */
  readonly status: number;
  /** Null: it was answered whole. */
  readonly failure: { readonly code: string; readonly hop: string; readonly cause: string } | null;
  readonly traceId: string | null;
  readonly timings: RequestTimings;
  readonly request: InspectedMessage;
  readonly answer: InspectedMessage;
}

export const MAX_RECORD_BATCH = 500;
/** Replaces a share's id in the failure of a request to a host that no share has. */
export const NO_SHARE = '';
/** Of each body of an inspected request. */
export const MAX_INSPECTED_BODY_BYTES = 65_536;
/** In place of what is not shown. */
export const REDACTED = '********';
