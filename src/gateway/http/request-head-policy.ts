/**
 * The strict layer through which every request head passes. A head that two HTTP parsers could read differently
 * is refused here, before routing. An accepted head has exactly one framing, one canonical host and one target,
 * and the same text is used for the decision and for forwarding. RFC 9112, without leniency.
 */
import type { MessageRefusal } from '#domain';
import {
  ACCEPT,
  CONNECTION,
  CONTENT_LENGTH,
  COOKIE,
  DISGUISED,
  EXPECT,
  HOST,
  IS_TARGET,
  IS_TOKEN,
  OTHER,
  TE,
  TRAILER,
  TRANSFER_ENCODING,
  UPGRADE,
} from './field-name-table.ts';
import { FieldLines } from './head-decoder.ts';
import { canonicalHost, sameAuthority } from './host-policy.ts';
import { acceptsTrailers } from './trailer-policy.ts';

const MAX_METHOD = 32;
const MAX_CONNECTION_ITEMS = 32;
const NO_NAMES: readonly string[] = [];

/** An accepted request head. The object is reused from request to request, so callers copy what they keep. */
export class RequestHead {
  readonly fields = new FieldLines();
  method = '';
  /** In origin form (or `*`), as received. */
  target = '';
  http10 = false;
  /** The canonical host. */
  host = '';
  /** The Host header as received. */
  hostValue = '';
  /** -1 if absent. */
  contentLength = -1;
  chunked = false;
  keepAlive = true;
  expectContinue = false;
  /** The protocol to switch to; empty if none was requested, or one that is never forwarded (h2c). */
  upgrade = '';
  accept = '';
  /** Whether the client accepts trailers in the response. */
  acceptsTrailers = false;
  /** Names that `Trailer` announces, as received. */
  announcedTrailers = '';
  /** Total length of all `Cookie` lines. */
  cookieBytes = 0;
  /** Lower-case names that `Connection` lists beyond the known ones. They are not forwarded. */
  connectionNames: readonly string[] = NO_NAMES;
  /** The last well-formed Host and its canonical form, because most requests repeat it. */
  knownHostValue: string | undefined;
  knownHost = '';

  get hasBody(): boolean {
    return this.chunked || this.contentLength > 0;
  }
}

/** The first byte of a TLS handshake (RFC 8446 §5.1). */
const TLS_HANDSHAKE = 0x16;

/** Returns why no request begins with this byte, before the rest of a head arrives. */
export function refusalOfStart(first: number, isSecure: boolean): MessageRefusal | undefined {
  if (IS_TOKEN[first] !== 0) return undefined;
  return first === TLS_HANDSHAKE && !isSecure ? 'tls-on-plain-port' : 'malformed-request-line';
}

/** Reads the head `text` (Latin-1, with its empty line) into `head`. */
export function readRequestHead(
  text: string,
  maxFields: number,
  head: RequestHead,
): MessageRefusal | undefined {
  const lineEnd = text.indexOf('\r\n');
  const lineProblem = readRequestLine(text, lineEnd, head);
  if (lineProblem !== undefined) return lineProblem;
  const fieldProblem = head.fields.decode(text, lineEnd + 2, maxFields);
  if (fieldProblem !== undefined) return fieldProblem;
  return readFields(head) ?? readAuthority(head);
}

function readRequestLine(text: string, lineEnd: number, head: RequestHead): MessageRefusal | undefined {
  let i = 0;
  while (IS_TOKEN[text.charCodeAt(i) & 0xff] === 1) i += 1;
  if (i === 0 || i > MAX_METHOD || text.charCodeAt(i) !== 32) return 'malformed-request-line';
  head.method = text.slice(0, i);
  const start = i + 1;
  i = start;
  while (IS_TARGET[text.charCodeAt(i) & 0xff] === 1) i += 1;
  if (i === start) return 'malformed-request-line';
  if (text.charCodeAt(i) !== 32) return i === lineEnd ? 'malformed-request-line' : 'malformed-target';
  head.target = text.slice(start, i);
  if (lineEnd - i !== 9)
    return text.slice(i + 1, i + 6) === 'HTTP/' ? 'unsupported-version' : 'malformed-target';
  if (!text.startsWith('HTTP/', i + 1)) return 'malformed-request-line';
  if (text.startsWith('1.1', i + 6)) head.http10 = false;
  else if (text.startsWith('1.0', i + 6)) head.http10 = true;
  else return 'unsupported-version';
  return head.method === 'TRACE' || head.method === 'CONNECT' ? 'refused-method' : undefined;
}

