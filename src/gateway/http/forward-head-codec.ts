/**
 * Writes the heads that leave the gateway: framing is always our own, hop-by-hop and reserved headers end here, and
 * everything else travels in its order and spelling, as slices of the head that came. Heads are Latin-1 text.
 */
import {
  ACCEPT,
  AUTHORIZATION,
  COOKIE,
  EXPECT,
  HOST,
  OTHER,
  RESERVED,
  TRACE_PARENT,
} from './field-name-table.ts';
import type { FieldLines } from './head-decoder.ts';
import type { RequestHead } from './request-head-policy.ts';
import type { ResponseHead } from './response-head-policy.ts';
import { cookieChanges } from './set-cookie-policy.ts';

/** What the gateway makes of a request's head beside framing and forwarding. */
export interface HeadChanges {
  /** Indices of header lines that end here. */
  readonly omitted: readonly number[];
  /** In place of the target; undefined: as it came. */
  readonly target: string | undefined;
  /** Header lines that are added last, each with its line end. */
  readonly lines: string;
}

/** Only read by the gateway, and only sometimes: to what travels they are headers like any other. */
function isPlain(code: number): boolean {
  return code === OTHER || code === COOKIE || code === AUTHORIZATION || code === TRACE_PARENT;
}

/** Whether a header of this code may travel on in a request. Host is written anew: not all take white space around it. */
function passesUpstream(code: number): boolean {
  return isPlain(code) || code === ACCEPT || code === EXPECT;
}

function passesDownstream(code: number): boolean {
  return passesUpstream(code) || code === HOST || code === RESERVED;
}

const NONE: readonly number[] = [];
const NO_CHANGES: HeadChanges = { omitted: NONE, target: undefined, lines: '' };

function isListed(fields: FieldLines, index: number, names: readonly string[]): boolean {
  return isPlain(fields.code[index]!) && names.includes(fields.name(index).toLowerCase());
}

/** The lines that pass, joined from as few slices as possible. */
function passingLines(
  fields: FieldLines,
  passes: (code: number) => boolean,
  listed: readonly string[],
  omitted: readonly number[],
): string {
  const { text, count, code, lineStart } = fields;
  let out = '';
  let runStart = -1;
  for (let i = 0; i < count; i += 1) {
    const isKept =
      passes(code[i]!) &&
      (listed.length === 0 || !isListed(fields, i, listed)) &&
      (omitted.length === 0 || !omitted.includes(i));
    if (isKept) {
      if (runStart === -1) runStart = lineStart[i]!;
    } else if (runStart !== -1) {
      out += text.slice(runStart, lineStart[i]);
      runStart = -1;
    }
  }
  return runStart === -1 ? out : out + text.slice(runStart, lineStart[count]);
}

/**
 * The head for the origin. `forwardedLines` are the header lines that tell the client's address and scheme, each
 * with its line end; they come last, after `Connection` had its say, so that no client can remove or precede them.
 */
export function encodeUpstreamHead(
  head: RequestHead,
  forwardedLines: string,
  changes: HeadChanges = NO_CHANGES,
): string {
  let text = `${head.method} ${changes.target ?? head.target} HTTP/1.1\r\nHost: ${head.hostValue}\r\n`;
  text += passingLines(head.fields, passesUpstream, head.connectionNames, changes.omitted);
  if (head.chunked) text += 'Transfer-Encoding: chunked\r\n';
  else if (head.contentLength >= 0) text += `Content-Length: ${head.contentLength}\r\n`;
  if (head.upgrade !== '') text += `Connection: Upgrade\r\nUpgrade: ${head.upgrade}\r\n`;
  return `${text}${forwardedLines}${changes.lines}X-Forwarded-Host: ${head.hostValue}\r\n\r\n`;
}

/** What origins are told of a connection, the same for each of its requests. */
export function forwardedLines(client: { readonly address: string; readonly isSecure: boolean }): string {
  return `X-Forwarded-For: ${client.address}\r\nX-Forwarded-Proto: ${client.isSecure ? 'https' : 'http'}\r\n`;
}

/**
 * The head for the client of `host`; `framingLines` state how the body ends and whether the connection ends with it.
 * The origin's cookies are judged by `set-cookie-policy.ts`.
 */
export function encodeClientHead(head: ResponseHead, host: string, framingLines: string): string {
  const { omitted, lines } = cookieChanges(head.fields, host);
  const passing = passingLines(head.fields, passesDownstream, head.connectionNames, omitted);
  return `HTTP/1.1 ${head.statusText}\r\n${passing}${lines}${framingLines}\r\n`;
}
