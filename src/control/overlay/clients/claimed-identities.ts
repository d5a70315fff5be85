/**
 * Identities that the certificate of another party names by an external id. Administrators added and verified its authority,
 * and gave it a claim (`externalIdClaim`) that selects the id. The certificate itself is not stored.
 */
import { X509Certificate } from 'node:crypto';
import { messageOf } from '#base';
import { issuersOf } from '#net';
import type { EdgeEntityRecord } from '../model/edge-entity.ts';
import type { Identity, OverlayModel } from '../model/overlay-model.ts';
import {
  externalIdOf,
  isForClients,
  nearestIssuer,
  pathAbove,
  type CertificateClaim,
} from '../../pki/mod.ts';
import type { ExternalIds } from './external-ids.ts';

export type ClaimedIdentity =
  | { readonly identity: Identity; readonly authorityId: string }
  | { readonly problem: string };

interface Remembered {
  /** The number of changes of entities before it. */
  readonly generation: number;
  /** Authorities of the path may expire. */
  readonly untilMs: number;
  readonly claimed: ClaimedIdentity | undefined;
}

/** Expired authorities are noticed within this time. */
const REMEMBERED_MS = 60_000;

export class ClaimedIdentities {
  readonly #model: OverlayModel;
  readonly #externalIds: ExternalIds;
  #generation = 0;
  /** By leaf, of which each connection has its own. */
  readonly #remembered = new WeakMap<X509Certificate, Remembered>();

  constructor(model: OverlayModel, externalIds: ExternalIds) {
    this.#model = model;
    this.#externalIds = externalIds;
    model.onChange((change) => {
      if (change.type === 'edge') this.#generation += 1;
    });
  }

  /** Returns undefined if no authority with a claim issued the leaf, or it lacks the claim. The leaf's dates are not judged. */
  of(leaf: X509Certificate, nowMs: number): ClaimedIdentity | undefined {
    const known = this.#remembered.get(leaf);
    if (known?.generation === this.#generation && nowMs < known.untilMs) return known.claimed;
    const claimed = this.#read(leaf, nowMs);
    const untilMs = nowMs + REMEMBERED_MS;
    this.#remembered.set(leaf, { generation: this.#generation, untilMs, claimed });
    return claimed;
  }

  /** Anybody may present a certificate, in any form that TLS accepts. */
  #read(leaf: X509Certificate, nowMs: number): ClaimedIdentity | undefined {
    try {
      return this.#find(leaf, nowMs);
    } catch (error) {
      return { problem: `the certificate cannot be read: ${messageOf(error)}` };
    }
  }

  #find(leaf: X509Certificate, nowMs: number): ClaimedIdentity | undefined {
    const active = [...this.#model.edge.all('ca')].filter(({ data }) => logsIn(data));
    if (!active.some(({ data }) => claimOf(data) !== undefined) || !isForClients(leaf)) return undefined;
    const authorities = active.map(({ id, data }) => ({
      id,
      claim: claimOf(data),
      certificate: new X509Certificate(String(data['certPem'])),
    }));
    const path = pathAbove(leaf, issuersOf(leaf), nowMs);
    const authority = nearestIssuer(path, authorities, nowMs);
    if (authority?.claim === undefined) return undefined;
    const externalId = externalIdOf(leaf, authority.claim);
    if (externalId === undefined) return undefined;
    const identity = this.#externalIds.identityOf(externalId);
    return identity?.kind === 'edge'
      ? { identity, authorityId: authority.id }
      : { problem: 'no identity, or several, have the external id of the certificate' };
  }
}

/** Returns how an authority names identities in certificates; undefined if it does not. */
export function claimOf(data: EdgeEntityRecord['data']): CertificateClaim | undefined {
  const { externalIdClaim } = data;
  return typeof externalIdClaim === 'object' && externalIdClaim !== null
    ? (externalIdClaim as CertificateClaim)
    : undefined;
}

function logsIn({ isVerified, isAuthEnabled }: EdgeEntityRecord['data']): boolean {
  return isVerified === true && isAuthEnabled === true;
}
