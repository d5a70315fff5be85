/**
 * The client certificate of a connection, verified once at the handshake against the authorities that were
 * requested then. TLS checks chain and purpose; the chain is then checked once more against exactly those
 * authorities, so that a concurrent change cannot mix two lists. Only the leaf identifies the client.
 */
import type { TLSSocket } from 'node:tls';
import { checkPeerChain, issuersOf } from '#net';
import { alternativeNames } from './alternative-names.ts';

const MAX_NAMES = 100;

/** Texts of the certificate, bounded by its size. They may contain letters beyond ASCII, but no line feeds. */
export interface ClientCertificate {
  /** For example `CN=ann, O=example`. */
  readonly subject: string;
  readonly commonName: string | undefined;
  /** SHA-256 as hex pairs with colons. */
  readonly fingerprint256: string;
  readonly serial: string;
  readonly emails: readonly string[];
  readonly dnsNames: readonly string[];
  /** The list (PEM) that it was verified with. With another list it proves nothing. */
  readonly authorities: readonly string[];
}

/** At most one of the fields is set; none if no certificate was requested for the server name. */
export interface ClientProof {
  readonly clientCertificate: ClientCertificate | undefined;
  /** Why there is no certificate: none was sent, or it is not trusted. */
  readonly clientCertificateProblem: string | undefined;
}

export const NO_PROOF: ClientProof = { clientCertificate: undefined, clientCertificateProblem: undefined };

/** `socket` has completed a full handshake. `nowMs` is in Unix milliseconds. */
export function proveClient(socket: TLSSocket, authorities: readonly string[], nowMs: number): ClientProof {
  if (socket.isSessionReused()) return refused('the session was resumed');
  const leaf = socket.getPeerX509Certificate();
  if (leaf === undefined) return refused('no certificate was sent');
  if (!socket.authorized) {
    // The types declare an error, but the value is its code.
    const code = String(socket.authorizationError);
    return refused(`the certificate is not accepted: ${code.replace(/^Error: /, '')}`);
  }
  const problem = checkPeerChain(leaf, issuersOf(leaf), authorities.join('\n'), nowMs);
  if (problem !== undefined) return refused(problem);
  const names = leaf.subject.split('\n');
  return {
    clientCertificate: {
      subject: names.join(', '),
      commonName: names.findLast((part) => part.startsWith('CN='))?.slice(3),
      fingerprint256: leaf.fingerprint256,
      serial: leaf.serialNumber,
      emails: alternativeNames(leaf, 'email', MAX_NAMES),
      dnsNames: alternativeNames(leaf, 'DNS', MAX_NAMES),
      authorities,
    },
    clientCertificateProblem: undefined,
  };
}

function refused(problem: string): ClientProof {
  return { clientCertificate: undefined, clientCertificateProblem: problem };
}
