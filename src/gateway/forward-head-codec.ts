/**
 * Writes the heads that leave the gateway: framing is always our own, hop-by-hop and reserved headers end here, and
 * everything else travels in its order and spelling, as slices of the head that came. Heads are Latin-1 text.
 */
import { ACCEPT, EXPECT, HOST, OTHER, RESERVED } from './field-name-table.ts';
import type { FieldLines } from './head-decoder.ts';
import type { RequestHead } from './request-head-policy.ts';
import type { ResponseHead } from './response-head-policy.ts';

/** Whether a header of this code may travel on in a request. */
function passesUpstream(code: number): boolean {
  return code === OTHER || code === HOST || code === ACCEPT || code === EXPECT;
}

function passesDownstream(code: number): boolean {
  return passesUpstream(code) || code === RESERVED;
}

function isListed(fields: FieldLines, index: number, names: readonly string[]): boolean {
  return fields.code[index] === OTHER && names.includes(fields.name(index).toLowerCase());
}

/** The lines that pass, joined from as few slices as possible. */
function passingLines(
  fields: FieldLines,
  passes: (code: number) => boolean,
  listed: readonly string[],
): string {
  const { text, count, code, lineStart } = fields;
  let out = '';
  let runStart = -1;
  for (let i = 0; i < count; i += 1) {
    if (passes(code[i]!) && (listed.length === 0 || !isListed(fields, i, listed))) {
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
export function encodeUpstreamHead(head: RequestHead, forwardedLines: string): string {
  let text = `${head.method} ${head.target} HTTP/1.1\r\n`;
  text += passingLines(head.fields, passesUpstream, head.connectionNames);
  if (head.chunked) text += 'Transfer-Encoding: chunked\r\n';
  else if (head.contentLength >= 0) text += `Content-Length: ${head.contentLength}\r\n`;
  if (head.upgrade !== '') text += `Connection: Upgrade\r\nUpgrade: ${head.upgrade}\r\n`;
  return `${text}${forwardedLines}X-Forwarded-Host: ${head.hostValue}\r\n\r\n`;
}

/** The head for the client; `framingLines` say how the body ends and whether the connection does. */
export function encodeClientHead(head: ResponseHead, framingLines: string): string {
  return `HTTP/1.1 ${head.statusText}\r\n${passingLines(head.fields, passesDownstream, head.connectionNames)}${framingLines}\r\n`;
}
