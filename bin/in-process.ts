/** How the parts of one process reach each other: by channels in memory, and by connections to the control plane. */
import { X509Certificate } from 'node:crypto';
import { OutwardDialer } from '#net';
import type { Channel, ChannelOpener, MemoryPeer } from '#net/channel';

/** By the address that stands for all: one that connections are made to. */
const REACHABLE: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' };

/**
 * Connects to the own edge API without a name server, which may be away when the machine starts, and without a network that leads
 * from behind an address translation back to its public address. `hosts`: names and addresses of the control plane.
 */
export function dialerToItself(hosts: readonly string[], port: number, listenHost: string): OutwardDialer {
  const address = REACHABLE[listenHost] ?? listenHost;
  return new OutwardDialer({
    own: { hosts: new Set(hosts.map((host) => host.toLowerCase())), port, address },
  });
}

type Accept = (peer: MemoryPeer) => Promise<Channel>;

/** Certificates of memory channels are proven here and nowhere else: this process holds their keys. */
export function inProcess(acceptOf: (place: string) => Accept | undefined): ChannelOpener {
  return (place, helloId, helloHeaders, certPem) =>
    acceptOf(place)?.({ helloId, helloHeaders, certificate: new X509Certificate(certPem) });
}
