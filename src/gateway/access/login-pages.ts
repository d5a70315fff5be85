/** Pages of the log-in. They have no script, load nothing, and escape everything that comes from the request. */
import { escapeHtml } from '#base';
import type { LocalAnswer } from '../answers/local-answer.ts';
import type { Provider } from './provider.ts';

const STYLE =
  'body{font:16px/1.5 system-ui,sans-serif;max-width:24rem;margin:15vh auto;padding:0 1rem;color:#222;background:#fff}' +
  'h1{font-size:1.4rem;margin:0 0 1rem}a{display:block;margin:.5rem 0;padding:.6rem 1rem;border:1px solid #888;' +
  'border-radius:.4rem;color:inherit;text-decoration:none}a:hover,a:focus{border-color:#06c}' +
  '@media(prefers-color-scheme:dark){body{color:#ddd;background:#181818}}';

const PAGE_LINES: readonly string[] = [
  'Content-Type: text/html; charset=utf-8',
  "Content-Security-Policy: default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
  'X-Content-Type-Options: nosniff',
];

/** Header lines of every response about a person's identity. */
export const PRIVATE_LINES: readonly string[] = ['Cache-Control: no-store', 'Referrer-Policy: no-referrer'];

const RESERVED = '/.frontdoor';
export const LOGIN_PATH = '/.frontdoor/login';
export const LOGOUT_PATH = '/.frontdoor/logout';

/** Whether the gateway itself answers the target of a request, where people can log in. */
export function isReserved(target: string): boolean {
  if (!target.startsWith(RESERVED)) return false;
  const next = target[RESERVED.length];
  return next === undefined || next === '/' || next === '?';
}

export function chooserPage(
  host: string,
  providers: readonly Pick<Provider, 'id' | 'name'>[],
  returnTo: string,
): LocalAnswer {
  const links = providers.map(({ id, name }) => {
    const query = `provider=${encodeURIComponent(id)}&to=${encodeURIComponent(returnTo)}`;
    return `<a href="${escapeHtml(`${LOGIN_PATH}?${query}`)}">${escapeHtml(name)}</a>`;
  });
  return page('Sign in', `<h1>Sign in to ${escapeHtml(host)}</h1>\n${links.join('\n')}`);
}

/**
 * The text below the heading: after a log-out at the share, at the provider too, or at the share alone although
 * the provider was requested.
 */
const LOGGED_OUT_TEXTS = {
  share: '<p>Your session at this address has ended.</p>\n<a href="/">Sign in again</a>',
  provider: '<p>You can close this page.</p>',
  'share only':
    '<p>Your session at this address has ended. You may still be signed in at your identity provider, which has no sign-out address.</p>\n<a href="/">Sign in again</a>',
} as const;

export function loggedOutPage(
  where: keyof typeof LOGGED_OUT_TEXTS,
  lines: readonly string[] = [],
): LocalAnswer {
  const made = page('Signed out', `<h1>You are signed out</h1>\n${LOGGED_OUT_TEXTS[where]}`);
  return { ...made, lines: [...made.lines, ...lines] };
}

/** `location` must be visible ASCII. */
export function redirect(
  status: 302 | 303 | 308,
  location: string,
  lines: readonly string[] = [],
): LocalAnswer {
  return { status, lines: [`Location: ${location}`, ...PRIVATE_LINES, ...lines], body: '' };
}

function page(title: string, body: string): LocalAnswer {
  return {
    status: 200,
    lines: [...PAGE_LINES, ...PRIVATE_LINES],
    body:
      `<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">` +
      `<title>${title}</title><style>${STYLE}</style></head>\n<body>${body}</body></html>\n`,
  };
}
