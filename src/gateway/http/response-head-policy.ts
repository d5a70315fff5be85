/**
 * The same strictness towards origins: a response's head has exactly one framing, or it is refused, and the
 * client gets 502. RFC 9112 §6.3 decides how the body ends.
 */
import type { MessageRefusal } from '#domain';
import { BODY_CHUNKED, BODY_LENGTH, BODY_NONE, BODY_UNTIL_END, BodyDecoder } from './body-decoder.ts';
import {
  CONNECTION,
  CONTENT_LENGTH,
  KEEP_ALIVE,
  TRAILER,
  TRANSFER_ENCODING,
  UPGRADE,
} from './field-name-table.ts';
import { FieldLines } from './head-decoder.ts';
import { decimal } from './request-head-policy.ts';

const NO_NAMES: readonly string[] = [];

/** An accepted response head. The object is reused from response to response, so callers copy what they keep. */
export class ResponseHead {
  readonly fields = new FieldLines();
  status = 0;
  /** From the status code on: `200 OK`. */
  statusText = '';
  /** -1 if absent. */
  contentLength = -1;
  chunked = false;
  /** Whether the origin accepts another request. */
  keepAlive = true;
  /** How long the origin waits for the next request by its own account; -1 if it gives none. */
  keepAliveMs = -1;
  upgrade = '';
  /** Names that `Trailer` announces, as received. */
  announcedTrailers = '';
  connectionNames: readonly string[] = NO_NAMES;
}

export function readResponseHead(
  text: string,
  maxFields: number,
  head: ResponseHead,
): MessageRefusal | undefined {
  const lineEnd = text.indexOf('\r\n');
  // "HTTP/1.x NNN", then nothing, or a space and any reason.
  if (!text.startsWith('HTTP/1.') || text.charCodeAt(8) !== 32 || lineEnd < 12)
    return 'malformed-status-line';
  const minor = text.charCodeAt(7) - 48;
  if (minor !== 0 && minor !== 1) return 'unsupported-version';
  head.status = decimal(text.slice(9, 12));
  if (head.status < 100 || (lineEnd > 12 && text.charCodeAt(12) !== 32)) return 'malformed-status-line';
  for (let i = 12; i < lineEnd; i += 1) {
    const code = text.charCodeAt(i);
    if ((code < 32 && code !== 9) || code === 127) return 'control-byte';
  }
  head.statusText = lineEnd > 12 ? text.slice(9, lineEnd) : `${text.slice(9, 12)} `;
  const problem = head.fields.decode(text, lineEnd + 2, maxFields);
  return problem ?? readFields(head, minor === 1);
}

function readFields(head: ResponseHead, http11: boolean): MessageRefusal | undefined {
  const { fields } = head;
  let codings = 0;
  let listed: string | undefined;
  head.contentLength = -1;
  head.chunked = false;
  head.keepAliveMs = -1;
  head.upgrade = '';
  head.announcedTrailers = '';
  head.connectionNames = NO_NAMES;
  for (let i = 0; i < fields.count; i += 1) {
    switch (fields.code[i]) {
      case CONTENT_LENGTH:
        if (head.contentLength !== -1) return 'doubled-length';
        head.contentLength = decimal(fields.value(i));
        if (head.contentLength === -1) return 'malformed-length';
        break;
      case TRANSFER_ENCODING:
        codings += 1;
        if (codings > 1 || fields.value(i).toLowerCase() !== 'chunked') return 'unsupported-coding';
        head.chunked = true;
        break;
      case CONNECTION:
        listed = listed === undefined ? fields.value(i) : `${listed},${fields.value(i)}`;
        break;
      case KEEP_ALIVE:
        head.keepAliveMs = keepAliveMs(fields.value(i));
        break;
      case UPGRADE:
        head.upgrade = fields.value(i);
        break;
      case TRAILER:
        head.announcedTrailers = fields.value(i);
        break;
      default:
        break;
    }
  }
  if (head.chunked && head.contentLength !== -1) return 'length-and-coding';
  if (head.chunked && !http11) return 'coding-in-old-version';
  head.keepAlive = http11;
  if (listed !== undefined) readConnection(head, listed);
  return undefined;
}

function readConnection(head: ResponseHead, listed: string): void {
  if (listed === 'keep-alive') return;
  const names: string[] = [];
  for (const item of listed.split(',')) {
    const name = item.trim().toLowerCase();
    if (name === 'close') head.keepAlive = false;
    else if (name !== '' && name !== 'keep-alive' && name !== 'upgrade') names.push(name);
  }
  if (names.length > 0) head.connectionNames = names;
}

function keepAliveMs(value: string): number {
  const seconds = /(?:^|[,;\s])timeout=(\d{1,6})/i.exec(value)?.[1];
  return seconds === undefined ? -1 : Number(seconds) * 1000;
}

/** Returns how the response's body is framed. RFC 9112 §6.3. */
export function answerBody(method: string, head: ResponseHead): BodyDecoder {
  if (method === 'HEAD' || head.status === 204 || head.status === 304) return new BodyDecoder(BODY_NONE);
  if (head.chunked) return new BodyDecoder(BODY_CHUNKED);
  if (head.contentLength >= 0) return new BodyDecoder(BODY_LENGTH, head.contentLength);
  return new BodyDecoder(BODY_UNTIL_END);
}
