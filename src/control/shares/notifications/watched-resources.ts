/** The shares, agents and routers that are watched for problems, their present state, and their description in a message. */
import type { FabricView } from '../../overlay/mod.ts';
import type { OverlayModel, StatusBoard } from '../../overlay/model/mod.ts';
import type { ShareCatalog } from '../catalog/share-catalog.ts';
import type { ProblemKind } from './problem-store.ts';

export interface WatchedParts {
  readonly model: Pick<OverlayModel, 'identity' | 'identities' | 'hostedBy'>;
  readonly catalog: Pick<ShareCatalog, 'get' | 'all'>;
  readonly status: StatusBoard;
  readonly fabric: Pick<FabricView, 'routers'>;
  /** Routers that another control plane may be connected to. */
  readonly edgeRouters: () => readonly { readonly id: string }[];
}

/** `gone`: deleted. `unknown`: nothing is known of it, because its agent is away. */
export type ResourceState = 'good' | 'bad' | 'unknown' | 'gone';

/** A resource in a message. */
export type NamedResource =
  | {
      readonly kind: 'share';
      /** The token. */
      readonly id: string;
      readonly frontdoorId: string;
      readonly target: string;
      /** Why it fails; null if it is healthy. */
      readonly reason: string | null;
    }
  | {
      readonly kind: 'agent';
      readonly id: string;
      readonly name: string;
      readonly frontdoorId: string | null;
      /** The number of shares that it hosts. */
      readonly shares: number;
    }
  | { readonly kind: 'router'; readonly id: string; readonly name: string };

export class WatchedResources {
  readonly #parts: WatchedParts;

  constructor(parts: WatchedParts) {
    this.#parts = parts;
  }

  *all(): Generator<readonly [ProblemKind, string]> {
    for (const { id, kind } of this.#parts.model.identities()) {
      if (kind === 'environment') yield ['agent', id];
      else if (kind === 'router') yield ['router', id];
    }
    for (const { id } of this.#parts.catalog.all()) yield ['share', id];
  }

  /** Ids of the routers that a control plane is connected to. */
  onlineRouters(): ReadonlySet<string> {
    const { fabric, edgeRouters } = this.#parts;
    const here = fabric.routers().filter(({ isOnline }) => isOnline);
    return new Set([...here, ...edgeRouters()].map(({ id }) => id));
  }

  stateOf(kind: ProblemKind, id: string, onlineRouters: ReadonlySet<string>): ResourceState {
    const { model, catalog, status } = this.#parts;
    if (kind === 'share') {
      const share = catalog.get(id);
      if (share === undefined) return 'gone';
      if (!status.isConnected(share.environmentId)) return 'unknown';
      return status.service(id).state === 'FAILED' ? 'bad' : 'good';
    }
    if (model.identity(id) === undefined) return 'gone';
    const isOnline = kind === 'router' ? onlineRouters.has(id) : status.isConnected(id);
    return isOnline ? 'good' : 'bad';
  }

  /** The frontdoor of a resource; null for those of the installation. */
  frontdoorOf(kind: ProblemKind, id: string): string | null {
    if (kind === 'share') return this.#parts.catalog.get(id)?.frontdoorId ?? null;
    return this.#parts.model.identity(id)?.ownerId ?? null;
  }

  /** Returns undefined for a resource that was deleted in the meantime. */
  named(kind: ProblemKind, id: string): NamedResource | undefined {
    const { model, catalog, status } = this.#parts;
    if (kind === 'share') {
      const share = catalog.get(id);
      if (share === undefined) return undefined;
      const reason = status.service(id).failure?.lastError ?? null;
      const { token, frontdoorId, target } = share;
      return { kind, id: token, frontdoorId, target, reason };
    }
    const identity = model.identity(id);
    if (identity === undefined) return undefined;
    const { name, ownerId: frontdoorId } = identity;
    return kind === 'router'
      ? { kind, id, name }
      : { kind, id, name, frontdoorId, shares: model.hostedBy(id).size };
  }
}
