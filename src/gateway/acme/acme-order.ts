/**
 * One order at a certificate authority (RFC 8555), through acme-client: the account, a new key, the proof by HTTP-01 or
 * DNS-01, and the certificate. It runs in a process of its own (`bin/certificate-order.ts`), because the library and what
 * it brings take 32 MB, and its settings are those of a whole process. HTTP challenges are answered by every process with
 * the account's key (`challenge-answer.ts`).
 */
import { Agent } from 'node:https';
import type { Authorization, Client } from 'acme-client';
import { definedFields, FrontdoorError, messageOf } from '#base';
import type { KeyPair } from '../certificates/served-pair.ts';
import type { AcmeSettings } from './acme-settings.ts';
import type { ChallengeRecords } from './dns/challenge-records.ts';
import { OrderFailure, parseRetryAfter } from './order-failure.ts';

export type { AcmeSettings } from './acme-settings.ts';
export { isDelegated } from './dns/challenge-alias.ts';
export { ChallengeRecords } from './dns/challenge-records.ts';
export { openDnsProvider, providerNameOf } from './dns/open-dns-provider.ts';
export { RecordJournal } from './dns/record-journal.ts';
export { isRateLimited, retryAfterOf } from './order-failure.ts';

const REQUEST_MS = 30_000;
const MAX_ANSWER_BYTES = 1_048_576;
/** Between two looks at an order: an authority takes from 0.1 s to a minute. */
const POLL = { backoffAttempts: 30, backoffMin: 250, backoffMax: 3_000 };
/** An authority with several front ends may reject good nonces. The library's own bound is 5. */
const NONCE_RETRIES = 20;

export interface OrderRequest {
  readonly settings: AcmeSettings;
  /** PKCS#8 PEM. */
  readonly accountKeyPem: string;
  readonly version: string;
  /** A host, or `*.zone` with records. */
  readonly name: string;
  /** For DNS-01; without them the proof is by HTTP-01. */
  readonly records?: ChallengeRecords | undefined;
}

/** Rejects with the text of the authority as `acme-failed`, or with the error of the records. Once in a process. */
export async function orderCertificate(request: OrderRequest): Promise<KeyPair> {
  const rate = { retryAfterMs: 0, isLimited: false };
  try {
    return await order(request, rate);
  } catch (error) {
    if (error instanceof FrontdoorError) throw error;
    throw new OrderFailure(messageOf(error), rate, error);
  }
}

async function order(
  request: OrderRequest,
  rate: { retryAfterMs: number; isLimited: boolean },
): Promise<KeyPair> {
  const { settings, name } = request;
  const acme = await import('acme-client');
  const { defaults, interceptors } = acme.axios;
  defaults.timeout = REQUEST_MS;
  defaults.maxContentLength = MAX_ANSWER_BYTES;
  defaults.headers.common['User-Agent'] = `frontdoor/${request.version} acme-client`;
  if (settings.caPem !== undefined) defaults.httpsAgent = new Agent({ ca: settings.caPem });
  // The library's own would wait as long as the authority says, and hide why it cannot be reached. The issuer pauses instead.
  interceptors.request.clear();
  interceptors.response.clear();
  interceptors.response.use((response) => {
    if (response.status === 429 || response.status === 503)
      rate.retryAfterMs = parseRetryAfter(response.headers['retry-after'], Date.now());
    if (response.status === 429) rate.isLimited = true;
    return response;
  });
  const client = new acme.Client({
    directoryUrl: settings.directoryUrl,
    accountKey: request.accountKeyPem,
    ...definedFields({ externalAccountBinding: settings.binding }),
    ...POLL,
  });
  const { http } = client as Client & { readonly http?: object };
  Object.assign(http ?? {}, { maxBadNonceRetries: NONCE_RETRIES });
  const [key, csr] = await acme.crypto.createCsr(
    { altNames: [name] },
    await acme.crypto.createPrivateEcdsaKey(),
  );
  const { records } = request;
  const type = records === undefined ? 'http-01' : 'dns-01';
  const cert = await client.auto({
    csr,
    // A key has one account: the authority finds it again, or creates it.
    email: settings.email,
    termsOfServiceAgreed: true,
    // It would ask the name itself, which may not lead here from inside.
    skipChallengeVerification: true,
    challengePriority: [type],
    challengeCreateFn: async (authorization, challenge, value) => {
      if (challenge.type !== type)
        throw new FrontdoorError(
          'unavailable',
          'acme-failed',
          `the authority does not offer ${type} for ${name}`,
        );
      await records?.present(recordOf(authorization), value);
    },
    challengeRemoveFn: async (authorization, _challenge, value) => {
      await records?.cleanUp(recordOf(authorization), value);
    },
  });
  return { cert, key: key.toString() };
}

function recordOf({ identifier }: Authorization): string {
  return `_acme-challenge.${identifier.value}`;
}
