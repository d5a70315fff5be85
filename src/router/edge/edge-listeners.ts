/** The edge listeners of a router, each with its address, and the peers of all of them. */
import type { Channel } from '#net/channel';
import type { EdgeListenerConfig } from '../config/router-config.ts';
import type { KnownApiSession } from '../ctrl/api-session-registry.ts';
import type { OpenConnection } from '../ctrl/connect-events.ts';
import type { AdvertisedEdge } from '../ctrl/edge-hello.ts';
import type { EdgeListener } from './edge-listener.ts';
import type { EdgePeer } from './edge-peer.ts';

interface Entry {
  readonly config: EdgeListenerConfig;
  readonly listener: EdgeListener;
}

export class EdgeListeners {
  readonly #entries: Entry[] = [];

  add(config: EdgeListenerConfig, listener: EdgeListener): void {
    this.#entries.push({ config, listener });
  }

  /** The first in the file; undefined if there is none. */
  get first(): EdgeListener | undefined {
    return this.#entries[0]?.listener;
  }

  *peers(): IterableIterator<EdgePeer> {
    for (const { listener } of this.#entries) yield* listener.peers();
  }

  peerOf(channel: Channel): EdgePeer | undefined {
    for (const { listener } of this.#entries) {
      const peer = listener.peerOf(channel);
      if (peer !== undefined) return peer;
    }
    return undefined;
  }

  *connections(): IterableIterator<OpenConnection> {
    for (const { config, listener } of this.#entries) {
      const dstAddr = `${config.address.host}:${listener.port}`;
      for (const { channel, session } of listener.peers())
        yield { identityId: session.identityId, id: channel.id, srcAddr: channel.peer.address, dstAddr };
    }
  }

  /** Closes the channels of a session that has ended. */
  closeSession(session: KnownApiSession): void {
    for (const { listener } of this.#entries) listener.closeSession(session);
  }

  /** The addresses for SDKs, in the order of the file. */
  advertised(): AdvertisedEdge[] {
    return this.#entries.map(({ config, listener: { port } }) => ({
      protocol: config.address.type,
      host: config.advertise.host,
      port: config.advertise.port || port,
      bind: { host: config.address.host, port },
    }));
  }

  async close(): Promise<void> {
    await Promise.all(this.#entries.map(({ listener }) => listener.close()));
  }
}
