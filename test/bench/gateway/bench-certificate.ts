/** One authority and one ECDSA P-256 certificate for every name of the benchmark, on disk as servers want them. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeTestAuthority } from '../../support/certificates.ts';

export const ZONE = 'share.localhost';

export interface BenchCertificate {
  /** PEM of the authority. */
  readonly ca: string;
  readonly caFile: string;
  readonly certFile: string;
  readonly keyFile: string;
  /** Certificate and key in one file, for haproxy. */
  readonly bothFile: string;
}

export async function makeBenchCertificate(folder: string): Promise<BenchCertificate> {
  mkdirSync(folder, { recursive: true });
  const authority = await makeTestAuthority('benchmark CA');
  const { cert, key, ca } = await authority.issue(ZONE, { dns: [`*.${ZONE}`, ZONE, 'localhost'] });
  const write = (name: string, text: string): string => {
    const path = join(folder, name);
    writeFileSync(path, text, { mode: 0o600 });
    return path;
  };
  return {
    ca,
    caFile: write('ca.pem', ca),
    certFile: write('cert.pem', cert),
    keyFile: write('key.pem', key),
    bothFile: write('both.pem', `${cert.trim()}\n${key}`),
  };
}
