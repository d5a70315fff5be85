/**
 * E-mail addresses in the canonical form that rules compare: plain ASCII `local@domain`, lower case, no quotes,
 * no comments. A text in another form is not an address and matches no pattern, because letters beyond ASCII can
 * fold onto ASCII ones; domains of other scripts are written `xn--…` on both sides. `ann+x@` differs from `ann@`.
 */

/** The characters of an unquoted local part (RFC 5321 atext and dots). */
const LOCAL = /^[a-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[a-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/;
const DOMAIN = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)*[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
const MAX_LOCAL = 64;
const MAX_DOMAIN = 253;
const PRINTABLE = /^[!-~]+$/;

/** Returns the canonical address, or undefined if the text has no such form. */
export function canonicalEmail(text: string): string | undefined {
  const at = text.indexOf('@');
  if (at < 1 || at > MAX_LOCAL || text.length - at - 1 > MAX_DOMAIN || !PRINTABLE.test(text))
    return undefined;
  const email = text.toLowerCase();
  return LOCAL.test(email.slice(0, at)) && DOMAIN.test(email.slice(at + 1)) ? email : undefined;
}

/** `ann@example.com`, or `*@example.com` for every address of exactly this domain. */
export type EmailPattern = { readonly email: string } | { readonly domain: string };

export function parseEmailPattern(text: string): EmailPattern | undefined {
  const email = canonicalEmail(text);
  if (email === undefined) return undefined;
  if (email.startsWith('*@')) return { domain: email.slice(2) };
  return email.slice(0, email.indexOf('@')).includes('*') ? undefined : { email };
}

/** A set of patterns with one look-up per address. A malformed pattern matches nothing. */
export class EmailPatterns {
  readonly #emails = new Set<string>();
  readonly #domains = new Set<string>();

  constructor(texts: readonly string[]) {
    for (const text of texts) {
      const pattern = parseEmailPattern(text);
      if (pattern === undefined) continue;
      if ('email' in pattern) this.#emails.add(pattern.email);
      else this.#domains.add(pattern.domain);
    }
  }

  fits(text: string): boolean {
    const email = canonicalEmail(text);
    return (
      email !== undefined &&
      (this.#emails.has(email) || this.#domains.has(email.slice(email.indexOf('@') + 1)))
    );
  }
}
