/**
 * The certificate that an agent refused, in the reason of a failure. The overlay's protocol carries reasons as text, so the option
 * that accepts the certificate is written and read here, and nowhere else.
 */

const OPTION = /--target-pin ([0-9a-f]{64})\b/;

/** `digits`: the SHA-256 fingerprint in lower case. */
export function pinOption(digits: string): string {
  return `--target-pin ${digits}`;
}

/** Returns the fingerprint that a reason offers, or undefined. Other texts of certificates in a reason are shorter. */
export function presentedCertificate(reason: string): string | undefined {
  return OPTION.exec(reason)?.[1];
}
