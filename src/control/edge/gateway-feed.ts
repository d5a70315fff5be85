/**
 * The public shares as a versioned stream for gateways: changes of one tick make one delta, the last deltas are kept
 * so that a gateway that was away briefly resumes. Knows the model and lines of text, not sockets.
 */
import type { GatewayFeedEvent, GatewayShare } from '#domain';
import type { OverlayModel, Service } from '../model/overlay-model.ts';

const MAX_KEPT_DELTAS = 1_024;
const MAX_KEPT_CHANGES = 50_000;

interface Delta {
  readonly version: number;
  readonly set: readonly GatewayShare[];
  readonly removed: readonly string[];
}

export type FeedListener = (line: string) => void;

export class GatewayFeed {
  readonly #model: OverlayModel;
  readonly #epoch: string;
  readonly #listeners = new Set<FeedListener>();
  /** What gateways were told of. */
  readonly #published = new Set<string>();
  readonly #dirty = new Set<string>();
  #deltas: Delta[] = [];
  #keptChanges = 0;
  #version = 1;
  #planned = false;

  /** `epoch` names this run: versions of another run mean nothing. */
  constructor(model: OverlayModel, epoch: string) {
    this.#model = model;
    this.#epoch = epoch;
    for (const service of model.services())
      if (service.shareMode === 'public') this.#published.add(service.id);
    model.onChange((change) => {
      if (change.type !== 'service') return;
      this.#dirty.add(change.id);
      if (this.#planned) return;
      this.#planned = true;
      setImmediate(() => this.flush());
    });
  }

  /** The lines to begin with: the deltas since that version if they are all known, else a snapshot. */
  opening(since: { readonly version: number; readonly epoch: string } | undefined): string[] {
    this.flush();
    if (since?.epoch === this.#epoch && since.version <= this.#version) {
      const missed = this.#deltas.filter((delta) => delta.version > since.version);
      if (missed.length === this.#version - since.version) {
        return missed.map((delta) => line({ type: 'delta', ...delta }));
      }
    }
    const shares: GatewayShare[] = [];
    for (const service of this.#model.services()) {
      if (service.shareMode === 'public') shares.push(gatewayShare(service));
    }
    return [line({ type: 'snapshot', version: this.#version, epoch: this.#epoch, shares })];
  }

  listen(listener: FeedListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  heartbeat(): void {
    this.#tell(line({ type: 'heartbeat' }));
  }

  /** Tells what has changed. */
  flush(): void {
    this.#planned = false;
    if (this.#dirty.size === 0) return;
    const set: GatewayShare[] = [];
    const removed: string[] = [];
    for (const id of this.#dirty) {
      const service = this.#model.service(id);
      if (service?.shareMode === 'public') {
        set.push(gatewayShare(service));
        this.#published.add(id);
      } else if (this.#published.delete(id)) {
        removed.push(id);
      }
    }
    this.#dirty.clear();
    if (set.length === 0 && removed.length === 0) return;
    this.#version += 1;
    const delta = { version: this.#version, set, removed };
    this.#keep(delta);
    this.#tell(line({ type: 'delta', ...delta }));
  }

  #keep(delta: Delta): void {
    this.#deltas.push(delta);
    this.#keptChanges += delta.set.length + delta.removed.length;
    while (this.#deltas.length > MAX_KEPT_DELTAS || this.#keptChanges > MAX_KEPT_CHANGES) {
      const oldest = this.#deltas.shift();
      if (oldest === undefined) return;
      this.#keptChanges -= oldest.set.length + oldest.removed.length;
    }
  }

  #tell(text: string): void {
    for (const listener of this.#listeners) listener(text);
  }
}

function line(event: GatewayFeedEvent): string {
  return `${JSON.stringify(event)}\n`;
}

function gatewayShare(service: Service): GatewayShare {
  const { id, hosts, authProviderIds, frontdoorId, environmentId, updatedAtMs } = service;
  return { id, token: service.name, hosts, authProviderIds, frontdoorId, environmentId, updatedAtMs };
}
