/** Returns the certificate of a TLS peer: always the leaf, never another certificate of the chain. */
import type { X509Certificate } from 'node:crypto';
import type { TLSSocket } from 'node:tls';

export function leafOf(socket: TLSSocket): X509Certificate | undefined {
  return socket.getPeerX509Certificate();
}

/** SHA-1 of the DER certificate in lower-case hex, which is how OpenZiti identifies a certificate. */
export function fingerprintOf(certificate: X509Certificate): string {
  return certificate.fingerprint.replaceAll(':', '').toLowerCase();
}
