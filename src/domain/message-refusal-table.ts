/**
 * The reasons for which the gateway refuses a request's head or body, with the status of the response. Data only; the
 * gateway's parsers of heads and bodies decide. Every refusal closes the connection (RFC 9112 §11.2: nothing may follow
 * an ambiguous message).
 */
export interface MessageRefusalRow {
  readonly status: number;
  readonly message: string;
  /** What the owner of the share, or of the client, can do. */
  readonly remedy: string;
}

export const MESSAGE_REFUSALS = {
  'bare-line-feed': {
    status: 400,
    message: 'A line ends without a carriage return.',
    remedy:
      'Let the client end each line of its head with CR and LF, as HTTP requires: hand-written requests and old scripts often send LF.',
  },
  'malformed-request-line': {
    status: 400,
    message: 'The request line is malformed.',
    remedy:
      'Let the client begin with a method, a target and HTTP/1.1, each after one space. Another protocol than HTTP, such as SSH, is not served on this port, and HTTP/2 without TLS only with the option --h2c of the gateway.',
  },
  'tls-on-plain-port': {
    status: 400,
    message: 'This port speaks plain HTTP, and the request began with a TLS handshake.',
    remedy:
      'Let the client use http:// for this port, or the port of the gateway that speaks TLS: see --https-port, and the scheme that a load balancer in front of it uses.',
  },
  'plain-on-tls-port': {
    status: 400,
    message: 'This port speaks HTTPS, and the request came in plain HTTP.',
    remedy:
      'Let the client use https:// for this port, or the port of the gateway that speaks plain HTTP: see the scheme that a load balancer in front of it uses.',
  },
  'malformed-status-line': {
    status: 400,
    message: 'The status line is malformed.',
    remedy: 'Let the service begin its response with HTTP/1.1 and a status of three digits.',
  },
  'unsupported-version': {
    status: 505,
    message: 'Only HTTP versions 1.1 and 1.0 are supported.',
    remedy:
      'Let the client use HTTP/1.1 on this port; HTTP/2 is spoken at the HTTPS port to clients that offer it (ALPN).',
  },
  'refused-method': {
    status: 405,
    message: 'This method is not supported.',
    remedy:
      'Let the client use one of the methods that the Allow header of the answer lists. CONNECT and TRACE are never forwarded.',
  },
  'malformed-target': {
    status: 400,
    message: 'The request target is malformed or ambiguous.',
    remedy:
      'Let the client send a path that begins with / and contains no spaces, fragments or characters beyond ASCII, which are percent-encoded.',
  },
  'foreign-authority': {
    status: 400,
    message: 'The request target names another host than the Host header.',
    remedy:
      'Let the client name the same host in the request line and in its Host header: check the settings of its proxy.',
  },
  'malformed-field': {
    status: 400,
    message: 'A header line is malformed.',
    remedy:
      'Let the client write each header as NAME: VALUE, without a space before the colon: the access log has the time and the address of the client.',
  },
  'folded-field': {
    status: 400,
    message: 'A header line is folded.',
    remedy:
      'Let the client write each header in one line: HTTP/1.1 no longer permits values that continue on the next one.',
  },
  'control-byte': {
    status: 400,
    message: 'A header contains a control character.',
    remedy:
      'Let the client send headers without control characters: a value that a script puts into a header often ends with a line break.',
  },
  'disguised-field': {
    status: 400,
    message: 'A framing header is written with an underscore.',
    remedy:
      'Let the client spell framing headers with hyphens, such as Content-Length: services read underscores as hyphens, and could be deceived.',
  },
  'missing-host': {
    status: 400,
    message: 'The Host header is missing.',
    remedy:
      'Let the client send a Host header, with the name of the share: a health check of a load balancer often lacks it.',
  },
  'doubled-host': {
    status: 400,
    message: 'There is more than one Host header.',
    remedy:
      'Let the client send one Host header: a proxy in front of the gateway probably adds a second one.',
  },
  'malformed-host': {
    status: 400,
    message: 'The Host header is malformed.',
    remedy: 'Let the client send the name of the share as Host, with at most a port behind it.',
  },
  'doubled-length': {
    status: 400,
    message: 'There is more than one Content-Length header.',
    remedy: 'Let the client, or the proxy in front of the gateway, send one Content-Length header.',
  },
  'malformed-length': {
    status: 400,
    message: 'The Content-Length header is malformed.',
    remedy: 'Let the client send the length of its body as decimal digits.',
  },
  'length-and-coding': {
    status: 400,
    message: 'Content-Length and Transfer-Encoding exclude each other.',
    remedy:
      'Let the client send either Content-Length or Transfer-Encoding: both together are a known attack on proxies.',
  },
  'unsupported-coding': {
    status: 400,
    message: 'Only the transfer coding chunked is supported, and only once.',
    remedy:
      'Let the client send its body with Transfer-Encoding: chunked, or with its length; compress it with Content-Encoding.',
  },
  'coding-in-old-version': {
    status: 400,
    message: 'HTTP/1.0 has no transfer codings.',
    remedy: 'Let the client use HTTP/1.1 for chunked bodies, or send the length of its body.',
  },
  'malformed-connection': {
    status: 400,
    message: 'The Connection header is malformed.',
    remedy: 'Let the client list header names in its Connection header, separated by commas.',
  },
  'unknown-expectation': {
    status: 417,
    message: 'Only the expectation 100-continue is supported.',
    remedy: 'Let the client send no Expect header, or Expect: 100-continue.',
  },
  'malformed-chunk': {
    status: 400,
    message: 'The chunked body is malformed.',
    remedy:
      'Let the sender write the size of each chunk in hexadecimal digits, and end the body with a chunk of size 0.',
  },
  'target-too-long': {
    status: 414,
    message: 'The request target is too long.',
    remedy: 'Shorten the address: send long data in the body of a POST request.',
  },
  'head-too-large': {
    status: 431,
    message: 'The headers are too large.',
    remedy:
      'Let the client send fewer or shorter headers: large tokens and cookies are the usual cause. The gateway accepts more with --max-header-bytes.',
  },
  'too-many-fields': {
    status: 431,
    message: 'There are too many headers.',
    remedy:
      'Let the client send fewer headers: a proxy in front of the gateway may add the same header again and again. The gateway accepts more with --max-header-fields.',
  },
  'too-many-heads': {
    status: 503,
    message: 'Too many requests are arriving at the same time. Please try again shortly.',
    remedy:
      'Clients hold more unfinished or large request headers than the gateway keeps in memory: look for clients that send slowly or send very large cookies, or run more workers or gateways.',
  },
  'malformed-forwarding': {
    status: 400,
    message: 'The proxy in front of this gateway reports a client that cannot be read.',
    remedy:
      'Let the trusted proxy put the address of its client at the end of X-Forwarded-For (or into Forwarded, RFC 7239), and http or https into X-Forwarded-Proto: see the guide "Behind a proxy".',
  },
  'conflicting-forwarding': {
    status: 400,
    message: 'X-Forwarded-For and Forwarded name different clients.',
    remedy:
      'Let the trusted proxy remove the one of both headers that it does not set itself: a client sent it, or another proxy.',
  },
} as const satisfies Record<string, MessageRefusalRow>;

export type MessageRefusal = keyof typeof MESSAGE_REFUSALS;
