/**
 * Heads between HTTP/2 and HTTP/1.1. A request becomes the text of an HTTP/1.1 head, which passes the same strict layer as any
 * other (`request-head-policy.ts`); a response's head becomes HTTP/2 headers. RFC 9113 §8, RFC 8441.
 */
import { CONNECTION, HOP, KEEP_ALIVE, TRANSFER_ENCODING, UPGRADE } from '../http/field-name-table.ts';
import type { FieldLines } from '../http/head-decoder.ts';
import { breaksLine } from '../http/raw-lines.ts';
import { acceptsTrailers } from '../http/trailer-policy.ts';

/** Headers of a response; an array has the values of equal names. */
export type StreamHeaders = Record<string, string | number | string[]>;

export interface StreamRequest {
  /** Latin-1. */
  readonly head: string;
  readonly method: string;
  /** Whether the body has no known length, so that the text announces chunks. */
  readonly isChunked: boolean;
  /** The request opens a tunnel of this protocol, such as `websocket`, by extended CONNECT; otherwise ''. */
  readonly protocol: string;
  readonly acceptsTrailers: boolean;
}

/**
 * `raw` has names and values in turns, as received; `socketKey` is for a request that opens a WebSocket. Returns undefined for headers that no HTTP/1.1 head can carry. A request
 * whose names contradict each other gets two `Host` lines, which the strict layer refuses.
 */
export function readStreamRequest(
  raw: readonly string[],
  hasBody: boolean,
  socketKey: () => string,
): StreamRequest | undefined {
  const pseudo = { method: '', path: '', authority: '', protocol: '' };
  let lines = '';
  let cookies = '';
  let hasLength = false;
  let wantsTrailers = false;
  for (let i = 0; i + 1 < raw.length; i += 2) {
    const [name, value] = [raw[i]!, raw[i + 1]!];
    if (breaksLine(value) || breaksLine(name)) return undefined;
    switch (name) {
      case ':method':
        pseudo.method = value;
        break;
      case ':path':
        pseudo.path = value;
        break;
      case ':authority':
        pseudo.authority = value;
        break;
      case ':protocol':
        pseudo.protocol = value;
        break;
      case 'cookie':
        // Clients split it for their compression (RFC 9113 §8.2.3).
        cookies += cookies === '' ? value : `; ${value}`;
        break;
      case 'host':
        if (value !== pseudo.authority) lines += `host: ${value}\r\n`;
        break;
      default:
        if (name.startsWith(':')) break;
        if (name === 'content-length') hasLength = true;
        if (name === 'te') wantsTrailers ||= acceptsTrailers(value);
        lines += `${name}: ${value}\r\n`;
    }
  }
  const { path, authority, protocol } = pseudo;
  const method = protocol === '' ? pseudo.method : 'GET';
  let head = `${method} ${path === '' ? '*' : path} HTTP/1.1\r\n`;
  if (authority !== '') head += `host: ${authority}\r\n`;
  head += lines;
  if (cookies !== '') head += `cookie: ${cookies}\r\n`;
  // A stream has one request: what follows it is not another one.
  head += protocol === '' ? 'connection: close\r\n' : upgradeLines(protocol, socketKey);
  const isChunked = protocol === '' && hasBody && !hasLength;
  if (isChunked) head += 'transfer-encoding: chunked\r\n';
  return { head: `${head}\r\n`, method, isChunked, protocol, acceptsTrailers: wantsTrailers };
}

/** RFC 8441 §5 leaves out the key, which services of HTTP/1.1 require. */
function upgradeLines(protocol: string, socketKey: () => string): string {
  const key = protocol === 'websocket' ? `sec-websocket-key: ${socketKey()}\r\n` : '';
  return `connection: upgrade, close\r\nupgrade: ${protocol}\r\n${key}`;
}

/** Headers of which `node:http2` sends one; the first counts. */
const SINGLE = new Set([
  ...['access-control-allow-credentials', 'age', 'authorization', 'content-length', 'content-location'],
  ...['content-md5', 'content-range', 'content-type', 'date', 'dnt', 'etag', 'expires', 'from', 'host'],
  ...['if-match', 'if-modified-since', 'if-none-match', 'if-range', 'if-unmodified-since', 'last-modified'],
  ...['location', 'max-forwards', 'proxy-authorization', 'range', 'referer', 'retry-after', 'tk'],
  ...['upgrade-insecure-requests', 'user-agent', 'x-content-type-options'],
]);
/** Lists, of which `node:http2` sends one line. */
const LISTS = new Set(['content-encoding', 'content-language']);
/** Clients treat a status beyond as one of this class (RFC 9110 §15), and `node:http2` sends none. */
const LAST_STATUS = 599;

/** The headers of a response for a client, without those of an HTTP/1.1 connection. */
export function streamHeaders(status: number, fields: FieldLines): StreamHeaders {
  const headers = linesByName(fields);
  headers[':status'] = status > LAST_STATUS ? 500 : status;
  return headers;
}

/** The trailers of a response. */
export function streamTrailers(fields: FieldLines): StreamHeaders {
  return linesByName(fields);
}

function linesByName(fields: FieldLines): StreamHeaders {
  // Without a prototype: a service may name a header `constructor`.
  const headers = Object.create(null) as StreamHeaders;
  for (let i = 0; i < fields.count; i += 1) {
    if (isOfConnection(fields.code[i]!)) continue;
    const name = fields.name(i).toLowerCase();
    const value = fields.value(i);
    const before = headers[name];
    if (before === undefined) headers[name] = value;
    else if (Array.isArray(before)) before.push(value);
    else if (LISTS.has(name)) headers[name] = `${before}, ${value}`;
    else if (!SINGLE.has(name)) headers[name] = [String(before), value];
  }
  return headers;
}

function isOfConnection(code: number): boolean {
  return (
    code === CONNECTION ||
    code === KEEP_ALIVE ||
    code === TRANSFER_ENCODING ||
    code === UPGRADE ||
    code === HOP
  );
}
