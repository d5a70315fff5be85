/** TLS settings of channels: versions 1.2 and 1.3, AES-128-GCM preferred. */
import { constants } from 'node:crypto';
import type { SecureContextOptions } from 'node:tls';
import { TLS_CIPHERS, TLS_MIN_VERSION } from '../tls-policy.ts';

export interface TlsIdentity {
  /** PEM chain, leaf first. */
  readonly cert: string;
  readonly key: string;
  /** PEM bundle of trust anchors for the other side. */
  readonly ca: string;
}

export function channelTls(identity: TlsIdentity): SecureContextOptions {
  return {
    cert: identity.cert,
    key: identity.key,
    ca: identity.ca,
    // Every certificate of the bundle is an anchor, as in OpenZiti. Affects only clients.
    allowPartialTrustChain: true,
    ciphers: TLS_CIPHERS,
    minVersion: TLS_MIN_VERSION,
    maxVersion: 'TLSv1.3',
  };
}

/**
 * For servers: their own cipher order, no renegotiation, and no tickets, because a resumed session would hide the
 * certificate.
 */
export const CHANNEL_SERVER_TLS = {
  honorCipherOrder: true,
  secureOptions: constants.SSL_OP_NO_TICKET | constants.SSL_OP_NO_RENEGOTIATION,
};
