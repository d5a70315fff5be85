/** The external id of an identity in its certificate, which an authority of another party puts there (OpenZiti's `externalIdClaim`). */
import type { X509Certificate } from 'node:crypto';
import { commonNameOf } from './third-party-certificate.ts';

export const CLAIM_LOCATIONS = ['COMMON_NAME', 'SAN_URI', 'SAN_EMAIL'] as const;
export const CLAIM_MATCHERS = ['ALL', 'PREFIX', 'SUFFIX', 'SCHEME'] as const;
export const CLAIM_PARSERS = ['NONE', 'SPLIT'] as const;

export interface CertificateClaim {
  readonly location: (typeof CLAIM_LOCATIONS)[number];
  readonly matcher: (typeof CLAIM_MATCHERS)[number];
  /** The prefix, suffix or scheme. */
  readonly matcherCriteria: string;
  readonly parser: (typeof CLAIM_PARSERS)[number];
  /** The separator. */
  readonly parserCriteria: string;
  /** Which of the texts that match. */
  readonly index: number;
}

/** `URI:spiffe://a/b, email:"a\u002cb@c"`: Node quotes what could be read in two ways. */
const ALTERNATIVE_NAME = /([A-Za-z ]+):("(?:[^"\\]|\\.)*"|[^,]*)(?:, |$)/y;

/** Returns undefined if the certificate has no such text. */
export function externalIdOf(certificate: X509Certificate, claim: CertificateClaim): string | undefined {
  const texts = textsAt(certificate, claim.location).flatMap((text) => matched(text, claim));
  const parts = claim.parser === 'SPLIT' ? texts.flatMap((text) => text.split(claim.parserCriteria)) : texts;
  const found = parts[claim.index];
  return found === '' ? undefined : found;
}

function textsAt(certificate: X509Certificate, location: CertificateClaim['location']): string[] {
  if (location === 'COMMON_NAME') return [commonNameOf(certificate)];
  const kind = location === 'SAN_URI' ? 'URI' : 'email';
  return alternativeNamesOf(certificate).flatMap(([type, value]) => (type === kind ? [value] : []));
}

/** Returns none for names that cannot be read. */
function alternativeNamesOf({ subjectAltName: names = '' }: X509Certificate): [string, string][] {
  const found: [string, string][] = [];
  ALTERNATIVE_NAME.lastIndex = 0;
  while (ALTERNATIVE_NAME.lastIndex < names.length) {
    const match = ALTERNATIVE_NAME.exec(names);
    if (match === null) return [];
    const [, type = '', value = ''] = match;
    found.push([type, value.startsWith('"') ? String(JSON.parse(value)) : value]);
  }
  return found;
}

/** Prefix and suffix are not part of the id; the scheme is. */
function matched(text: string, { matcher, matcherCriteria: wanted }: CertificateClaim): string[] {
  switch (matcher) {
    case 'ALL':
      return [text];
    case 'PREFIX':
      return text.startsWith(wanted) ? [text.slice(wanted.length)] : [];
    case 'SUFFIX':
      return text.endsWith(wanted) ? [text.slice(0, text.length - wanted.length)] : [];
    case 'SCHEME':
      return text.toLowerCase().startsWith(`${wanted.toLowerCase()}:`) ? [text] : [];
  }
}
