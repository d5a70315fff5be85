/**
 * Decides which peers may open a control channel, by the leaf certificate alone. It must be a router's
 * certificate of our CA, currently valid, in the model, not disabled, and for the router that the hello's body names. The
 * reason of a refusal is sent only to a peer whose certificate our authority signed.
 */
import type { X509Certificate } from 'node:crypto';
import type { Frame } from '#wire';
import { decodeRouterHello, type RouterHello } from '#wire/ctrl';
import type { OverlayModel } from '../model/overlay-model.ts';
import type { LeafProof, ProvenLeaf } from '../../pki/mod.ts';

/** A router that connected within this time and still answers is not replaced by another connection with its certificate. */
const CHURN_LIMIT_MS = 60_000;

export type ProveLeaf = (leaf: X509Certificate) => LeafProof;

export type RouterAdmission =
  | { readonly isAdmitted: true; readonly hello: RouterHello }
  | {
      readonly isAdmitted: false;
      readonly reason: string;
      /** The leaf, if our authority signed it. */
      readonly leaf: ProvenLeaf | undefined;
      /** Whether the only reason is that the router is connected already. */
      readonly isOccupied: boolean;
    };

export interface AdmissionQuestion {
  readonly hello: Frame;
  readonly routerId: string;
  readonly certificate: X509Certificate;
  /** When the router's current channel was opened; undefined if it has none. */
  readonly connectedAtMs: number | undefined;
  readonly nowMs: number;
}

/** @throws FrontdoorError `protocol` if the hello's listeners are malformed. */
export function admitRouter(
  question: AdmissionQuestion,
  proveLeaf: ProveLeaf,
  model: OverlayModel,
): RouterAdmission {
  const proof = proveLeaf(question.certificate);
  if ('problem' in proof) return refused(proof.problem, proof.outOfDate);
  const { leaf } = proof;
  if (leaf.role !== 'router') return refused('certificate of no router', leaf);
  if (leaf.id !== question.routerId) return refused('certificate of another router', leaf);
  if (model.identity(leaf.id) === undefined) return refused('the router was deleted', leaf);
  const identity = model.identityByFingerprint(leaf.fingerprint);
  if (identity?.kind !== 'router' || identity.id !== leaf.id) {
    return refused('certificate is no longer known', leaf);
  }
  if (model.edge.routerTraits(leaf.id).isDisabled) return refused('the router is disabled', leaf);
  const hello = decodeRouterHello(question.hello);
  if (hello === undefined) return refused('hello without a version', leaf);
  const { connectedAtMs, nowMs } = question;
  if (connectedAtMs !== undefined && nowMs - connectedAtMs < CHURN_LIMIT_MS) {
    const reason = 'this router is connected already: a second process, or a copy of its key';
    return { isAdmitted: false, reason, leaf, isOccupied: true };
  }
  return { isAdmitted: true, hello };
}

function refused(reason: string, leaf: ProvenLeaf | undefined): RouterAdmission {
  return { isAdmitted: false, reason, leaf, isOccupied: false };
}
