/**
 * The reasons for which the gateway refuses a request's head or body, with the status of the response. Data only; the
 * gateway's parsers of heads and bodies decide. Every refusal closes the connection (RFC 9112 §11.2: nothing may follow
 * an ambiguous message).
 */
export interface MessageRefusalRow {
  readonly status: number;
  readonly message: string;
}

export const MESSAGE_REFUSALS = {
  'bare-line-feed': { status: 400, message: 'A line ends without a carriage return.' },
  'malformed-request-line': { status: 400, message: 'The request line is malformed.' },
  'malformed-status-line': { status: 400, message: 'The status line is malformed.' },
  'unsupported-version': { status: 505, message: 'Only HTTP versions 1.1 and 1.0 are supported.' },
  'refused-method': { status: 405, message: 'This method is not supported.' },
  'malformed-target': { status: 400, message: 'The request target is malformed or ambiguous.' },
  'foreign-authority': {
    status: 400,
    message: 'The request target names another host than the Host header.',
  },
  'malformed-field': { status: 400, message: 'A header line is malformed.' },
  'folded-field': { status: 400, message: 'A header line is folded.' },
  'control-byte': { status: 400, message: 'A header contains a control character.' },
  'disguised-field': { status: 400, message: 'A framing header is written with an underscore.' },
  'missing-host': { status: 400, message: 'The Host header is missing.' },
  'doubled-host': { status: 400, message: 'There is more than one Host header.' },
  'malformed-host': { status: 400, message: 'The Host header is malformed.' },
  'doubled-length': { status: 400, message: 'There is more than one Content-Length header.' },
  'malformed-length': { status: 400, message: 'The Content-Length header is malformed.' },
  'length-and-coding': { status: 400, message: 'Content-Length and Transfer-Encoding exclude each other.' },
  'unsupported-coding': {
    status: 400,
    message: 'Only the transfer coding chunked is supported, and only once.',
  },
  'coding-in-old-version': { status: 400, message: 'HTTP/1.0 has no transfer codings.' },
  'malformed-connection': { status: 400, message: 'The Connection header is malformed.' },
  'unknown-expectation': { status: 417, message: 'Only the expectation 100-continue is supported.' },
  'malformed-chunk': { status: 400, message: 'The chunked body is malformed.' },
  'target-too-long': { status: 414, message: 'The request target is too long.' },
  'head-too-large': { status: 431, message: 'The headers are too large.' },
  'too-many-fields': { status: 431, message: 'There are too many headers.' },
} as const satisfies Record<string, MessageRefusalRow>;

export type MessageRefusal = keyof typeof MESSAGE_REFUSALS;
