/** TLS settings of channels: 1.2 and 1.3, AES-128-GCM first, no tickets (a resumed session hides the certificate). */
import { constants } from 'node:crypto';
import type { SecureContextOptions, TlsOptions } from 'node:tls';
import { TLS_CIPHERS, TLS_MIN_VERSION } from '../tls-policy.ts';

export interface TlsIdentity {
  /** PEM chain, leaf first. */
  readonly cert: string;
  readonly key: string;
  /** PEM bundle: trust anchors for the other side. */
  readonly ca: string;
}

export function channelTls(identity: TlsIdentity): SecureContextOptions {
  return {
    cert: identity.cert,
    key: identity.key,
    ca: identity.ca,
    ciphers: TLS_CIPHERS,
    minVersion: TLS_MIN_VERSION,
    maxVersion: 'TLSv1.3',
  };
}

/** A client certificate is asked for; who it is, is judged at the hello. */
export function channelServerTls(identity: TlsIdentity, alpn: readonly string[]): TlsOptions {
  return {
    ...channelTls(identity),
    honorCipherOrder: true,
    requestCert: true,
    rejectUnauthorized: false,
    secureOptions: constants.SSL_OP_NO_TICKET | constants.SSL_OP_NO_RENEGOTIATION,
    // OpenZiti takes the last protocol of the client's list that has a handler.
    ALPNCallback: ({ protocols }) => protocols.findLast((protocol) => alpn.includes(protocol)),
  };
}
