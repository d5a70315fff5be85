/** Counts the channels, and their connections, of each identity at a listener. */
import type { PeerLimits } from './channel-kind-table.ts';

interface Counts {
  channels: number;
  connections: number;
}

export class PeerCounts {
  readonly #limits: PeerLimits;
  readonly #counts = new Map<string, Counts>();

  constructor(limits: PeerLimits) {
    this.#limits = limits;
  }

  /** Returns why an identity may have no more channels, or undefined if it may. */
  channelFault(identity: string): string | undefined {
    const { maxChannels } = this.#limits;
    const isFull = (this.#counts.get(identity)?.channels ?? 0) >= maxChannels;
    if (isFull) return `the identity has ${maxChannels} channels here, which is the limit`;
    return this.connectionFault(identity);
  }

  connectionFault(identity: string): string | undefined {
    const { maxConnections } = this.#limits;
    const isFull = (this.#counts.get(identity)?.connections ?? 0) >= maxConnections;
    return isFull ? `the identity has ${maxConnections} connections here, which is the limit` : undefined;
  }

  channelOpened(identity: string): void {
    this.#of(identity).channels += 1;
  }

  channelClosed(identity: string): void {
    this.#of(identity).channels -= 1;
    this.#forget(identity);
  }

  connectionOpened(identity: string): void {
    this.#of(identity).connections += 1;
  }

  connectionClosed(identity: string): void {
    this.#of(identity).connections -= 1;
    this.#forget(identity);
  }

  #of(identity: string): Counts {
    let counts = this.#counts.get(identity);
    if (counts === undefined) {
      counts = { channels: 0, connections: 0 };
      this.#counts.set(identity, counts);
    }
    return counts;
  }

  #forget(identity: string): void {
    const { channels, connections } = this.#of(identity);
    if (channels === 0 && connections === 0) this.#counts.delete(identity);
  }
}
