/**
 * Judges the certificate that an https target presented. OpenSSL and Node have verified it already; here their result is
 * combined with the settings of the share, before a byte is sent. A failure names what a person can do. ADR 0091.
 */
import type { X509Certificate } from 'node:crypto';
import type { TLSSocket } from 'node:tls';
import { DEFAULT_TARGET_TLS, pinOption, type TargetTls } from '#domain/upstream';
import type { TargetAddress } from '../target-address.ts';

/** A client certificate, which never leaves the machine of the agent. PEM. */
export interface TargetClient {
  /** With the intermediate authorities after it, if there are any. */
  readonly cert: string;
  readonly key: string;
}

/** Names in certificates are the service's text, and shown on terminals. */
const MAX_SHOWN_CHARS = 60;
const NOT_SHOWN = /[^\x20-\x7e]/g;

const SELF_SIGNED = 'its certificate is self-signed';
const UNKNOWN_AUTHORITY = 'no authority that the agent trusts issued its certificate';

/** Codes of OpenSSL and Node. */
const FAULTS: Readonly<Record<string, (leaf: X509Certificate, name: string) => string>> = {
  DEPTH_ZERO_SELF_SIGNED_CERT: () => SELF_SIGNED,
  SELF_SIGNED_CERT_IN_CHAIN: () => UNKNOWN_AUTHORITY,
  UNABLE_TO_GET_ISSUER_CERT: () => UNKNOWN_AUTHORITY,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: () => UNKNOWN_AUTHORITY,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: () => UNKNOWN_AUTHORITY,
  CERT_HAS_EXPIRED: ({ validTo }) => `its certificate expired on ${shown(validTo)}`,
  CERT_NOT_YET_VALID: ({ validFrom }) => `its certificate is not valid before ${shown(validFrom)}`,
  ERR_TLS_CERT_ALTNAME_INVALID: ({ subjectAltName, subject }, name) =>
    `its certificate is for ${shown(subjectAltName ?? subject)}, not for ${name}`,
};

/** A service that does not agree on HTTP/2 in its handshake. */
const NO_HTTP2 = 'it does not speak HTTP/2; if it speaks HTTP/1.1, its target must start with https://';

/** Returns why nothing is sent over a connection whose handshake is complete; undefined if everything is as it should be. */
export function securityFault(
  socket: TLSSocket,
  target: TargetAddress,
  settings?: TargetTls,
): string | undefined {
  const fault = certificateFault(socket, target, settings);
  if (fault !== undefined || !target.isHttp2 || socket.alpnProtocol === 'h2') return fault;
  return `TLS to ${target.text} failed: ${NO_HTTP2}`;
}

/** Returns why the certificate is not accepted; undefined if it is. */
function certificateFault(
  socket: TLSSocket,
  { text, host }: TargetAddress,
  { tlsPin, tlsInsecure, tlsServerName }: TargetTls = DEFAULT_TARGET_TLS,
): string | undefined {
  const leaf = socket.getPeerX509Certificate();
  if (leaf === undefined) return `TLS to ${text} failed: it presented no certificate`;
  const digits = fingerprintOf(leaf);
  if (tlsPin !== null) {
    if (tlsPin === digits) return undefined;
    return (
      `TLS to ${text} failed: its certificate is not the pinned one. If it was replaced on purpose, ` +
      `accept the new one with ${pinOption(digits)}`
    );
  }
  if (tlsInsecure || socket.authorized) return undefined;
  // The type is an error, but the value is its code.
  const code = String(socket.authorizationError);
  const fault = FAULTS[code]?.(leaf, tlsServerName ?? host) ?? `its certificate is not valid (${code})`;
  return (
    `TLS to ${text} failed: ${fault}. If it is your service, accept this certificate with ${pinOption(digits)}, ` +
    'or give its authority with --target-ca FILE, the name in it with --target-server-name NAME, ' +
    'or turn verification off with --target-insecure'
  );
}

/** The text of a handshake that failed, by the code of OpenSSL or Node. */
export function handshakeFault(text: string, code: string): string {
  if (code.includes('NO_APPLICATION_PROTOCOL')) return `TLS to ${text} failed: ${NO_HTTP2}`;
  const remedy = code.includes('CERTIFICATE_REQUIRED')
    ? ': it requires a client certificate; start the agent with --target-client-certificate and --target-client-key'
    : '';
  return `TLS to ${text} failed: ${code}${remedy}`;
}

/** The SHA-256 fingerprint, as settings have it. */
export function fingerprintOf({ fingerprint256 }: X509Certificate): string {
  return fingerprint256.replaceAll(':', '').toLowerCase();
}

function shown(text: string): string {
  const line = text.replaceAll('\n', ', ').replaceAll(NOT_SHOWN, '?');
  return line.length > MAX_SHOWN_CHARS ? `${line.slice(0, MAX_SHOWN_CHARS)}…` : line;
}
