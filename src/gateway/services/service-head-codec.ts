/**
 * Heads between HTTP/1.1, as the gateway writes and reads them, and HTTP/2, as a service speaks it: the reverse of
 * `stream-head-codec.ts`. RFC 9113 §8, RFC 8441. ADR 0121.
 */
import {
  CONNECTION,
  HOP,
  HOST,
  KEEP_ALIVE,
  TE,
  TRANSFER_ENCODING,
  UPGRADE,
} from '../http/field-name-table.ts';
import { isGrpcType } from '../http/grpc-policy.ts';
import { breaksLine } from '../http/raw-lines.ts';
import type { RequestHead } from '../http/request-head-policy.ts';

/** The headers of a request, names and values in turns, and how its body travels. */
export function serviceRequest(head: RequestHead, scheme: 'http' | 'https'): string[] {
  const { fields, method, target, hostValue, upgrade } = head;
  const raw = [
    ...[':method', upgrade === '' ? method : 'CONNECT'],
    ...[':scheme', scheme],
    ...[':authority', hostValue],
    ...[':path', target],
  ];
  if (upgrade !== '') raw.push(':protocol', upgrade.toLowerCase());
  for (let i = 0; i < fields.count; i += 1) {
    const code = fields.code[i]!;
    if (isOfConnection(code) || (code === TE && !head.acceptsTrailers)) continue;
    const name = fields.name(i).toLowerCase();
    // RFC 8441 §5 has no key, because the request itself cannot be replayed.
    if (upgrade !== '' && name === 'sec-websocket-key') continue;
    raw.push(name, code === TE ? 'trailers' : fields.value(i));
  }
  return raw;
}

function isOfConnection(code: number): boolean {
  return (
    code === HOST ||
    code === CONNECTION ||
    code === KEEP_ALIVE ||
    code === TRANSFER_ENCODING ||
    code === UPGRADE ||
    code === HOP
  );
}

export interface ServiceAnswer {
  readonly status: number;
  /** A head of HTTP/1.1, in Latin-1. */
  readonly text: string;
  /** Whether the text announces chunks, so that trailers can follow. */
  readonly isChunked: boolean;
}

/** The body of a response, as far as it is decided when the head arrives. */
export interface AnswerBody {
  /** Whether the stream ends with the head. */
  readonly isOver: boolean;
  /** Whether the response has none, because of the method of its request. */
  readonly isBodiless: boolean;
}

const NO_BODY_STATUSES: ReadonlySet<number> = new Set([204, 304]);
/** What a connection of HTTP/1.1 has, and HTTP/2 forbids (RFC 9113 §8.2.2). */
const OF_CONNECTION: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'transfer-encoding',
  'upgrade',
]);

/**
 * `raw` has the names and values of a response, or of an interim one, as received. Returns undefined if no head of HTTP/1.1 can
 * carry them. A length is kept if no trailers can be expected, because chunks are the only framing that has them.
 */
export function serviceAnswer(raw: readonly string[], body: AnswerBody): ServiceAnswer | undefined {
  let status = 0;
  let length: string | undefined;
  let lines = '';
  let mayHaveTrailers = false;
  for (let i = 0; i + 1 < raw.length; i += 2) {
    const [name, value] = [raw[i]!, raw[i + 1]!];
    if (breaksLine(name) || breaksLine(value)) return undefined;
    if (name === ':status') status = Number(value);
    else if (name === 'content-length') length = value;
    else if (!OF_CONNECTION.has(name)) lines += `${name}: ${value}\r\n`;
    if (name === 'trailer' || (name === 'content-type' && isGrpcType(value))) mayHaveTrailers = true;
  }
  // HTTP/2 has no protocols to switch to.
  if (!(status >= 100 && status <= 999) || status === 101) return undefined;
  const start = `HTTP/1.1 ${status} \r\n${lines}`;
  if (status < 200) return { status, text: `${start}\r\n`, isChunked: false };
  const isBodiless = body.isBodiless || NO_BODY_STATUSES.has(status);
  if (!isBodiless && !body.isOver && (length === undefined || mayHaveTrailers))
    return { status, text: `${start}transfer-encoding: chunked\r\n\r\n`, isChunked: true };
  // A response that ends with its head has no body, even if it announces a length.
  const announced = isBodiless ? length : body.isOver ? '0' : length;
  const lengthLine = announced === undefined ? '' : `content-length: ${announced}\r\n`;
  return { status, text: `${start}${lengthLine}\r\n`, isChunked: false };
}

/** `raw` are those of a 2xx response to extended CONNECT. Returns the head with which HTTP/1.1 switches protocols. */
export function serviceUpgrade(raw: readonly string[], protocol: string, accept: string): string | undefined {
  let lines = '';
  for (let i = 0; i + 1 < raw.length; i += 2) {
    const [name, value] = [raw[i]!, raw[i + 1]!];
    if (breaksLine(name) || breaksLine(value)) return undefined;
    if (!name.startsWith(':') && name !== 'content-length' && !OF_CONNECTION.has(name))
      lines += `${name}: ${value}\r\n`;
  }
  const acceptLine = accept === '' ? '' : `sec-websocket-accept: ${accept}\r\n`;
  return `HTTP/1.1 101 Switching Protocols\r\n${lines}${acceptLine}connection: upgrade\r\nupgrade: ${protocol}\r\n\r\n`;
}
