/** Our routers at our control plane: one alone, three in a row, and three whose last sends payloads of 100 bytes. */
import { FabricMesh, type MeshRouter } from '../../support/fabric-mesh.ts';
import { profileArguments } from '../ready-process.ts';
import { chainOf, OURS, type Chain, type Chains } from './chain.ts';

export const SMALL_PAYLOAD_BYTES = 100;

export interface OurChains extends Chains {
  /** Through the middle router of the chain of three; each payload has `SMALL_PAYLOAD_BYTES`. */
  readonly smallPayloads: Chain;
}

export async function startOurRouters(
  servicePort: number,
  cpuProfileDir: string | undefined,
): Promise<OurChains> {
  const mesh = await FabricMesh.start({ nodeArgs: profileArguments(cpuProfileDir), logLevel: 'warn' });
  try {
    const port = async (): Promise<number> => FabricMesh.freePort();
    const ports = { one: await port(), door: await port(), small: await port() };
    const one = await mesh.router('one', { proxy: { port: ports.one, service: 'one' } });
    const last = await mesh.router('last', { linkListener: { port: await port(), groups: ['last'] } });
    const small = await mesh.router('small', {
      linkListener: { port: await port(), groups: ['last'] },
      sections: { dialers: [{ binding: 'transport', options: { mtu: SMALL_PAYLOAD_BYTES } }] },
    });
    const middle = await mesh.router('middle', {
      linkListener: { port: await port(), groups: ['middle'] },
      dialGroups: ['last'],
    });
    const first = await mesh.router('first', {
      dialGroups: ['middle'],
      proxy: { port: ports.door, service: 'three' },
    });
    const smallDoor = await mesh.router('small-door', {
      dialGroups: ['middle'],
      proxy: { port: ports.small, service: 'small' },
    });
    const address = `tcp:127.0.0.1:${servicePort}`;
    await mesh.service('one', one.id, address);
    await mesh.service('three', last.id, address);
    await mesh.service('small', small.id, address);
    for (const [a, b] of [
      [middle, last],
      [middle, small],
      [first, middle],
      [smallDoor, middle],
    ] as const)
      await mesh.untilLinked(a, b);
    const pidsOf = (...routers: MeshRouter[]): number[] => routers.map(({ process }) => process.pid);
    return {
      chains: [
        chainOf(OURS, 1, ports.one, pidsOf(one)),
        chainOf(OURS, 3, ports.door, pidsOf(first, middle, last)),
      ],
      smallPayloads: chainOf(OURS, 3, ports.small, pidsOf(smallDoor, middle, small)),
      stop: () => mesh.stop(),
    };
  } catch (error) {
    process.stderr.write(mesh.output);
    await mesh.stop().catch(() => {});
    throw error;
  }
}