function readFields(head: RequestHead): MessageRefusal | undefined {
  const { fields } = head;
  let hosts = 0;
  let codings = 0;
  let listed: string | undefined;
  let upgrade: string | undefined;
  head.contentLength = -1;
  head.chunked = false;
  head.expectContinue = false;
  head.accept = '';
  head.acceptsTrailers = false;
  head.announcedTrailers = '';
  head.cookieBytes = 0;
  head.upgrade = '';
  head.hostValue = '';
  head.connectionNames = NO_NAMES;
  for (let i = 0; i < fields.count; i += 1) {
    switch (fields.code[i]) {
      case OTHER:
        break;
      case HOST:
        hosts += 1;
        head.hostValue = fields.value(i);
        break;
      case CONTENT_LENGTH:
        if (head.contentLength !== -1) return 'doubled-length';
        head.contentLength = decimal(fields.value(i));
        if (head.contentLength === -1) return 'malformed-length';
        break;
      case TRANSFER_ENCODING:
        codings += 1;
        if (codings > 1 || fields.value(i) !== 'chunked') return 'unsupported-coding';
        head.chunked = true;
        break;
      case CONNECTION:
        listed = listed === undefined ? fields.value(i) : `${listed},${fields.value(i)}`;
        break;
      case UPGRADE:
        upgrade = upgrade === undefined ? fields.value(i) : `${upgrade},${fields.value(i)}`;
        break;
      case EXPECT:
        if (head.expectContinue || fields.value(i).toLowerCase() !== '100-continue')
          return 'unknown-expectation';
        head.expectContinue = true;
        break;
      case COOKIE:
        head.cookieBytes += fields.valueEnd[i]! - fields.valueStart[i]!;
        break;
      case ACCEPT:
        head.accept = fields.value(i);
        break;
      case TE:
        head.acceptsTrailers ||= acceptsTrailers(fields.value(i));
        break;
      case TRAILER:
        head.announcedTrailers = fields.value(i);
        break;
      case DISGUISED:
        return 'disguised-field';
      default:
        break;
    }
  }
  if (hosts !== 1) return hosts === 0 ? 'missing-host' : 'doubled-host';
  if (head.chunked && head.contentLength !== -1) return 'length-and-coding';
  if (head.chunked && head.http10) return 'coding-in-old-version';
  // Keep-alive in HTTP/1.0 relies on every hop, so such a connection is not reused.
  head.keepAlive = !head.http10;
  return listed === undefined ? undefined : readConnection(head, listed, upgrade);
}

function readConnection(
  head: RequestHead,
  listed: string,
  upgrade: string | undefined,
): MessageRefusal | undefined {
  if (listed === 'keep-alive') return undefined;
  const items = listed.split(',');
  if (items.length > MAX_CONNECTION_ITEMS) return 'malformed-connection';
  let asksUpgrade = false;
  const names: string[] = [];
  for (const item of items) {
    const name = item.trim().toLowerCase();
    if (name === '' || name === 'keep-alive') continue;
    if (!isToken(name)) return 'malformed-connection';
    if (name === 'close') head.keepAlive = false;
    else if (name === 'upgrade') asksUpgrade = true;
    else names.push(name);
  }
  if (names.length > 0) head.connectionNames = names;
  if (asksUpgrade && upgrade !== undefined && !head.http10 && !head.hasBody && isPassableUpgrade(upgrade)) {
    head.upgrade = upgrade;
  }
  return undefined;
}

/** Accepts one protocol that is not another HTTP: h2c and TLS upgrades would carry requests past this layer. */
function isPassableUpgrade(value: string): boolean {
  const [name = '', version = 'x', ...more] = value.toLowerCase().split('/');
  return more.length === 0 && isToken(name) && isToken(version) && !/^(?:h2c?|h3|https?|tls)$/.test(name);
}

function readAuthority(head: RequestHead): MessageRefusal | undefined {
  if (head.hostValue !== head.knownHostValue) {
    const host = canonicalHost(head.hostValue);
    if (host === undefined) return 'malformed-host';
    head.knownHostValue = head.hostValue;
    head.knownHost = host;
  }
  head.host = head.knownHost;
  const { target } = head;
  if (target.charCodeAt(0) === 47) {
    // Some parsers read "//name/path" as a path, others as an authority; some read a raw backslash as a
    // slash.
    return target.charCodeAt(1) === 47 || hasBackslash(target) ? 'malformed-target' : undefined;
  }
  if (target === '*') return head.method === 'OPTIONS' ? undefined : 'malformed-target';
  const absolute = /^(https?):\/\/([^/?]*)(.*)$/i.exec(target);
  if (absolute === null) return 'malformed-target';
  const [, scheme = '', authority = '', rest = ''] = absolute;
  const defaultPort = scheme.toLowerCase() === 'http' ? '80' : '443';
  if (!sameAuthority(authority, head.hostValue, defaultPort)) return 'foreign-authority';
  head.target = rest.startsWith('/') ? rest : `/${rest}`;
  return head.target.startsWith('//') || hasBackslash(head.target) ? 'malformed-target' : undefined;
}

function hasBackslash(target: string): boolean {
  const at = target.indexOf('\\');
  if (at === -1) return false;
  const query = target.indexOf('?');
  return query === -1 || at < query;
}

function isToken(text: string): boolean {
  for (let i = 0; i < text.length; i += 1) if (IS_TOKEN[text.charCodeAt(i) & 0xff] !== 1) return false;
  return text.length > 0;
}

/** Accepts digits only, below 2^53; -1 otherwise. */
export function decimal(text: string): number {
  if (text.length === 0 || text.length > 15) return -1;
  let value = 0;
  for (let i = 0; i < text.length; i += 1) {
    const digit = text.charCodeAt(i) - 48;
    if (digit < 0 || digit > 9) return -1;
    value = value * 10 + digit;
  }
  return value;
}
