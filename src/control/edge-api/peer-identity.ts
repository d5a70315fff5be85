/**
 * Maps a TLS peer to an identity. Only the leaf counts; other certificates of the chain are never read. The leaf
 * must be issued by our authority, be valid now (or the identity's authentication policy permits expired ones) and for
 * clients, and belong in the model to the identity that its SPIFFE URI names; or it is the very certificate of another
 * party that an identity enrolled with.
 */
import type { X509Certificate } from 'node:crypto';
import { TLSSocket } from 'node:tls';
import type { Clock } from '#base';
import { fingerprintOf, leafOf } from '#net';
import { authPolicyOf, permitsExpired, type Identity, type OverlayModel } from '../model/mod.ts';
import { thirdPartyLeaf, type LeafProof, type Pki, type ProvenLeaf } from '../pki/mod.ts';

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
  /** Leaves that are not of our authority. */
  readonly #others = new WeakMap<TLSSocket, X509Certificate>();

  constructor(pki: Pick<Pki, 'proveLeaf'>, model: OverlayModel, clock: Clock) {
    this.#pki = pki;
    this.#model = model;
    this.#clock = clock;
  }

  of(socket: unknown): PeerProof {
    if (!(socket instanceof TLSSocket)) return { problem: 'no TLS' };
    const proof = this.#proofOf(socket);
    if ('leaf' in proof) return this.check(proof.leaf);
    const leaf = proof.outOfDate ?? this.#thirdPartyLeafOf(socket);
    return leaf === undefined ? { problem: proof.problem } : this.check(leaf);
  }

  /** Checks what may change during a connection: the certificate's dates, and its entry in the model. */
  check(leaf: ProvenLeaf): PeerProof {
    const nowMs = this.#clock.nowMs();
    const identity = this.#model.identityByFingerprint(leaf.fingerprint);
    if (nowMs > leaf.notAfterMs && !this.#mayBeExpired(identity))
      return { problem: 'certificate has expired', signed: leaf };
    if (nowMs < leaf.notBeforeMs) return { problem: 'certificate is not valid yet', signed: leaf };
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

  #mayBeExpired(identity: Identity | undefined): boolean {
    return identity !== undefined && permitsExpired(authPolicyOf(this.#model.edge, identity.id));
  }

  /** The peer may have enrolled on this connection, so the answer is not kept. */
  #thirdPartyLeafOf(socket: TLSSocket): ProvenLeaf | undefined {
    const leaf = this.#others.get(socket);
    const identity = leaf === undefined ? undefined : this.#model.identityByFingerprint(fingerprintOf(leaf));
    return leaf === undefined || identity?.kind !== 'edge' ? undefined : thirdPartyLeaf(leaf, identity.id);
  }

  #proofOf(socket: TLSSocket): LeafProof {
    let proof = this.#proofs.get(socket);
    if (proof === undefined) {
      const leaf = leafOf(socket);
      proof = leaf === undefined ? { problem: 'no client certificate' } : this.#pki.proveLeaf(leaf);
      this.#proofs.set(socket, proof);
      if (leaf !== undefined && 'problem' in proof) this.#others.set(socket, leaf);
    }
    return proof;
  }
}

/** Returns the certificate that the client presented. Its issuer may be anybody. */
export function certificateOf(socket: unknown): X509Certificate | undefined {
  return socket instanceof TLSSocket ? leafOf(socket) : undefined;
}
