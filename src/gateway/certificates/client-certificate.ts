/**
 * What a client's certificate proves to a share: judged once, at the handshake, by the authorities that were asked for
 * then. TLS checks the chain and the purpose, and it is checked by hand once more against exactly those authorities, so
 * that a change in between cannot mix two lists. Only the leaf says who it is.
 */
import type { TLSSocket } from 'node:tls';
import { checkPeerChain, issuersOf } from '#net';
import { alternativeNames } from './alternative-names.ts';

const MAX_NAMES = 100;

/** Texts as the certificate has them, bounded by its size; they may hold letters beyond ASCII, never line feeds. */
export interface ClientCertificate {
  /** `CN=ann, O=example`. */
  readonly subject: string;
  readonly commonName: string | undefined;
  /** SHA-256, hex pairs with colons. */
  readonly fingerprint256: string;
  readonly serial: string;
  readonly emails: readonly string[];
  readonly dnsNames: readonly string[];
  /** The list (PEM) that it was judged by: with another list it proves nothing. */
  readonly authorities: readonly string[];
}

/** One of the two at most; none where the server name asks for no certificate. */
export interface ClientProof {
  readonly clientCertificate: ClientCertificate | undefined;
  /** Why there is none: none was sent, or what was sent is not believed. */
  readonly clientCertificateProblem: string | undefined;
}

export const NO_PROOF: ClientProof = { clientCertificate: undefined, clientCertificateProblem: undefined };

/** `socket`: after its handshake, which was not a resumed one. `nowMs`: Unix milliseconds. */
export function proveClient(socket: TLSSocket, authorities: readonly string[], nowMs: number): ClientProof {
  if (socket.isSessionReused()) return refused('the session was resumed');
  const leaf = socket.getPeerX509Certificate();
  if (leaf === undefined) return refused('no certificate was sent');
  if (!socket.authorized) {
    // Older types call it an error; it is its code.
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
