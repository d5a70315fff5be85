/** When certificates end, as samples of a metric. */
import type { X509Certificate } from 'node:crypto';
import type { Labels } from './exposition.ts';

export interface NamedCertificate {
  /** What it is for: `identity`, `root authority`. */
  readonly name: string;
  readonly certificate: Pick<X509Certificate, 'validToDate'>;
}

/** Unix seconds of the end of each, by its name. */
export function certificateExpiries(certificates: Iterable<NamedCertificate>): [Labels, number][] {
  return Array.from(certificates, ({ name, certificate }) => [
    { certificate: name },
    Math.floor(certificate.validToDate.getTime() / 1_000),
  ]);
}
