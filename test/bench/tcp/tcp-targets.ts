/**
 * What a client can put between itself and a service of TCP on another machine, each in front of the same service: a
 * private share, rows of relays, `ssh -L`, tunnels. They end with the run, or with the part of it.
 */
import { once } from 'node:events';
import { connect } from 'node:net';
import { until } from '../../support/child-process.ts';
import type { BenchRun } from '../bench-run.ts';
import { relayRows } from '../hops.ts';
import { startTunnels, type OutsidePeer } from '../outside-peers.ts';
import { openPrivateShare, type TwoAgents } from '../separate-product.ts';
import { SSH, startSsh } from './ssh-peer.ts';

export const OURS = 'Frontdoor';
export const DIRECT = 'direct';
/** What three hops in Node cost at least. */
export const RELAYS = 'three relays';
/** The tunnels that pass TCP on, encrypted. */
const TUNNELS = ['chisel', 'rathole'];
const OPEN_MS = 30_000;

export async function openOurs({ separate, visitor }: TwoAgents, service: number): Promise<OutsidePeer> {
  const target = `tcp://127.0.0.1:${service}`;
  const port = await openPrivateShare(separate.agentSocket, visitor, target, `tcp-${service}`);
  const processes = new Map([
    ['visitor', visitor.part.pid],
    ['router', separate.router.pid],
    ['agent', separate.agent.pid],
  ]);
  return { name: OURS, port, processes };
}

/** All of them; those that are not installed are skipped. */
export async function startTargets(
  run: BenchRun,
  product: TwoAgents,
  service: number,
): Promise<readonly OutsidePeer[]> {
  const row = await (await relayRows(run))(3, service);
  const ssh = await run.attempt(SSH, () => startSsh(run, service));
  return [
    { name: DIRECT, port: service, processes: new Map() },
    {
      name: RELAYS,
      port: row[0]!.port,
      processes: new Map(row.map(({ pid }, place) => [`relay ${place + 1}`, pid])),
    },
    ...(ssh === undefined ? [] : [ssh]),
    ...(await startTunnels(run, TUNNELS, service, untilOpen)),
    await openOurs(product, service),
  ];
}

/** The server of a tunnel listens for clients once the tunnel stands. */
function untilOpen(port: number): Promise<void> {
  return until(`a listener at port ${port}`, OPEN_MS, async () => {
    const socket = connect({ port, host: '127.0.0.1' });
    await once(socket, 'connect');
    socket.destroy();
  });
}
