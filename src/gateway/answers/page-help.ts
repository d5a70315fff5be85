/** Help on a failure page: the accepted credentials, where to send them, and how to continue. */
import { escapeHtml } from '#base';

/** A credential that would admit a caller. */
export type WantedCredential =
  | { readonly type: 'api-key'; readonly in: 'header' | 'query'; readonly name: string }
  /** `Authorization: Bearer` with a key or a token of an identity provider. */
  | { readonly type: 'bearer' }
  | { readonly type: 'basic' }
  /** A log-in in a browser. */
  | { readonly type: 'login' };

export interface PageHelp {
  readonly credentials?: readonly WantedCredential[] | undefined;
  /** The path at which a logged-in person can log out. */
  readonly logoutPath?: string | undefined;
  /** The owner's contact: an e-mail or web address without characters that need escaping. */
  readonly contact?: string | null | undefined;
  /** The page of the share's owner, as HTML with placeholders. */
  readonly page?: string | undefined;
}

export const NO_HELP: PageHelp = {};

/** Statuses for which a retry may succeed. */
const RETRIED: ReadonlySet<number> = new Set([401, 408, 429, 431, 500, 502, 503, 504]);

export function helpJson({ credentials, logoutPath, contact }: PageHelp): Readonly<Record<string, unknown>> {
  return {
    credentials,
    logout: logoutPath,
    contact: contact ?? undefined,
  };
}

/** Returns paragraphs, or ''. `isRead`: the page answers a GET, which a link can repeat. */
export function helpHtml(help: PageHelp, status: number, isRead: boolean): string {
  const { credentials = [], logoutPath, contact } = help;
  const wanted = credentials.map((credential) => `<li>${sentenceOf(credential, asCode)}</li>`).join('');
  const links = [
    ...(isRead && RETRIED.has(status) ? ['<a href="">Try again</a>'] : []),
    ...(logoutPath === undefined ? [] : [`<a href="${escapeHtml(logoutPath)}">Sign out</a>`]),
    ...(contact === undefined || contact === null ? [] : [contactLink(contact)]),
  ];
  return (
    (wanted === '' ? '' : `<p>Any of these gives you access:</p>\n<ul>${wanted}</ul>\n`) +
    (links.length === 0 ? '' : `<p>${links.join(' · ')}</p>\n`)
  );
}

/** Returns lines for a page of plain text, or ''. */
export function helpText({ credentials = [], logoutPath, contact }: PageHelp): string {
  const wanted = credentials.map((credential) => `- ${sentenceOf(credential, (name) => name)}\n`);
  return (
    (wanted.length === 0 ? '' : `Any of these gives you access:\n${wanted.join('')}`) +
    (logoutPath === undefined ? '' : `Sign out: ${logoutPath}\n`) +
    (contact === undefined || contact === null ? '' : `Contact the owner: ${contact}\n`)
  );
}

function asCode(name: string): string {
  return `<code>${escapeHtml(name)}</code>`;
}

/** `mark` shows a name of the request. */
function sentenceOf(credential: WantedCredential, mark: (name: string) => string): string {
  if (credential.type === 'login') return 'Sign in with a browser.';
  if (credential.type === 'basic') return 'Send a user name and a password with HTTP Basic.';
  if (credential.type === 'bearer')
    return `Send a key or token in the header ${mark('Authorization: Bearer')}.`;
  const place = credential.in === 'header' ? 'header' : 'query parameter';
  return `Send an API key in the ${place} ${mark(credential.name)}.`;
}

function contactLink(contact: string): string {
  const address = contact.startsWith('http') ? contact : `mailto:${contact}`;
  return `<a href="${escapeHtml(address)}">Contact the owner</a>`;
}
