/** The chains that are measured, each with one hop and with three. They end with the run. */
import { OpenZitiMesh } from '../../interop/openziti-mesh.ts';
import { FabricMesh, type MeshRouter } from '../../support/fabric-mesh.ts';
import { freePort, until } from '../../support/child-process.ts';
import type { BenchRun } from '../bench-run.ts';
import type { StartRow } from '../hops.ts';
import { profileArguments } from '../../support/ready-process.ts';
import { chainOf, GO, OURS, type Chain } from './chain.ts';

export const SMALL_PAYLOAD_BYTES = 100;

const LINKED_MS = 30_000;

/** One program alone, and three in a row with TLS between them. */
export async function startRowChains(
  maker: string,
  servicePort: number,
  startRow: StartRow,
): Promise<readonly Chain[]> {
  const chains: Chain[] = [];
  for (const hops of [1, 3] as const) {
    const row = await startRow(hops, servicePort);
    const pids = row.map(({ pid }) => pid);
    chains.push(chainOf(maker, hops, row[0]!.port, pids));
  }
  return chains;
}

/** Routers of either make: one alone with the door of service `one`, and three in a row with the door of service `three`. */
async function meshShapes() {
  const [one, three, middle, last] = [await freePort(), await freePort(), await freePort(), await freePort()];
  const shapes = {
    one: { proxy: { port: one, service: 'one' } },
    last: { linkListener: { port: last, groups: ['last'] } },
    middle: { linkListener: { port: middle, groups: ['middle'] }, dialGroups: ['last'] },
    first: { dialGroups: ['middle'], proxy: { port: three, service: 'three' } },
  };
  return { shapes, doors: { one, three } };
}

/**
 * Our routers at our control plane. `smallPayloads` goes through the middle router of the chain of three, in payloads of
 * `SMALL_PAYLOAD_BYTES`.
 */
export async function startOurRouters(
  run: BenchRun,
  servicePort: number,
): Promise<{ readonly chains: readonly Chain[]; readonly smallPayloads: Chain }> {
  const nodeArgs = profileArguments(run.options.cpuProfileDir);
  const mesh = run.keep(await FabricMesh.start({ nodeArgs, logLevel: 'warn' }));
  try {
    const { shapes, doors } = await meshShapes();
    const one = await mesh.router('one', shapes.one);
    const last = await mesh.router('last', shapes.last);
    const small = await mesh.router('small', {
      linkListener: { port: await freePort(), groups: ['last'] },
      sections: { dialers: [{ binding: 'transport', options: { mtu: SMALL_PAYLOAD_BYTES } }] },
    });
    const middle = await mesh.router('middle', shapes.middle);
    const first = await mesh.router('first', shapes.first);
    const smallPort = await freePort();
    const smallDoor = await mesh.router('small-door', {
      ...shapes.first,
      proxy: { port: smallPort, service: 'small' },
    });
    for (const [service, router] of Object.entries({ one, three: last, small }))
      await mesh.service(service, router.id, `tcp:127.0.0.1:${servicePort}`);
    for (const router of [last, small, first, smallDoor]) await mesh.untilLinked(middle, router);
    const pidsOf = (...routers: MeshRouter[]): number[] => routers.map(({ process }) => process.pid);
    return {
      chains: [
        chainOf(OURS, 1, doors.one, pidsOf(one)),
        chainOf(OURS, 3, doors.three, pidsOf(first, middle, last)),
      ],
      smallPayloads: chainOf(OURS, 3, smallPort, pidsOf(smallDoor, middle, small)),
    };
  } catch (error) {
    process.stderr.write(mesh.output);
    throw error;
  }
}

/** Starts OpenZiti's routers at OpenZiti's controller, in the same shapes as ours. */
export async function startGoRouters(
  run: BenchRun,
  binary: string,
  servicePort: number,
): Promise<readonly Chain[]> {
  const mesh = run.keep(await OpenZitiMesh.start(binary));
  const { shapes, doors } = await meshShapes();
  const pids = new Map<string, number>();
  for (const [name, shape] of Object.entries(shapes))
    pids.set(name, await mesh.routerOf('theirs', name, shape));
  await mesh.service('one', 'one', servicePort);
  await mesh.service('three', 'last', servicePort);
  await until('two links', LINKED_MS, async () => {
    const links = await mesh.links();
    if (links.length < 2) throw new Error(`${links.length} links`);
  });
  const pidsOf = (...names: string[]): number[] => names.map((name) => pids.get(name)!);
  return [
    chainOf(GO, 1, doors.one, pidsOf('one')),
    chainOf(GO, 3, doors.three, pidsOf('first', 'middle', 'last')),
  ];
}
