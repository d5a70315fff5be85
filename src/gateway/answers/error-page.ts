/**
 * The page that a client gets if the gateway cannot serve a request: HTML, or JSON for programs that ask for it.
 * It loads nothing, has no script but the one of `cookie-bomb.ts`, and repeats nothing from the request; names that tenants
 * chose are escaped.
 */
import { STATUS_CODES } from '#net/http';
import { pageScriptOf } from './cookie-bomb.ts';
import type { Failure } from './failure-table.ts';
import { helpHtml, helpJson, NO_HELP, type PageHelp } from './page-help.ts';
import type { RequestHead } from '../http/request-head-policy.ts';

/** Whether an Accept header asks for JSON rather than a page. */
export function prefersJson(accept: string): boolean {
  const text = accept.toLowerCase();
  return /\bapplication\/(?:[\w.+-]+\+)?json\b/.test(text) && !text.includes('text/html');
}

const STYLE =
  'body{font:16px/1.5 system-ui,sans-serif;max-width:34rem;margin:15vh auto;padding:0 1rem;color:#222;background:#fff}' +
  'h1{font-size:1.4rem;margin:0 0 .5rem}p{margin:.5rem 0}code{font-size:.9rem}.id{color:#666;font-size:.9rem}' +
  '@media(prefers-color-scheme:dark){body{color:#ddd;background:#181818}.id{color:#999}}';

function page(failure: Failure, errorId: string, help: string): string {
  const title = statusText(failure.status);
  return (
    `<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">` +
    `<title>${title}</title><style>${STYLE}</style></head>\n<body><h1>${title}</h1>\n<p>${failure.message}</p>\n${help}` +
    `<p class="id">Error ID: <code>${errorId}</code></p>${pageScriptOf(failure).html}</body></html>\n`
  );
}

export interface ErrorAnswer {
  readonly accept: string;
  readonly isHead: boolean;
  /** Whether the request is a GET, for which the page may offer a retry. */
  readonly isRead: boolean;
  readonly keepAlive: boolean;
}

/** For a request that could not be read. */
export const NOTHING_ASKED: ErrorAnswer = { accept: '', isHead: false, isRead: true, keepAlive: false };

/**
 * For a request that the gateway answers itself. If a body follows, or an upgrade was requested, the connection
 * ends.
 */
export function askedOf(head: RequestHead): ErrorAnswer {
  const keepAlive = head.keepAlive && !head.hasBody && head.upgrade === '';
  return { accept: head.accept, isHead: head.method === 'HEAD', isRead: head.method === 'GET', keepAlive };
}

/** Returns `200 OK` and the like. */
export function statusText(status: number): string {
  return `${status} ${STATUS_CODES[status] ?? 'Error'}`;
}

/** Returns head and body. `moreLines` are header lines without line ends. */
export function encodeErrorAnswer(
  failure: Failure,
  errorId: string,
  asked: ErrorAnswer,
  moreLines: readonly string[] = [],
  help: PageHelp = NO_HELP,
): Buffer {
  const json = prefersJson(asked.accept);
  const body = Buffer.from(
    json
      ? `${JSON.stringify({ error: failure.code, message: failure.message, errorId, ...helpJson(help) })}\n`
      : page(failure, errorId, helpHtml(help, failure.status, asked.isRead)),
  );
  const lines = [
    `HTTP/1.1 ${statusText(failure.status)}`,
    `Date: ${new Date().toUTCString()}`,
    `Content-Type: ${json ? 'application/json' : 'text/html'}; charset=utf-8`,
    `Content-Length: ${body.length}`,
    'Cache-Control: no-store',
    `Content-Security-Policy: default-src 'none'; style-src 'unsafe-inline'${pageScriptOf(failure).source}`,
    'X-Content-Type-Options: nosniff',
    'Referrer-Policy: no-referrer',
    `Frontdoor-Error-Id: ${errorId}`,
    ...moreLines,
  ];
  if (failure.status === 405) lines.push('Allow: GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS');
  if (failure.status === 503) lines.push('Retry-After: 5');
  if (!asked.keepAlive) lines.push('Connection: close');
  const head = Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
  return asked.isHead ? head : Buffer.concat([head, body]);
}
