/** Chains that are not ours: a plain byte relay in Node, haproxy in TCP mode, OpenZiti's routers. */
import { join } from 'node:path';
import { OpenZitiMesh } from '../../interop/openziti-mesh.ts';
import { freePort, until } from '../bench-process.ts';
import { HAPROXY, hasHaproxy } from '../haproxy.ts';
import { haproxyRows, relayRows, type RowHop, type StartRow } from '../hops.ts';
import { chainOf, GO, RELAY, type Chains, type Hops } from './chain.ts';

/** One hop alone, and three in a row with TLS between them. */
async function startChains(maker: string, servicePort: number, startRow: StartRow): Promise<Chains> {
  const single = await startRow(1, servicePort);
  const three = await startRow(3, servicePort);
  const chain = (hops: Hops, row: readonly RowHop[]) =>
    chainOf(
      maker,
      hops,
      row[0]!.port,
      row.map(({ pid }) => pid),
    );
  return {
    chains: [chain(1, single), chain(3, three)],
    stop: async () => void (await Promise.all([...single, ...three].map((hop) => hop.stop()))),
  };
}

export async function startRelays(servicePort: number): Promise<Chains> {
  return startChains(RELAY, servicePort, await relayRows());
}

/** Undefined where it is not installed. */
export async function startHaproxyChains(
  runFolder: string,
  servicePort: number,
): Promise<Chains | undefined> {
  if (!hasHaproxy()) return undefined;
  return startChains(HAPROXY, servicePort, await haproxyRows(join(runFolder, HAPROXY), 'tcp'));
}

/** The same shapes as ours, at OpenZiti's own controller. */
export async function startGoRouters(binary: string, servicePort: number): Promise<Chains> {
  const mesh = await OpenZitiMesh.start(binary);
  try {
    const ports = {
      one: await freePort(),
      door: await freePort(),
      middle: await freePort(),
      last: await freePort(),
    };
    await mesh.goRouter('one', { proxy: { port: ports.one, service: 'one' } });
    await mesh.goRouter('last', { linkListener: { port: ports.last, groups: ['last'] } });
    await mesh.goRouter('middle', {
      linkListener: { port: ports.middle, groups: ['middle'] },
      dialGroups: ['last'],
    });
    await mesh.goRouter('first', {
      dialGroups: ['middle'],
      proxy: { port: ports.door, service: 'three' },
    });
    await mesh.service('one', 'one', servicePort);
    await mesh.service('three', 'last', servicePort);
    await until('two links', 30_000, async () => {
      const links = await mesh.links();
      if (links.length < 2) throw new Error(`${links.length} links`);
    });
    const pidsOf = (...names: string[]): number[] =>
      names.map((name) => mesh.network.processes.get(`ziti ${name}`)!);
    const chains = [
      chainOf(GO, 1, ports.one, pidsOf('one')),
      chainOf(GO, 3, ports.door, pidsOf('first', 'middle', 'last')),
    ];
    return { chains, stop: () => mesh.stop() };
  } catch (error) {
    await mesh.stop();
    throw error;
  }
}
