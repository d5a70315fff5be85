/** The one way from a TLS peer to its certificate: the leaf alone, never another certificate of the chain. */
import type { X509Certificate } from 'node:crypto';
import type { TLSSocket } from 'node:tls';

export function leafOf(socket: TLSSocket): X509Certificate | undefined {
  return socket.getPeerX509Certificate();
}

/** SHA-1 of the DER certificate, lower-case hex: how OpenZiti names a certificate. */
export function fingerprintOf(certificate: X509Certificate): string {
  return certificate.fingerprint.replaceAll(':', '').toLowerCase();
}
