/**
 * Maps a TLS peer to an identity. Only the leaf counts; other certificates only link it to authorities of others. The leaf
 * must be issued by our authority, be valid now (or the identity's authentication policy permits expired ones) and for
 * clients, and belong in the model to the identity that its SPIFFE URI names; or it is the very certificate of another
 * party that an identity enrolled with, or an authority of another party names the identity in it.
 */
import type { X509Certificate } from 'node:crypto';
import { TLSSocket } from 'node:tls';
import { validityProblem, type Clock } from '#base';
import { fingerprintOf, leafOf } from '#net/channel';
import { authPolicyOf, permitsExpired } from '../model/auth-policy.ts';
import type { Identity, OverlayModel } from '../model/overlay-model.ts';
import { thirdPartyLeaf, type LeafProof, type Pki, type ProvenLeaf } from '../../pki/mod.ts';
import type { ClaimedIdentities } from './claimed-identities.ts';

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
  readonly #claimed: ClaimedIdentities;
  readonly #clock: Clock;
  /** A socket's certificate does not change (renegotiation is off), so its signature is verified once. */
  readonly #proofs = new WeakMap<TLSSocket, LeafProof>();
  /** Leaves that are not of our authority. */
  readonly #others = new WeakMap<TLSSocket, X509Certificate>();

  constructor(pki: Pick<Pki, 'proveLeaf'>, model: OverlayModel, claimed: ClaimedIdentities, clock: Clock) {
    this.#pki = pki;
    this.#model = model;
    this.#claimed = claimed;
    this.#clock = clock;
  }

  of(socket: unknown): PeerProof {
    if (!(socket instanceof TLSSocket)) return { problem: 'no TLS' };
    const proof = this.#proofOf(socket);
    if ('leaf' in proof) return this.check(proof.leaf);
    if (proof.outOfDate !== undefined) return this.check(proof.outOfDate);
    const other = this.#others.get(socket);
    const leaf = other && this.#thirdPartyLeafOf(other);
    if (leaf === undefined) return { problem: proof.problem };
    return 'problem' in leaf ? leaf : this.check(leaf);
  }

  /** Checks what may change during a connection: the certificate's dates, and its entry in the model. */
  check(leaf: ProvenLeaf): PeerProof {
    const nowMs = this.#clock.nowMs();
    const identity =
      leaf.authorityId === undefined
        ? this.#model.identityByFingerprint(leaf.fingerprint)
        : this.#model.identity(leaf.id);
    const isTolerated = nowMs > leaf.notAfterMs && this.#mayBeExpired(identity);
    const outOfDate = validityProblem({ fromMs: leaf.notBeforeMs, untilMs: leaf.notAfterMs }, nowMs);
    if (outOfDate !== undefined && !isTolerated) return { problem: `certificate ${outOfDate}`, signed: leaf };
    if (identity === undefined) {
      const isDeleted = this.#model.identity(leaf.id) === undefined;
      const problem = isDeleted ? 'the identity was deleted' : 'certificate is no longer known';
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
  #thirdPartyLeafOf(leaf: X509Certificate): ProvenLeaf | { readonly problem: string } | undefined {
    const claimed = this.#claimed.of(leaf, this.#clock.nowMs());
    if (claimed !== undefined && 'problem' in claimed) return claimed;
    if (claimed !== undefined) return thirdPartyLeaf(leaf, claimed.identity.id, claimed.authorityId);
    const identity = this.#model.identityByFingerprint(fingerprintOf(leaf));
    return identity?.kind === 'edge' ? thirdPartyLeaf(leaf, identity.id) : undefined;
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
