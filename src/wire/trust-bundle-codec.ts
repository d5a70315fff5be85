/** The body of TrustBundle (ours): the trusted authorities as PEM, then those that ended, after a line between them. */
import { utf8 } from '#base';

export interface TrustBundle {
  /** The issuing intermediate first. */
  readonly trustedPem: string;
  readonly endedPem: string;
}

const DIVIDER = '-- ended --\n';

export function encodeTrustBundle({ trustedPem, endedPem }: TrustBundle): Uint8Array {
  return utf8(`${trustedPem}${DIVIDER}${endedPem}`);
}

export function decodeTrustBundle(text: string): TrustBundle {
  const at = text.indexOf(DIVIDER);
  return at < 0
    ? { trustedPem: text, endedPem: '' }
    : { trustedPem: text.slice(0, at), endedPem: text.slice(at + DIVIDER.length) };
}
