/**
 * The page that a client gets when the gateway cannot serve it: HTML, or JSON for programs that ask for it. It has no
 * script, loads nothing, and says nothing that came from the request.
 */
import { STATUS_CODES } from 'node:http';
import type { Failure } from './failure-table.ts';

/** Whether an Accept header asks for JSON rather than a page. */
export function prefersJson(accept: string): boolean {
  const text = accept.toLowerCase();
  return /\bapplication\/(?:[\w.+-]+\+)?json\b/.test(text) && !text.includes('text/html');
}

const STYLE =
  'body{font:16px/1.5 system-ui,sans-serif;max-width:34rem;margin:15vh auto;padding:0 1rem;color:#222;background:#fff}' +
  'h1{font-size:1.4rem;margin:0 0 .5rem}p{margin:.5rem 0}code{font-size:.9rem}.id{color:#666;font-size:.9rem}' +
  '@media(prefers-color-scheme:dark){body{color:#ddd;background:#181818}.id{color:#999}}';

function page(failure: Failure, errorId: string): string {
  const title = `${failure.status} ${STATUS_CODES[failure.status] ?? 'Error'}`;
  return (
    `<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">` +
    `<title>${title}</title><style>${STYLE}</style></head>\n<body><h1>${title}</h1>\n<p>${failure.says}</p>\n` +
    `<p class="id">Error id: <code>${errorId}</code></p></body></html>\n`
  );
}

export interface ErrorAnswer {
  readonly accept: string;
  readonly isHead: boolean;
  readonly keepAlive: boolean;
}

/** The whole answer, head and body. */
export function encodeErrorAnswer(failure: Failure, errorId: string, asked: ErrorAnswer): Buffer {
  const json = prefersJson(asked.accept);
  const body = Buffer.from(
    json
      ? `${JSON.stringify({ error: failure.code, message: failure.says, errorId })}\n`
      : page(failure, errorId),
  );
  const lines = [
    `HTTP/1.1 ${failure.status} ${STATUS_CODES[failure.status] ?? 'Error'}`,
    `Date: ${new Date().toUTCString()}`,
    `Content-Type: ${json ? 'application/json' : 'text/html'}; charset=utf-8`,
    `Content-Length: ${body.length}`,
    'Cache-Control: no-store',
    "Content-Security-Policy: default-src 'none'; style-src 'unsafe-inline'",
    'X-Content-Type-Options: nosniff',
    'Referrer-Policy: no-referrer',
    `Frontdoor-Error-Id: ${errorId}`,
  ];
  if (failure.status === 405) lines.push('Allow: GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS');
  if (failure.status === 503) lines.push('Retry-After: 5');
  if (!asked.keepAlive) lines.push('Connection: close');
  const head = Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
  return asked.isHead ? head : Buffer.concat([head, body]);
}
