/**
 * What gateways report to the owner of a share about single requests: why one failed, requests that the owner asked
 * to see, and entries of the request log (ADR 0112). `POST /gateway/v1/failures`, `/gateway/v1/inspections` and
 * `/gateway/v1/requests`, in batches; what does not fit is dropped and counted.
 * What a gateway sends is bounded in every direction before it is kept; a record beyond a bound loses itself.
 */
import { Part, Shape, Type, type Refinement, type ShapeOf } from '#base/shapes';

const { count, flag, lossyList, nullable, refined, text, textPair } = Part;

export const MAX_RECORD_BATCH = 500;
/** Replaces a share's id in the failure of a request to a host without a share. */
export const NO_SHARE = '';
/** Limit for each body of an inspected request. */
export const MAX_INSPECTED_BODY_BYTES = 65_536;
/** Replaces secret values. */
export const REDACTED = '********';

const MAX_HEADERS = 400;
const MAX_HEADER_CHARS = 131_072;
/** Bodies are base64, and a redacted body may be longer than the one that came. */
const MAX_BODY_CHARS = 4 * MAX_INSPECTED_BODY_BYTES;
const MAX_STATUS = 999;
const MAX_MS = 999_999_999_999;
const MAX_TIME_MS = 1e14;

const duration = () => nullable(Type.Number({ minimum: 0, maximum: MAX_MS }));

/** Since the end of the head, in milliseconds; null: not reached. */
const timingsSchema = Type.Object({
  decidedMs: duration(),
  circuitMs: duration(),
  firstByteMs: duration(),
  doneMs: duration(),
});
export type RequestTimings = ShapeOf<typeof timingsSchema>;

const why = {
  /** Code and cause from the gateway's failure table. */
  code: text(100),
  /** client, gateway, control, router, agent or service. */
  hop: text(20),
  cause: text(2_000),
};

const common = {
  /** The request's id, which is the error id on the page. */
  id: text(64, '^[A-Za-z0-9_-]{8,64}$'),
  at: count(MAX_TIME_MS),
  /** `NO_SHARE` if no share has the host. The frontdoor's id is empty then, too. */
  shareId: text(100),
  frontdoorId: text(100),
  /** The status that the caller received; 0: none. */
  status: count(MAX_STATUS),
  method: text(32),
  host: text(300),
  client: text(100),
  /** The subject, and the e-mail address if there is one. */
  identity: nullable(text(1_000)),
  /** Why the request was admitted or refused. */
  decision: text(1_000),
  traceId: nullable(text(32)),
  timings: timingsSchema,
};

export const requestFailureSchema = Type.Object({
  ...common,
  ...why,
  /** Without its query. */
  path: text(8_192),
});
export type RequestFailure = ShapeOf<typeof requestFailureSchema>;

const fewCharacters: Refinement = {
  rule: `headers of at most ${MAX_HEADER_CHARS} characters together`,
  check: (headers) =>
    (headers as [string, string][]).reduce((sum, [name, value]) => sum + name.length + value.length, 0) <=
    MAX_HEADER_CHARS,
};

const messageSchema = Type.Object({
  headers: refined(Type.Array(textPair(), { maxItems: MAX_HEADERS }), fewCharacters),
  /** The kept bytes in base64. */
  body: text(MAX_BODY_CHARS),
  /** The whole length on the wire. */
  bodyBytes: count(),
  isTruncated: flag(),
});
export type InspectedMessage = ShapeOf<typeof messageSchema>;

/** One request and its answer; secrets in headers and query are replaced by `REDACTED`. */
export const inspectedRequestSchema = Type.Object({
  ...common,
  replayOf: nullable(text(64)),
  target: text(16_384),
  /** Null if the response was complete. */
  failure: nullable(Type.Object(why)),
  request: messageSchema,
  answer: messageSchema,
});
export type InspectedRequest = ShapeOf<typeof inspectedRequestSchema>;

/** How a request ended: the caller was served, refused, or gone; or the exchange failed before or after its answer began. */
export const REQUEST_OUTCOMES = ['served', 'refused', 'failed', 'broken-off', 'client-gone'] as const;
export type RequestOutcome = (typeof REQUEST_OUTCOMES)[number];

/** An entry of the request log. Texts are short, so that the bytes of an entry are bounded. */
const loggedRequestSchema = Type.Object({
  ...common,
  host: text(255),
  identity: nullable(text(300)),
  decision: text(200),
  /** One of `REQUEST_OUTCOMES`. */
  outcome: text(20),
  /** The auth provider that identified the caller. */
  providerId: nullable(text(100)),
  /** Null unless the request was refused or failed. */
  code: nullable(text(100)),
  hop: nullable(text(20)),
  cause: nullable(text(300)),
  /** Without its query. */
  path: text(512),
  bytesIn: count(),
  bytesOut: count(),
  /** How many requests of the frontdoor this process left out since its entry before, because there were too many. */
  leftOut: count(),
});
export type LoggedRequest = ShapeOf<typeof loggedRequestSchema>;

const batch = { maxItems: MAX_RECORD_BATCH };
const remedy = 'upgrade the control plane';

export const failuresShape = new Shape(
  Type.Object({ failures: lossyList('failures', requestFailureSchema, batch) }),
  { name: 'failure records', format: 1, remedy },
);

export const inspectionsShape = new Shape(
  Type.Object({ requests: lossyList('requests', inspectedRequestSchema, batch) }),
  { name: 'inspected requests', format: 1, remedy },
);

export const requestLogShape = new Shape(
  Type.Object({ requests: lossyList('requests', loggedRequestSchema, batch) }),
  { name: 'entries of the request log', format: 1, remedy },
);
