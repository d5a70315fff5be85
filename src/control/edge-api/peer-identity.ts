/**
 * Maps a TLS peer to an identity. Only the leaf counts; other certificates of the chain are never read. The leaf
 * must be issued by our authority, be valid now and for clients, and belong in the model to the identity that its
 * SPIFFE URI names.
 */
import { TLSSocket } from 'node:tls';
import type { Clock } from '#base';
import { leafOf } from '#net';
import type { Identity, OverlayModel } from '../model/mod.ts';
import type { LeafProof, Pki, ProvenLeaf } from '../pki/mod.ts';

export interface ProvenPeer {
  readonly identity: Identity;
  readonly leaf: ProvenLeaf;
}

export type PeerProof =
  | { readonly peer: ProvenPeer }
  | {
      readonly problem: string;
      /** The leaf, if our authority signed it, so that the problem may be reported to the peer. */
      readonly signed?: ProvenLeaf;
    };

export class PeerIdentities {
  readonly #pki: Pick<Pki, 'proveLeaf'>;
  readonly #model: OverlayModel;
  readonly #clock: Clock;
  /** A socket's certificate does not change (renegotiation is off), so its signature is verified once. */
  readonly #proofs = new WeakMap<TLSSocket, LeafProof>();

  constructor(pki: Pick<Pki, 'proveLeaf'>, model: OverlayModel, clock: Clock) {
    this.#pki = pki;
    this.#model = model;
    this.#clock = clock;
  }

  of(socket: unknown): PeerProof {
    if (!(socket instanceof TLSSocket)) return { problem: 'no TLS' };
    const proof = this.#proofOf(socket);
    if ('problem' in proof) {
      const { problem, outOfDate } = proof;
      return outOfDate === undefined ? { problem } : { problem, signed: outOfDate };
    }
    return this.check(proof.leaf);
  }

  /** Checks what may change during a connection: the certificate's dates, and its entry in the model. */
  check(leaf: ProvenLeaf): PeerProof {
    if (this.#clock.nowMs() > leaf.notAfterMs) return { problem: 'certificate has expired', signed: leaf };
    const identity = this.#model.identityByFingerprint(leaf.fingerprint);
    if (identity === undefined) {
      const isDeleted = this.#model.identity(leaf.id) === undefined;
      const problem = isDeleted ? 'the identity was deleted' : 'certificate is not known any more';
      return { problem, signed: leaf };
    }
    const role = identity.kind === 'router' ? 'router' : 'identity';
    if (identity.id !== leaf.id || role !== leaf.role)
      return { problem: 'certificate names another identity', signed: leaf };
    return { peer: { identity, leaf } };
  }

  #proofOf(socket: TLSSocket): LeafProof {
    let proof = this.#proofs.get(socket);
    if (proof === undefined) {
      const leaf = leafOf(socket);
      proof = leaf === undefined ? { problem: 'no client certificate' } : this.#pki.proveLeaf(leaf);
      this.#proofs.set(socket, proof);
    }
    return proof;
  }
}
