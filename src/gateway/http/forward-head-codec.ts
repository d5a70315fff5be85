/**
 * Writes the heads that leave the gateway. Framing headers are always its own, hop-by-hop and reserved headers
 * are removed, and all others keep their order and spelling, as slices of the received head. Heads are Latin-1
 * text.
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
import type { HeadChanges } from './head-changes.ts';
import type { FieldLines } from './head-decoder.ts';
import type { RequestHead } from './request-head-policy.ts';
import type { ResponseHead } from './response-head-policy.ts';
import type { ServiceRewriting } from './service-rewriting.ts';
import { siteChanges } from './site-answer-policy.ts';
import type { LineChanges } from './set-cookie-policy.ts';
import { SITE_SUFFIXES } from './site-suffixes.ts';
import { announcingLine } from './trailer-policy.ts';

/** Headers that the gateway only reads, and forwards like any other. */
function isPlain(code: number): boolean {
  return code === OTHER || code === COOKIE || code === AUTHORIZATION || code === TRACE_PARENT;
}

/**
 * Whether a header of this code is forwarded in a request. Host is written again, because not all origins accept
 * white space around it.
 */
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

/** Returns the forwarded lines, joined from as few slices as possible. */
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
 * Returns the head for the origin. `forwardedLines` contain the client's address and scheme, each with its line
 * end. They come last, after `Connection` was evaluated, so that no client can remove or precede them.
 */
export function encodeUpstreamHead(
  head: RequestHead,
  forwardedLines: string,
  changes: HeadChanges = NO_CHANGES,
): string {
  let text = `${head.method} ${changes.target ?? head.target} HTTP/1.1\r\nHost: ${changes.host ?? head.hostValue}\r\n`;
  text += passingLines(head.fields, passesUpstream, head.connectionNames, changes.omitted);
  if (head.chunked) text += `Transfer-Encoding: chunked\r\n${announcingLine(head.announcedTrailers)}`;
  else if (head.contentLength >= 0) text += `Content-Length: ${head.contentLength}\r\n`;
  if (head.upgrade !== '') text += `Connection: Upgrade\r\nUpgrade: ${head.upgrade}\r\n`;
  else if (head.acceptsTrailers) text += 'TE: trailers\r\nConnection: TE\r\n';
  return `${text}${forwardedLines}${changes.lines}X-Forwarded-Host: ${head.hostValue}\r\n\r\n`;
}

/** Returns the forwarding headers of a connection, which are the same for each of its requests. */
export function forwardedLines(client: { readonly address: string; readonly isSecure: boolean }): string {
  return `X-Forwarded-For: ${client.address}\r\nX-Forwarded-Proto: ${client.isSecure ? 'https' : 'http'}\r\n`;
}

const NO_LINE_CHANGES: LineChanges = { omitted: NONE, lines: '' };

const isOwnSite = (host: string): boolean => SITE_SUFFIXES.isOwnSite(host);

/** The client that a response goes to. */
interface AnsweredClient {
  /** The requested host in canonical form. */
  readonly host: string;
  /** Set if the share has upstream settings that concern heads. */
  readonly rewriting: ServiceRewriting | undefined;
}

/**
 * Returns the head for a client. `framingLines` state how the body ends and whether the connection
 * ends with it. `site-answer-policy.ts` judges headers that act beyond the answer.
 */
export function encodeClientHead(
  head: ResponseHead,
  { host, rewriting }: AnsweredClient,
  framingLines: string,
  compressing: LineChanges = NO_LINE_CHANGES,
): string {
  const site = siteChanges(head.fields, host, isOwnSite, rewriting?.cookiePath);
  const { omitted, lines } = rewriting === undefined ? site : rewriting.answerChanges(head, site);
  const all = compressing.omitted.length === 0 ? omitted : [...omitted, ...compressing.omitted];
  const passing = passingLines(head.fields, passesDownstream, head.connectionNames, all);
  return `HTTP/1.1 ${head.statusText}\r\n${passing}${lines}${compressing.lines}${framingLines}\r\n`;
}
