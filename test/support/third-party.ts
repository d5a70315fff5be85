/** An authority of another party, for tests. */
import { generateKeyPairSync } from 'node:crypto';
import {
  authorityOf,
  makeAuthority,
  spkiOf,
  type CertificateAuthority,
  type LeafRequest,
} from '../../src/control/pki/certificate-authority.ts';

const HOUR_MS = 3_600_000;

export interface ThirdParty {
  readonly certificatePem: string;
  /** The certificates between a leaf and the root, as a client sends them; '' for a root. */
  readonly chainPem: string;
  readonly keyPem: string;
  issue(
    commonName: string,
    change?: Partial<LeafRequest>,
  ): Promise<{ readonly cert: string; readonly key: string }>;
  /** An authority below this one. */
  below(commonName: string): Promise<ThirdParty>;
}

export function openThirdParty(commonName: string): Promise<ThirdParty> {
  return open(commonName);
}

async function open(commonName: string, parent?: CertificateAuthority, above = ''): Promise<ThirdParty> {
  const nowMs = Date.now();
  const pair = await makeAuthority({ commonName, lifetimeDays: 1, nowMs, parent });
  const authority = authorityOf(pair);
  const chainPem = parent === undefined ? '' : pair.certificatePem + above;
  return {
    chainPem,
    below: (name) => open(name, authority, chainPem),
    certificatePem: pair.certificatePem,
    keyPem: pair.keyPem.toString(),
    async issue(name, change = {}) {
      const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
      const request: LeafRequest = {
        commonName: name,
        spki: spkiOf(privateKey),
        uses: ['client'],
        names: [],
        notBeforeMs: nowMs - HOUR_MS,
        notAfterMs: nowMs + HOUR_MS,
        ...change,
      };
      return {
        cert: (await authority.signLeaf(request)) + chainPem,
        key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
      };
    },
  };
}
