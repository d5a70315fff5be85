/**
 * Requests that two parsers could read differently, or that no parser should read: what each is, its bytes (Latin-1),
 * and the statuses that may answer it before the connection closes. Data alone; `FRAMING_HOST` stands for the share.
 */

/** The request for the share at `host`; its spelling in capitals follows. */
export function framingRequest(template: string, host: string): string {
  return template.replaceAll(FRAMING_HOST, host).replaceAll(FRAMING_HOST.toUpperCase(), host.toUpperCase());
}

/** Replaced by the host of the share that a case is sent to. */
export const FRAMING_HOST = 'app.share.localhost';

export type FramingCase = readonly [name: string, request: string, statuses: readonly number[]];

const HOST = `Host: ${FRAMING_HOST}\r\n`;

export const REFUSED_REQUESTS: readonly FramingCase[] = [
  ['a bare LF after the request line', `GET / HTTP/1.1\n${HOST}\r\n`, [400]],
  ['a bare LF after a header', `GET / HTTP/1.1\r\nHost: app.share.localhost\n\r\n`, [400]],
  ['a bare LF as the empty line', `GET / HTTP/1.1\r\n${HOST}\n`, [400]],
  ['a bare CR in a value', `GET / HTTP/1.1\r\n${HOST}X: a\rb\r\n\r\n`, [400]],
  ['a NUL in a value', `GET / HTTP/1.1\r\n${HOST}X: a\0b\r\n\r\n`, [400]],
  ['a control byte in a name', `GET / HTTP/1.1\r\n${HOST}X\x01Y: a\r\n\r\n`, [400]],
  ['DEL in a value', `GET / HTTP/1.1\r\n${HOST}X: a\x7f\r\n\r\n`, [400]],
  ['a folded header', `GET / HTTP/1.1\r\n${HOST}X: a\r\n b\r\n\r\n`, [400]],
  ['a header line that starts with a tab', `GET / HTTP/1.1\r\n\tX: a\r\n${HOST}\r\n`, [400]],
  ['a space before the colon', `GET / HTTP/1.1\r\n${HOST}X : a\r\n\r\n`, [400]],
  ['a name in no form', `GET / HTTP/1.1\r\n${HOST}: a\r\n\r\n`, [400]],
  ['a line without a colon', `GET / HTTP/1.1\r\n${HOST}nonsense\r\n\r\n`, [400]],
  ['a doubled space in the request line', `GET  / HTTP/1.1\r\n${HOST}\r\n`, [400]],
  ['a doubled space before the version', `GET /  HTTP/1.1\r\n${HOST}\r\n`, [400]],
  ['a tab in the request line', `GET\t/ HTTP/1.1\r\n${HOST}\r\n`, [400]],
  ['a space in the target', `GET /a b HTTP/1.1\r\n${HOST}\r\n`, [400]],
  ['an empty line first', `\r\nGET / HTTP/1.1\r\n${HOST}\r\n`, [400]],
  ['no version', `GET /\r\n${HOST}\r\n`, [400]],
  ['a lower-case version', `GET / http/1.1\r\n${HOST}\r\n`, [400]],
  ['HTTP/2.0', `GET / HTTP/2.0\r\n${HOST}\r\n`, [505]],
  ['HTTP/0.9', `GET / HTTP/0.9\r\n${HOST}\r\n`, [505]],
  ['HTTP/1.10', `GET / HTTP/1.10\r\n${HOST}\r\n`, [505]],
  ['the HTTP/2 preface', `PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n`, [505]],
  ['TRACE', `TRACE / HTTP/1.1\r\n${HOST}\r\n`, [405]],
  ['CONNECT', `CONNECT app.share.localhost:80 HTTP/1.1\r\n${HOST}\r\n`, [405]],
  ['an empty target', `GET  HTTP/1.1\r\n${HOST}\r\n`, [400]],
  ['a relative target', `GET x HTTP/1.1\r\n${HOST}\r\n`, [400]],
  ['a fragment', `GET /#frag HTTP/1.1\r\n${HOST}\r\n`, [400]],
  ['a network-path target', `GET //evil/x HTTP/1.1\r\n${HOST}\r\n`, [400]],
  ['a backslash path', `GET /\\evil/x HTTP/1.1\r\n${HOST}\r\n`, [400]],
  ['raw bytes in the target', `GET /\xc0\xaf HTTP/1.1\r\n${HOST}\r\n`, [400]],
  ['file: as target', `GET file:///etc/passwd HTTP/1.1\r\n${HOST}\r\n`, [400]],
  ['an asterisk for GET', `GET * HTTP/1.1\r\n${HOST}\r\n`, [400]],
  ['another authority in the target', `GET http://other.share.localhost/ HTTP/1.1\r\n${HOST}\r\n`, [400]],
  ['another port in the target', `GET http://app.share.localhost:81/ HTTP/1.1\r\n${HOST}\r\n`, [400]],
  ['user information in the target', `GET http://a@app.share.localhost/ HTTP/1.1\r\n${HOST}\r\n`, [400]],
  [
    'an absolute target with a doubled slash',
    `GET http://app.share.localhost//evil HTTP/1.1\r\n${HOST}\r\n`,
    [400],
  ],
  ['no Host', `GET / HTTP/1.1\r\nX: a\r\n\r\n`, [400]],
  ['no Host in HTTP/1.0', `GET / HTTP/1.0\r\n\r\n`, [400]],
  ['two equal Hosts', `GET / HTTP/1.1\r\n${HOST}${HOST}\r\n`, [400]],
  ['two different Hosts', `GET / HTTP/1.1\r\n${HOST}Host: other.share.localhost\r\n\r\n`, [400]],
  ['an empty Host', `GET / HTTP/1.1\r\nHost:\r\n\r\n`, [400]],
  ['a Host list', `GET / HTTP/1.1\r\nHost: app.share.localhost, other\r\n\r\n`, [400]],
  ['a Host with user information', `GET / HTTP/1.1\r\nHost: a@app.share.localhost\r\n\r\n`, [400]],
  ['a Host with a path', `GET / HTTP/1.1\r\nHost: app.share.localhost/x\r\n\r\n`, [400]],
  ['a Host with a space', `GET / HTTP/1.1\r\nHost: app.share localhost\r\n\r\n`, [400]],
  ['a Host with an empty label', `GET / HTTP/1.1\r\nHost: app..localhost\r\n\r\n`, [400]],
  ['a Host with a bad port', `GET / HTTP/1.1\r\nHost: app.share.localhost:x\r\n\r\n`, [400]],
  ['a Host with a huge port', `GET / HTTP/1.1\r\nHost: app.share.localhost:99999\r\n\r\n`, [400]],
  ['a Host with an empty port', `GET / HTTP/1.1\r\nHost: app.share.localhost:\r\n\r\n`, [400]],
  [
    'two equal Content-Lengths',
    `POST / HTTP/1.1\r\n${HOST}Content-Length: 1\r\nContent-Length: 1\r\n\r\nx`,
    [400],
  ],
  ['two Content-Lengths', `POST / HTTP/1.1\r\n${HOST}Content-Length: 1\r\nContent-Length: 2\r\n\r\nx`, [400]],
  ['a Content-Length list', `POST / HTTP/1.1\r\n${HOST}Content-Length: 1, 1\r\n\r\nx`, [400]],
  ['a signed Content-Length', `POST / HTTP/1.1\r\n${HOST}Content-Length: +1\r\n\r\nx`, [400]],
  ['a negative Content-Length', `POST / HTTP/1.1\r\n${HOST}Content-Length: -1\r\n\r\nx`, [400]],
  ['a hexadecimal Content-Length', `POST / HTTP/1.1\r\n${HOST}Content-Length: 0x1\r\n\r\nx`, [400]],
  ['an empty Content-Length', `POST / HTTP/1.1\r\n${HOST}Content-Length:\r\n\r\nx`, [400]],
  [
    'a Content-Length beyond all numbers',
    `POST / HTTP/1.1\r\n${HOST}Content-Length: 99999999999999999999\r\n\r\nx`,
    [400],
  ],
  [
    'Content-Length and chunked',
    `POST / HTTP/1.1\r\n${HOST}Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    [400],
  ],
  [
    'chunked and Content-Length',
    `POST / HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n`,
    [400],
  ],
  [
    'chunked twice',
    `POST / HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    [400, 501],
  ],
  [
    'a list of codings',
    `POST / HTTP/1.1\r\n${HOST}Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n`,
    [400, 501],
  ],
  ['identity', `POST / HTTP/1.1\r\n${HOST}Transfer-Encoding: identity\r\n\r\n`, [400, 501]],
  ['a quoted coding', `POST / HTTP/1.1\r\n${HOST}Transfer-Encoding: "chunked"\r\n\r\n0\r\n\r\n`, [400, 501]],
  [
    'a coding with a control byte',
    `POST / HTTP/1.1\r\n${HOST}Transfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n`,
    [400, 501],
  ],
  ['chunked in HTTP/1.0', `POST / HTTP/1.0\r\n${HOST}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n`, [400]],
  ['Transfer_Encoding', `POST / HTTP/1.1\r\n${HOST}Transfer_Encoding: chunked\r\n\r\n0\r\n\r\n`, [400]],
  ['Content_Length', `POST / HTTP/1.1\r\n${HOST}Content_Length: 1\r\n\r\nx`, [400]],
  ['KEEP_ALIVE', `GET / HTTP/1.1\r\n${HOST}KEEP_ALIVE: 1\r\n\r\n`, [400]],
  [
    'a space after a chunk size',
    `POST / HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked\r\n\r\n1 \r\nx\r\n0\r\n\r\n`,
    [400],
  ],
  [
    'a chunk size with 0x',
    `POST / HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked\r\n\r\n0x1\r\nx\r\n0\r\n\r\n`,
    [400],
  ],
  [
    'a bare LF after a chunk size',
    `POST / HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked\r\n\r\n1\nx\r\n0\r\n\r\n`,
    [400],
  ],
  [
    'a bare LF in a chunk extension',
    `POST / HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked\r\n\r\n1;a\nb\r\nx\r\n0\r\n\r\n`,
    [400],
  ],
  [
    'no CRLF after the chunk data',
    `POST / HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked\r\n\r\n1\r\nxx\r\n0\r\n\r\n`,
    [400],
  ],
  [
    'a chunk size beyond all numbers',
    `POST / HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\nx\r\n0\r\n\r\n`,
    [400],
  ],
  ['a malformed Connection', `GET / HTTP/1.1\r\n${HOST}Connection: a b\r\n\r\n`, [400]],
  ['an unknown expectation', `GET / HTTP/1.1\r\n${HOST}Expect: the unexpected\r\n\r\n`, [417]],
  ['a target that is too long', `GET /${'a'.repeat(9_000)} HTTP/1.1\r\n${HOST}\r\n`, [414]],
  ['a head that is too large', `GET / HTTP/1.1\r\n${HOST}X: ${'a'.repeat(66_000)}\r\n\r\n`, [431]],
  ['too many headers', `GET / HTTP/1.1\r\n${HOST}${'A: b\r\n'.repeat(201)}\r\n`, [431]],
  ['a TLS hello on the plain port', '\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03', [400]],

  // Codings.
  [
    'a coding in capitals',
    `POST / HTTP/1.1\r\n${HOST}Transfer-Encoding: Chunked\r\n\r\n0\r\n\r\n`,
    [400, 501],
  ],
  [
    'chunked listed twice',
    `POST / HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n`,
    [400, 501],
  ],
  [
    'chunked, then identity',
    `POST / HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n`,
    [400, 501],
  ],
  [
    'chunked with a parameter',
    `POST / HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked;q=1\r\n\r\n0\r\n\r\n`,
    [400, 501],
  ],
  ['an empty coding', `POST / HTTP/1.1\r\n${HOST}Transfer-Encoding:\r\n\r\n0\r\n\r\n`, [400, 501]],
  ['an unknown coding', `POST / HTTP/1.1\r\n${HOST}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n`, [400, 501]],
  [
    'a coding before a space and the colon',
    `POST / HTTP/1.1\r\n${HOST}Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n`,
    [400],
  ],
  [
    'a coding before a tab and the colon',
    `POST / HTTP/1.1\r\n${HOST}Transfer-Encoding\t: chunked\r\n\r\n0\r\n\r\n`,
    [400],
  ],
  ['a folded coding', `POST / HTTP/1.1\r\n${HOST}Transfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n`, [400]],
  [
    'a coding after a bare CR',
    `POST / HTTP/1.1\r\n${HOST}X: y\rTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    [400],
  ],
  [
    'a coding after a bare LF',
    `POST / HTTP/1.1\r\n${HOST}X: y\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    [400],
  ],
  ['a coding behind a NUL', `POST / HTTP/1.1\r\n${HOST}\0Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n`, [400]],
  [
    'a coding and a length in HTTP/1.0',
    `POST / HTTP/1.0\r\n${HOST}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    [400],
  ],
  // Lengths.
  ['a length with a space inside', `POST / HTTP/1.1\r\n${HOST}Content-Length: 1 1\r\n\r\nx`, [400]],
  ['a length with a fraction', `POST / HTTP/1.1\r\n${HOST}Content-Length: 1.0\r\n\r\nx`, [400]],
  ['a length with an exponent', `POST / HTTP/1.1\r\n${HOST}Content-Length: 1e0\r\n\r\nx`, [400]],
  ['a length with an underscore', `POST / HTTP/1.1\r\n${HOST}Content-Length: 1_0\r\n\r\nx`, [400]],
  ['a length behind a vertical tab', `POST / HTTP/1.1\r\n${HOST}Content-Length: \x0b1\r\n\r\nx`, [400]],
  ['a length with a NUL', `POST / HTTP/1.1\r\n${HOST}Content-Length: 1\0\r\n\r\nx`, [400]],
  ['a length in quotes', `POST / HTTP/1.1\r\n${HOST}Content-Length: "1"\r\n\r\nx`, [400]],
  ['a length of Arabic digits', `POST / HTTP/1.1\r\n${HOST}Content-Length: \xd9\xa1\r\n\r\nx`, [400]],
  ['a length before a space and the colon', `POST / HTTP/1.1\r\n${HOST}Content-Length : 1\r\n\r\nx`, [400]],
  [
    'two lengths, one written with an underscore',
    `POST / HTTP/1.1\r\n${HOST}Content-Length: 1\r\ncontent_length: 0\r\n\r\nx`,
    [400],
  ],
  // Trailers.
  [
    'a folded trailer',
    `POST / HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked\r\n\r\n0\r\nX: y\r\n z\r\n\r\n`,
    [400],
  ],
  [
    'a bare LF after a trailer',
    `POST / HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked\r\n\r\n0\r\nX: y\n\r\n`,
    [400],
  ],
  [
    'a space before the colon of a trailer',
    `POST / HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked\r\n\r\n0\r\nX : y\r\n\r\n`,
    [400],
  ],
  [
    'too many trailers',
    `POST / HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked\r\n\r\n0\r\n${'X: y\r\n'.repeat(65)}\r\n`,
    [400],
  ],
  // Chunks.
  [
    'a negative chunk size',
    `POST / HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked\r\n\r\n-1\r\nx\r\n0\r\n\r\n`,
    [400],
  ],
  [
    'a signed chunk size',
    `POST / HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked\r\n\r\n+1\r\nx\r\n0\r\n\r\n`,
    [400],
  ],
  [
    'a space before a chunk size',
    `POST / HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked\r\n\r\n 1\r\nx\r\n0\r\n\r\n`,
    [400],
  ],
  [
    'a tab after a chunk size',
    `POST / HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked\r\n\r\n1\t\r\nx\r\n0\r\n\r\n`,
    [400],
  ],
  ['no chunk size', `POST / HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked\r\n\r\n\r\nx\r\n0\r\n\r\n`, [400]],
  [
    'an extension without a chunk size',
    `POST / HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked\r\n\r\n;a=b\r\nx\r\n0\r\n\r\n`,
    [400],
  ],
  [
    'a chunk size with an underscore',
    `POST / HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked\r\n\r\n1_0\r\nx\r\n0\r\n\r\n`,
    [400],
  ],
  [
    'a bare CR after a chunk size',
    `POST / HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked\r\n\r\n1\rx\r\n0\r\n\r\n`,
    [400],
  ],
  [
    'a bare CR in a chunk extension',
    `POST / HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked\r\n\r\n1;a\rb\r\nx\r\n0\r\n\r\n`,
    [400],
  ],
  [
    'a NUL in a chunk extension',
    `POST / HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked\r\n\r\n1;a\0\r\nx\r\n0\r\n\r\n`,
    [400],
  ],
  [
    'a chunk extension beyond its bound',
    `POST / HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked\r\n\r\n1;${'a'.repeat(300)}\r\nx\r\n0\r\n\r\n`,
    [400],
  ],
  [
    'a bare LF after the chunk data',
    `POST / HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked\r\n\r\n1\r\nx\n0\r\n\r\n`,
    [400],
  ],
  [
    'a bare LF after the last chunk',
    `POST / HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked\r\n\r\n0\n\r\n`,
    [400],
  ],
  [
    'a bare LF as the end of trailers',
    `POST / HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked\r\n\r\n0\r\n\n`,
    [400],
  ],
  [
    'a folded trailer',
    `POST / HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked\r\n\r\n0\r\nX: a\r\n b\r\n\r\n`,
    [400],
  ],
  [
    'a trailer without a colon',
    `POST / HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked\r\n\r\n0\r\nnonsense\r\n\r\n`,
    [400],
  ],
  [
    'a trailer with a space in its name',
    `POST / HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked\r\n\r\n0\r\nX Y: a\r\n\r\n`,
    [400],
  ],
  // A lenient parser reads the rest as a trailer, and no parser as a request.
  [
    'a request instead of the empty line after the last chunk',
    `POST / HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked\r\n\r\n0\r\nGET /poison HTTP/1.1\r\n${HOST}\r\n`,
    [400],
  ],
  // Request lines.
  ['a NUL in the target', `GET /\0 HTTP/1.1\r\n${HOST}\r\n`, [400]],
  ['DEL in the target', `GET /\x7f HTTP/1.1\r\n${HOST}\r\n`, [400]],
  ['a method in brackets', `G(ET / HTTP/1.1\r\n${HOST}\r\n`, [400]],
  ['a method without end', `${'G'.repeat(40)} / HTTP/1.1\r\n${HOST}\r\n`, [400]],
  ['a space at the end of the request line', `GET / HTTP/1.1 \r\n${HOST}\r\n`, [400, 505]],
  ['a comma in the version', `GET / HTTP/1,1\r\n${HOST}\r\n`, [400, 505]],
  ['HTTP/1.2', `GET / HTTP/1.2\r\n${HOST}\r\n`, [505]],
  ['HTTP/11.1', `GET / HTTP/11.1\r\n${HOST}\r\n`, [505]],
  ['a version of another protocol', `GET / ICAP/1.0\r\n${HOST}\r\n`, [400]],
  ['a bare CR in the request line', `GET /\r HTTP/1.1\r\n${HOST}\r\n`, [400]],
  ['a space before the method', ` GET / HTTP/1.1\r\n${HOST}\r\n`, [400]],
  ['a byte order mark before the method', `\xef\xbb\xbfGET / HTTP/1.1\r\n${HOST}\r\n`, [400]],
  ['an absolute target of another scheme', `GET ftp://app.share.localhost/ HTTP/1.1\r\n${HOST}\r\n`, [400]],
  ['an absolute target without a host', `GET http:///x HTTP/1.1\r\n${HOST}\r\n`, [400]],
  ['an absolute target at the loopback address', `GET http://127.0.0.1:1/ HTTP/1.1\r\n${HOST}\r\n`, [400]],
  ['three slashes', `GET ///evil HTTP/1.1\r\n${HOST}\r\n`, [400]],
  // Names and fields.
  ['a Host with a space before the colon', `GET / HTTP/1.1\r\nHost : app.share.localhost\r\n\r\n`, [400]],
  ['a Host after a folded line', `GET / HTTP/1.1\r\nX: y\r\n Host: other\r\n${HOST}\r\n`, [400]],
  ['a folded Host', `GET / HTTP/1.1\r\nHost:\r\n app.share.localhost\r\n\r\n`, [400]],
  ['a Host with a NUL', `GET / HTTP/1.1\r\nHost: app.share.localhost\0.evil\r\n\r\n`, [400]],
  ['a Host with a tab', `GET / HTTP/1.1\r\nHost: app.share.localhost\tevil\r\n\r\n`, [400]],
  ['a Host with a fragment', `GET / HTTP/1.1\r\nHost: app.share.localhost#evil\r\n\r\n`, [400]],
  ['a Host with an escape', `GET / HTTP/1.1\r\nHost: app%2eshare.localhost\r\n\r\n`, [400]],
  ['a Host with raw UTF-8', `GET / HTTP/1.1\r\nHost: \xc3\xa4pp.share.localhost\r\n\r\n`, [400]],
  ['a doubled Host in other spellings', `GET / HTTP/1.1\r\n${HOST}hOST: app.share.localhost\r\n\r\n`, [400]],
  ['a name with a slash', `GET / HTTP/1.1\r\n${HOST}X/Y: a\r\n\r\n`, [400]],
  ['a name with obs-text', `GET / HTTP/1.1\r\n${HOST}X\xe9: a\r\n\r\n`, [400]],
  ['a name with a NUL', `GET / HTTP/1.1\r\n${HOST}X\0: a\r\n\r\n`, [400]],
  ['PROXY protocol', `PROXY TCP4 127.0.0.2 127.0.0.1 1 2\r\nGET / HTTP/1.1\r\n${HOST}\r\n`, [400]],
  [
    'two expectations',
    `POST / HTTP/1.1\r\n${HOST}Expect: 100-continue\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\nx`,
    [400, 417],
  ],
];

/** Unusual, and with one meaning: served once each, and what follows them too. */
export const SERVED_REQUESTS: readonly (readonly [name: string, request: string])[] = [
  ['the absolute form', `GET http://${FRAMING_HOST}/x HTTP/1.1\r\n${HOST}\r\n`],
  ['a Host in capitals with a port', `GET / HTTP/1.1\r\nHost: ${FRAMING_HOST.toUpperCase()}:8080\r\n\r\n`],
  ['a Host with a trailing dot', `GET / HTTP/1.1\r\nHost: ${FRAMING_HOST}.\r\n\r\n`],
  ['spaces around a value', `GET / HTTP/1.1\r\nhost: \t ${FRAMING_HOST} \t\r\n\r\n`],
  ['leading zeros of a length', `POST / HTTP/1.1\r\n${HOST}Content-Length: 0003\r\n\r\nabc`],
  ['a body of GET', `GET / HTTP/1.1\r\n${HOST}Content-Length: 3\r\n\r\nabc`],
  [
    'chunk extensions and trailers',
    `POST / HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked\r\n\r\n03;a=b;c="d"\r\nabc\r\n0;e\r\nX: y\r\n\r\n`,
  ],
  [
    'a chunk that looks like a request',
    `POST / HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked\r\n\r\n1c\r\nGET /poison HTTP/1.1\r\nX: a\r\n\r\n0\r\n\r\n`,
  ],
  ['an empty chunked body', `POST / HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n`],
  ['a method of few', `PURGE /pot HTTP/1.1\r\n${HOST}\r\n`],
];
