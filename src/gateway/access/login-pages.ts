/** Pages of the log-in. They have no script, load nothing, and escape everything that comes from the request. */
import { escapeHtml } from '#base';
import type { LocalAnswer } from '../answers/local-answer.ts';
import type { SignInPageShown } from '#domain/gateway-shapes';
import { LOGIN_PAGE_TEXTS, type LoginPageLanguage } from './login-page-text.ts';
import type { Provider } from './provider.ts';

const STYLE =
  'body{font:16px/1.5 system-ui,sans-serif;max-width:24rem;margin:15vh auto;padding:0 1rem;color:#222;background:#fff;overflow-wrap:anywhere}' +
  'h1{font-size:1.4rem;margin:0 0 1rem}a{display:block;margin:.5rem 0;padding:.6rem 1rem;border:1px solid #888;' +
  'border-radius:.4rem;color:inherit;text-decoration:none}a:hover,a:focus{border-color:#06c}' +
  'header{display:flex;flex-wrap:wrap;align-items:center;gap:.5rem .75rem;margin:0 0 1.25rem;font-weight:600}' +
  'header img{display:block;max-width:100%;max-height:4rem}footer{margin:1.5rem 0 0;font-size:.85rem;color:#666}' +
  '@media(prefers-color-scheme:dark){body{color:#ddd;background:#181818}footer{color:#999}}';

/** A door. */
const ICON = `data:image/svg+xml,${encodeURIComponent(
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect x="3" y="1" width="10" height="14" rx="1" ' +
    'fill="#1971c2"/><circle cx="10.5" cy="8" r="1" fill="#fff"/></svg>',
)}`;

const PAGE_LINES: readonly string[] = [
  'Content-Type: text/html; charset=utf-8',
  "Content-Security-Policy: default-src 'none'; style-src 'unsafe-inline'; img-src data:; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
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

/** How a page is shown to a visitor. */
export interface LoginPageView {
  readonly language: LoginPageLanguage;
  readonly look: SignInPageShown;
}

export function chooserPage(
  host: string,
  providers: readonly Pick<Provider, 'id' | 'name'>[],
  returnTo: string,
  view: LoginPageView,
): LocalAnswer {
  const text = LOGIN_PAGE_TEXTS[view.language];
  const links = providers.map(({ id, name }) => {
    const query = `provider=${encodeURIComponent(id)}&to=${encodeURIComponent(returnTo)}`;
    return `<a href="${escapeHtml(`${LOGIN_PATH}?${query}`)}">${escapeHtml(name)}</a>`;
  });
  return page(view, text.signIn, `<h1>${escapeHtml(text.signInTo(host))}</h1>\n${links.join('\n')}`);
}

/**
 * Where a visitor was logged out: at the share, at the provider too, or at the share alone although the provider was
 * requested.
 */
export type LoggedOutAt = 'share' | 'provider' | 'share only';

export function loggedOutPage(
  where: LoggedOutAt,
  view: LoginPageView,
  lines: readonly string[] = [],
): LocalAnswer {
  const text = LOGIN_PAGE_TEXTS[view.language];
  const again = `<a href="/">${text.signInAgain}</a>`;
  const below = {
    share: `<p>${text.sessionEnded}</p>\n${again}`,
    provider: `<p>${text.closePage}</p>`,
    'share only': `<p>${text.sessionEnded} ${text.maybeAtProvider}</p>\n${again}`,
  }[where];
  const made = page(view, text.signedOut, `<h1>${text.youAreSignedOut}</h1>\n${below}`);
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

function page(
  { language, look: { title: name, logo } }: LoginPageView,
  title: string,
  body: string,
): LocalAnswer {
  const picture = logo === null ? '' : `<img src="data:image/png;base64,${escapeHtml(logo)}" alt="">`;
  const shown = name === null ? '' : `<span>${escapeHtml(name)}</span>`;
  const header = picture + shown === '' ? '' : `<header>${picture}${shown}</header>\n`;
  return {
    status: 200,
    lines: [...PAGE_LINES, `Content-Language: ${language}`, ...PRIVATE_LINES],
    body:
      `<!doctype html>\n<html lang="${language}"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">` +
      `<title>${title}</title><link rel="icon" href="${ICON}"><style>${STYLE}</style></head>\n` +
      `<body>${header}${body}\n<footer>Frontdoor</footer></body></html>\n`,
  };
}
