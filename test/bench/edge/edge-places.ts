/**
 * Where programs on OpenZiti's Go SDK meet: OpenZiti's router and ours at one controller of OpenZiti, and our router at our
 * control plane. At each of them one program hosts a service, and another one dials it.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { GoPeer } from '../../compat/openziti/go-peer.ts';
import { enrollGo } from '../../compat/openziti/tunneler.ts';
import { OpenZitiMesh } from '../../interop/openziti-mesh.ts';
import { freePort } from '../../support/free-port.ts';
import { zitiBinary } from '../../support/ziti-command.ts';
import type { BenchRun, Target } from '../bench-run.ts';
import { startParts } from '../separate-product.ts';

export const GO = 'OpenZiti';
export const OUR_ROUTER = 'our router';
export const FRONTDOOR = 'Frontdoor';

/** A service of our control plane has at most 128 terminators. */
export const TERMINATORS_PER_SERVICE = 100;
/** Commands of `ziti` at once. */
const COMMANDS = 4;

export interface EdgePlace extends Target {
  /** Identity files of the programs. */
  readonly host: string;
  readonly dialer: string;
  /** It has one terminator. */
  readonly service: string;
  /** They have no host at first. */
  readonly crowded: readonly string[];
}

/** Places with as many services for `terminators` as those need. All of them end with the run. */
export async function startPlaces(run: BenchRun, peer: GoPeer, terminators: number): Promise<EdgePlace[]> {
  const crowd = Array.from({ length: terminators / TERMINATORS_PER_SERVICE }, (_, at) => `crowd-${at}`);
  run.report('starting both routers at one controller of OpenZiti');
  const binary = zitiBinary()!;
  const mesh = run.keep(await OpenZitiMesh.start(binary));
  await mesh.network.allowServicesAllRouters();
  const places = [
    await startRouter(mesh, 'theirs', GO, crowd),
    await startRouter(mesh, 'ours', OUR_ROUTER, crowd),
  ];
  run.report('starting our router at our control plane');
  places.push(await startOurs(run, binary, crowd));
  for (const { host, service } of places) {
    const hosting = await peer.serve(host, [service], 1);
    run.defer(() => hosting.kill());
  }
  return places;
}

async function startRouter(
  mesh: OpenZitiMesh,
  router: 'ours' | 'theirs',
  name: string,
  crowd: readonly string[],
): Promise<EdgePlace> {
  const { network, folder } = mesh;
  const pid = await mesh.routerOf(router, router, { edgePort: await freePort() });
  const service = `${router}-single`;
  const crowded = crowd.map((one) => `${router}-${one}`);
  const names = [service, ...crowded].values();
  const create = async (): Promise<void> => {
    for (const one of names)
      await network.run(`edge create service ${one} --role-attributes ${router} --encryption ON`);
  };
  await Promise.all(Array.from({ length: COMMANDS }, create));
  await network.enroll(`${router}-host`, 'Bind', `#${router}`, router);
  await network.enroll(`${router}-dialer`, 'Dial', `#${router}`, router);
  return {
    name,
    processes: new Map([
      ['router', pid],
      ['controller', network.processes.get('ziti controller')!],
    ]),
    host: join(folder, `${router}-host.json`),
    dialer: join(folder, `${router}-dialer.json`),
    service,
    crowded,
  };
}

async function startOurs(run: BenchRun, binary: string, crowded: readonly string[]): Promise<EdgePlace> {
  const parts = await startParts(run, 'frontdoor');
  const folder = join(parts.folder, 'go');
  mkdirSync(folder);
  const host = await enrollGo(parts, { binary, folder, name: 'host' }, '--keyAlg', 'EC');
  const dialer = await enrollGo(parts, { binary, folder, name: 'dialer' }, '--keyAlg', 'EC');
  const service = 'single';
  for (const name of [service, ...crowded]) {
    const { status, text } = await parts.call('POST', '/shares', {
      environmentId: host.environmentId,
      name,
      backendMode: 'proxy',
      target: 'http://127.0.0.1:1',
      shareMode: 'private',
      grants: [dialer.environmentId],
    });
    if (status !== 201) throw new Error(`the share ${name} was answered ${status}: ${text}`);
  }
  return {
    name: FRONTDOOR,
    processes: new Map([
      ['router', parts.router.pid],
      ['controller', parts.control.pid],
    ]),
    host: host.file,
    dialer: dialer.file,
    service,
    crowded,
  };
}
