/** An authority of another party, for tests. */
import { generateKeyPairSync } from 'node:crypto';
import {
  authorityOf,
  makeAuthority,
  spkiOf,
  type LeafRequest,
} from '../../src/control/pki/certificate-authority.ts';

const HOUR_MS = 3_600_000;

export interface ThirdParty {
  readonly certificatePem: string;
  readonly keyPem: string;
  issue(
    commonName: string,
    change?: Partial<LeafRequest>,
  ): Promise<{ readonly cert: string; readonly key: string }>;
}

export async function openThirdParty(commonName: string): Promise<ThirdParty> {
  const nowMs = Date.now();
  const pair = await makeAuthority({ commonName, lifetimeDays: 1, nowMs });
  const authority = authorityOf(pair);
  return {
    ...{ certificatePem: pair.certificatePem, keyPem: pair.keyPem.toString() },
    async issue(name, change = {}) {
      const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
      const request: LeafRequest = {
        ...{ commonName: name, spki: spkiOf(privateKey), uses: ['client'], names: [] },
        ...{ notBeforeMs: nowMs - HOUR_MS, notAfterMs: nowMs + HOUR_MS },
        ...change,
      };
      return {
        cert: await authority.signLeaf(request),
        key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
      };
    },
  };
}
