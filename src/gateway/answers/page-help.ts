/** Help on a page of failure: which credential is missing, where it is sent, and how the reader can go on. */
import { escaped } from './html-text.ts';

/** Something that would let a caller in. */
export type WantedCredential =
  | { readonly type: 'api-key'; readonly in: 'header' | 'query'; readonly name: string }
  /** `Authorization: Bearer`: a key, or a token of an identity provider. */
  | { readonly type: 'bearer' }
  | { readonly type: 'basic' }
  /** A log-in in a browser. */
  | { readonly type: 'login' };

export interface PageHelp {
  readonly credentials?: readonly WantedCredential[];
  /** Path at which a person who is logged in logs out. */
  readonly logoutPath?: string;
  /** Contact of the owner: an e-mail address or a web address, without characters that have to be escaped. */
  readonly contact?: string | null;
}

export const NO_HELP: PageHelp = {};

/** Statuses that another try may change. */
const RETRIED: ReadonlySet<number> = new Set([401, 408, 429, 431, 500, 502, 503, 504]);

export function helpJson({ credentials, logoutPath, contact }: PageHelp): Readonly<Record<string, unknown>> {
  return {
    ...(credentials === undefined ? {} : { credentials }),
    ...(logoutPath === undefined ? {} : { logout: logoutPath }),
    ...(contact === undefined || contact === null ? {} : { contact }),
  };
}

/** Paragraphs; '' for none. `isRead`: the page came for a GET, which a link repeats. */
export function helpHtml(help: PageHelp, status: number, isRead: boolean): string {
  const { credentials = [], logoutPath, contact } = help;
  const wanted = credentials.map((credential) => `<li>${sentenceOf(credential)}</li>`).join('');
  const links = [
    ...(isRead && RETRIED.has(status) ? ['<a href="">Try again</a>'] : []),
    ...(logoutPath === undefined ? [] : [`<a href="${escaped(logoutPath)}">Log out</a>`]),
    ...(contact === undefined || contact === null ? [] : [contactLink(contact)]),
  ];
  return (
    (wanted === '' ? '' : `<p>Any of these lets you in:</p>\n<ul>${wanted}</ul>\n`) +
    (links.length === 0 ? '' : `<p>${links.join(' · ')}</p>\n`)
  );
}

function sentenceOf(credential: WantedCredential): string {
  if (credential.type === 'login') return 'Log in with a browser.';
  if (credential.type === 'basic') return 'Send a user name and a password by HTTP Basic.';
  if (credential.type === 'bearer')
    return 'Send a key or token in the header <code>Authorization: Bearer</code>.';
  const place = credential.in === 'header' ? 'header' : 'query parameter';
  return `Send an API key in the ${place} <code>${escaped(credential.name)}</code>.`;
}

function contactLink(contact: string): string {
  const address = contact.startsWith('http') ? contact : `mailto:${contact}`;
  return `<a href="${escaped(address)}">Contact the owner</a>`;
}
