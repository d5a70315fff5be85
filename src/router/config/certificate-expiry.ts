/** The dates of the certificates in one file, as `router check --files` reports them. */
import type { X509Certificate } from 'node:crypto';

export const EXPIRY_RULE = 'expiry';
const DAY_MS = 86_400_000;
const WARNING_DAYS = 30;
const RENEWED_AFTER = 2 / 3;

export interface CertificateExpiry {
  readonly severity: 'error' | 'warning';
  readonly message: string;
}

/**
 * Returns the most urgent problem: an error for a certificate that is not valid now, and a warning for one that ends
 * within 30 days. In a bundle of authorities others can take the place of an expired one, so that is an error only if
 * none is left. `file` is undefined for PEM in the configuration.
 */
export function expiryOf(
  certificates: readonly X509Certificate[],
  nowMs: number,
  file: string | undefined,
  isBundle: boolean,
): CertificateExpiry | undefined {
  const byEnd = certificates.toSorted((a, b) => Date.parse(a.validTo) - Date.parse(b.validTo));
  const isOver = (one: X509Certificate): boolean => Date.parse(one.validTo) <= nowMs;
  const early = certificates.find((one) => Date.parse(one.validFrom) > nowMs);
  const [first] = byEnd;
  if (first === undefined) return undefined;
  const isAnyLeft = isBundle && certificates.some((one) => !isOver(one));
  const where = `${file === undefined ? '' : `${file}: `}the certificate`;
  if (isOver(first)) {
    const message = `${where} ${nameOf(first)} expired on ${dayOf(first.validTo)}`;
    return { severity: isAnyLeft ? 'warning' : 'error', message };
  }
  if (early !== undefined && !isBundle) {
    const message = `${where} ${nameOf(early)} is not valid before ${dayOf(early.validFrom)}`;
    return { severity: 'error', message };
  }
  const leftDays = Math.floor((Date.parse(first.validTo) - nowMs) / DAY_MS);
  if (leftDays >= WARNING_DAYS) return undefined;
  const left = leftDays === 1 ? '1 day' : `${leftDays} days`;
  return {
    severity: 'warning',
    message: `${where} ${nameOf(first)} ends on ${dayOf(first.validTo)}, in ${left}`,
  };
}

/** Whether one of the certificates is in the last third of its life, in which a running router has renewed it. */
export function isRenewalLate(certificates: readonly X509Certificate[], nowMs: number): boolean {
  return certificates.some(({ validFrom, validTo }) => {
    const [fromMs, toMs] = [Date.parse(validFrom), Date.parse(validTo)];
    return nowMs >= fromMs + RENEWED_AFTER * (toMs - fromMs);
  });
}

function dayOf(date: string): string {
  return new Date(date).toISOString().slice(0, 10);
}

function nameOf({ subject }: X509Certificate): string {
  return /^CN=.+$/m.exec(subject)?.[0] ?? subject.replaceAll('\n', ', ');
}
