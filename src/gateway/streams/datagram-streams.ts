/** The flows of datagrams of all shares in this process. */
import { ShortLivedSet } from '#base';
import type { GatewayRoute } from '../circuits/upstream.ts';
import type { DatagramStream } from './datagram-stream.ts';

export class DatagramStreams {
  readonly #onClosed: () => void;
  readonly #all = new ShortLivedSet<DatagramStream>();
  /** By share id. */
  readonly #counts = new Map<string, number>();

  /** `onClosed` is called after each end of a flow. */
  constructor(onClosed: () => void) {
    this.#onClosed = onClosed;
  }

  get size(): number {
    return this.#all.size;
  }

  /** Returns how many flows the share had before. */
  add(stream: DatagramStream): number {
    const { id } = stream.route.share;
    const before = this.#counts.get(id) ?? 0;
    this.#counts.set(id, before + 1);
    this.#all.add(stream);
    return before;
  }

  delete(stream: DatagramStream): void {
    if (!this.#all.delete(stream)) return;
    const { id } = stream.route.share;
    const left = this.#counts.get(id)! - 1;
    if (left > 0) this.#counts.set(id, left);
    else this.#counts.delete(id);
    this.#onClosed();
  }

  sweep(): void {
    for (const stream of this.#all) stream.sweep();
  }

  /** Ends the flows of a share that was withdrawn. */
  retire(route: GatewayRoute): void {
    if (!route.revoked || route.share.ingress?.kind !== 'udp-port') return;
    const { id } = route.share;
    for (const stream of this.#all) if (stream.route.share.id === id) stream.revoke();
  }

  destroy(): void {
    for (const stream of this.#all) stream.destroy();
  }
}
