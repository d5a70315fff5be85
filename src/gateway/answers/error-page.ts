/**
 * What a client gets if the gateway cannot serve a request, in the form of `answer-form-policy.ts`. The page loads nothing, has no script but the one of `cookie-bomb.ts`, and repeats nothing from the request; names that tenants
 * chose are escaped. The owner of a share may have another page, with the same policy.
 */
import { escapeHtml } from '#base';
import { isRetryable } from '#domain';
import { filledErrorPage } from '#domain/upstream';
import { STATUS_CODES } from '#net/http';
import { answerForm, type AnswerForm } from './answer-form-policy.ts';
import type { ErrorAnswer } from './asked-answer.ts';
import { pageScriptOf } from './cookie-bomb.ts';
import type { Failure } from './failure-table.ts';
import { encodeGrpcAnswer } from './grpc-answer.ts';
import type { GrpcKind } from '../http/grpc-policy.ts';
import { helpHtml, helpJson, helpText, NO_HELP, type PageHelp } from './page-help.ts';

/** Failures that pass by themselves, such as an agent that connects again, have passed after this time. */
const RETRY_AFTER_S = 5;

const STYLE =
  'body{font:16px/1.5 system-ui,sans-serif;max-width:34rem;margin:15vh auto;padding:0 1rem;color:#222;background:#fff}' +
  'h1{font-size:1.4rem;margin:0 0 .5rem}p{margin:.5rem 0;white-space:pre-line}code{font-size:.9rem}.id{color:#666;font-size:.9rem}' +
  '@media(prefers-color-scheme:dark){body{color:#ddd;background:#181818}.id{color:#999}}';

function page(failure: Failure, errorId: string, help: string): string {
  const title = statusText(failure.status);
  return (
    `<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">` +
    `<title>${title}</title><style>${STYLE}</style></head>\n<body><h1>${title}</h1>\n<p>${escapeHtml(failure.message)}</p>\n${help}` +
    `<p class="id">Error ID: <code>${errorId}</code></p>${pageScriptOf(failure).html}</body></html>\n`
  );
}

/** Returns `200 OK` and the like. */
export function statusText(status: number): string {
  return `${status} ${STATUS_CODES[status] ?? 'Error'}`;
}

/** The headers by which `askedOf` and `answerForm` decide. */
const FORM_HEADERS = 'Accept, X-Requested-With, Sec-Fetch-Dest';
const VARY = 'Vary: ';
const CLOSE = 'Connection: close';

function isVary(line: string): boolean {
  return line.startsWith(VARY);
}

function wantsRetryAfter({ status, code }: Failure): boolean {
  return (status === 503 || status === 429) && isRetryable(code);
}

interface ShownFailure {
  readonly failure: Failure;
  readonly errorId: string;
  readonly help: PageHelp;
  readonly isRead: boolean;
}

interface WrittenFailure {
  readonly type: string;
  readonly body: (shown: ShownFailure) => string;
}

const FORMS: Readonly<Record<AnswerForm, WrittenFailure>> = {
  page: {
    type: 'text/html; charset=utf-8',
    body: ({ failure, errorId, help, isRead }) =>
      page(failure, errorId, helpHtml(help, failure.status, isRead)),
  },
  json: { type: 'application/json; charset=utf-8', body: (shown) => `${JSON.stringify(members(shown))}\n` },
  // RFC 9457
  problem: {
    type: 'application/problem+json',
    body: (shown) => {
      const { status, message } = shown.failure;
      const problem = { title: STATUS_CODES[status] ?? 'Error', status, detail: message };
      return `${JSON.stringify(Object.assign(problem, members(shown)))}\n`;
    },
  },
  text: {
    type: 'text/plain; charset=utf-8',
    body: ({ failure, errorId, help }) =>
      `${statusText(failure.status)}\n${failure.message}\n${helpText(help)}Error: ${failure.code}\nError ID: ${errorId}\n`,
  },
};

function members({ failure, errorId, help }: ShownFailure): Record<string, unknown> {
  const { code, message } = failure;
  return { error: code, message, errorId, retryable: isRetryable(code), ...helpJson(help) };
}

/** `'unsafe-inline'` is for styles alone. The page may be that of the share's owner. */
const PAGE_POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'";
const FIRST_SERVER_FAILURE = 500;

function ownPage(own: string, failure: Failure, errorId: string): string {
  const message = escapeHtml(failure.message);
  return filledErrorPage(own, { status: statusText(failure.status), message, errorId });
}

function grpcAnswer(
  kind: GrpcKind,
  failure: Failure,
  errorId: string,
  { keepAlive }: ErrorAnswer,
  moreLines: readonly string[],
): Buffer {
  const lines = [...moreLines, ...retryLines(failure, moreLines), ...(keepAlive ? [] : [CLOSE])];
  return encodeGrpcAnswer(kind, failure, errorId, lines);
}

function retryLines(failure: Failure, moreLines: readonly string[]): readonly string[] {
  const isSaid = moreLines.some((line) => line.startsWith('Retry-After:'));
  return wantsRetryAfter(failure) && !isSaid ? [`Retry-After: ${RETRY_AFTER_S}`] : [];
}

/** Returns head and body. `moreLines` are header lines without line ends. */
export function encodeErrorAnswer(
  failure: Failure,
  errorId: string,
  asked: ErrorAnswer,
  moreLines: readonly string[] = [],
  help: PageHelp = NO_HELP,
): Buffer {
  if (asked.grpc !== undefined) return grpcAnswer(asked.grpc, failure, errorId, asked, moreLines);
  const name = answerForm(asked);
  const form = FORMS[name];
  const { page: own } = help;
  const isOwn = own !== undefined && name === 'page' && failure.status >= FIRST_SERVER_FAILURE;
  const shown = { failure, errorId, help, isRead: asked.isRead };
  const body = Buffer.from(isOwn ? ownPage(own, failure, errorId) : form.body(shown));
  const lines = [
    `HTTP/1.1 ${statusText(failure.status)}`,
    `Date: ${new Date().toUTCString()}`,
    `Content-Type: ${form.type}`,
    `Content-Length: ${body.length}`,
    'Cache-Control: no-store',
    `Vary: ${[FORM_HEADERS, ...moreLines.filter(isVary).map((line) => line.slice(VARY.length))].join(', ')}`,
    `Content-Security-Policy: ${isOwn ? PAGE_POLICY : `default-src 'none'; style-src 'unsafe-inline'${pageScriptOf(failure).source}`}`,
    'X-Content-Type-Options: nosniff',
    'Referrer-Policy: no-referrer',
    `Frontdoor-Error-Id: ${errorId}`,
    ...moreLines.filter((line) => !isVary(line)),
  ];
  if (failure.status === 405) lines.push('Allow: GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS');
  lines.push(...retryLines(failure, moreLines));
  if (!asked.keepAlive) lines.push(CLOSE);
  const head = Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
  return asked.isHead ? head : Buffer.concat([head, body]);
}
