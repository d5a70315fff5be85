/**
 * Matches a rule's names against those of a client certificate's leaf. The TLS layer verifies that the chain ends
 * at one of the rule's authorities.
 */
import type { ClientCertificateRule } from './access-rules.ts';
import { EmailPatterns, parseEmailPattern } from './email-pattern.ts';

export interface CallerCertificate {
  /** Whether the chain ends at one of the rule's authorities and the certificate is currently valid. */
  readonly isTrusted: boolean;
  /** The leaf's common name, DNS names and e-mail addresses. */
  readonly names: readonly string[];
}

const MAX_NAME = 255;

/** Accepts a whole name, or `*@domain`. A star elsewhere would look like a pattern without being one. */
export function isCertificateName(text: string): boolean {
  if (text === '' || text.length > 2 * MAX_NAME || /\p{Cc}/u.test(text)) return false;
  if ([...text].length > MAX_NAME) return false;
  return !text.includes('*') || (text.startsWith('*@') && parseEmailPattern(text) !== undefined);
}

export class CertificateNames {
  readonly #names: ReadonlySet<string>;
  readonly #emails: EmailPatterns;
  readonly #any: boolean;

  constructor({ names }: ClientCertificateRule) {
    this.#any = names.length === 0;
    this.#names = new Set(names.filter((name) => !name.includes('*')).map(asciiLower));
    this.#emails = new EmailPatterns(names.filter((name) => name.startsWith('*@')));
  }

  fits(names: readonly string[]): boolean {
    return this.#any || names.some((name) => this.#names.has(asciiLower(name)) || this.#emails.fits(name));
  }
}

/** Letters beyond ASCII are not changed, because some of them fold onto ASCII letters. */
function asciiLower(text: string): string {
  return text.replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase());
}
