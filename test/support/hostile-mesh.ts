/**
 * Two routers of Frontdoor in this process, linked, at the control plane of a world, with circuits between the two that
 * nobody may touch; and a third, hostile one, with a link to the first.
 */
import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { JsonClient } from '#net/http';
import { enrollRouterIdentity, loadRouterConfig, type Router } from '#router';
import { freePort } from './free-port.ts';
import { startRouter } from '../../bin/router-part.ts';
import { makeTestAuthority, type TestAuthority } from './certificates.ts';
import { until } from './deadline.ts';
import { startEcho } from './echo-service.ts';
import { enrollHostileRouter, HostileRouter } from './hostile-router.ts';
import { routerFile, type RouterShape } from './mesh-router-file.ts';
import { startSteadyCircuits, type SteadyCircuits } from './steady-circuits.ts';
import { recordingLog, withoutDebug, type LogRecord } from './recording-log.ts';
import { openWorld, type World } from './world.ts';

const CIRCUITS = 4;

export interface HostileMesh {
  readonly world: World;
  /** With listeners for links and for controllers, whose hellos have to come within `helloTimeoutMs`. */
  readonly target: Router;
  readonly ports: {
    readonly link: number;
    readonly routerCtrl: number;
    /** Each connection is a circuit to the hostile router. */
    readonly trap: number;
    /** Each connection is a circuit to an echo service behind our other router. */
    readonly echo: number;
  };
  readonly hostile: HostileRouter;
  /** From the target to the other router of Frontdoor. */
  readonly circuits: SteadyCircuits;
  /** The authority that the target trusts, which issues certificates of controllers. */
  readonly authority: TestAuthority;
  /** Log lines of the target. */
  readonly records: LogRecord[];
  /** Log lines from now on. */
  recordsFromNow(): () => LogRecord[];
  /** Ids of the circuits that no hostile router has a part in. */
  foreignCircuitIds(): Promise<string[]>;
  /** Ids of the links between the two routers of Frontdoor. */
  foreignLinkIds(): Promise<string[]>;
  close(): Promise<void>;
}

export async function openHostileMesh({
  helloTimeoutMs,
}: {
  readonly helloTimeoutMs: number;
}): Promise<HostileMesh> {
  const world = await openWorld();
  const closers: (() => Promise<void> | void)[] = [() => world.close()];
  const close = async (): Promise<void> => {
    for (const closer of closers.splice(0).reverse()) await closer();
  };
  try {
    return { ...(await furnish(world, helloTimeoutMs, closers)), close };
  } catch (error) {
    await close().catch(() => {});
    throw error;
  }
}

async function furnish(
  world: World,
  helloTimeoutMs: number,
  closers: (() => Promise<void> | void)[],
): Promise<Omit<HostileMesh, 'close'>> {
  const { control } = world.up;
  const controllerPort = Number(control.ctrlAddress.split(':').at(-1));
  const authority = await makeTestAuthority('controllers that a test makes');
  const [link, routerCtrl, trap, echo, farLink] = (await Promise.all(
    Array.from({ length: 5 }, () => freePort()),
  )) as [number, number, number, number, number];
  const client = new JsonClient({ origin: control.apiUrl });
  closers.push(() => client.close());
  const { accountId, apiToken } = world.credentials;
  const call = async (method: 'GET' | 'POST', path: string, body?: object): Promise<unknown> => {
    const headers = { authorization: `Basic ${accountId}:${apiToken}` };
    const answer = await client.request({ method, path, headers, body });
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status}`);
    return answer.json;
  };
  const list = async (kind: string): Promise<Readonly<Record<string, unknown>>[]> =>
    ((await call('GET', `/fabric/${kind}?size=100`)) as { content: Record<string, unknown>[] }).content;
  const service = async (name: string, routerId: string, address: string): Promise<void> => {
    const made = (await call('POST', '/fabric/services', { name })) as { id: string };
    await call('POST', '/fabric/terminators', { serviceId: made.id, routerId, address });
  };

  const records: LogRecord[] = [];
  const start = async (
    name: string,
    shape: Omit<RouterShape, 'controllerPort'>,
    log: LogRecord[],
  ): Promise<Router> => {
    const folder = join(world.dataDir, name);
    mkdirSync(folder);
    const file = join(folder, 'router.yml');
    writeFileSync(file, routerFile(folder, { ...shape, controllerPort }));
    const { token } = await control.createFabricNode('router', name);
    await enrollRouterIdentity({
      config: loadRouterConfig(file),
      jwt: token,
      force: false,
      log: recordingLog(withoutDebug(log)),
    });
    appendFileSync(join(folder, 'ca.pem'), authority.ca);
    const router = await startRouter(file, '', recordingLog(withoutDebug(log)));
    closers.push(() => router.close());
    return router;
  };
  const far = await start('far', { linkListener: { port: farLink, groups: ['far'] } }, []);
  const ports = { link, routerCtrl, trap, echo };
  const target = await start('target', targetShape(ports, controllerPort, helloTimeoutMs), records);
  const isBetween = (row: Readonly<Record<string, unknown>>): boolean =>
    row['usable'] === true && row['sourceRouterId'] === target.id && row['destinationRouterId'] === far.id;
  await until(
    'a link between our routers',
    () => list('links'),
    (rows) => rows.some(isBetween),
    30_000,
  );

  const server = await startEcho();
  closers.push(() => void server.close());
  await service('echo', far.id, `tcp:127.0.0.1:${(server.address() as AddressInfo).port}`);
  const circuits = await startSteadyCircuits(echo, CIRCUITS);
  closers.push(() => circuits.stop());
  const { token } = await control.createFabricNode('router', 'hostile');
  const hostile = await HostileRouter.connect(await enrollHostileRouter(token), controllerPort);
  closers.push(() => hostile.close());
  await service('trap', hostile.identity.id, 'tcp:127.0.0.1:1');

  return {
    world,
    target,
    ports,
    hostile,
    circuits,
    authority,
    records,
    recordsFromNow: () => {
      const from = records.length;
      return () => records.slice(from);
    },
    foreignCircuitIds: async () =>
      (await list('circuits'))
        .filter(({ serviceName }) => serviceName === 'echo')
        .map(({ id }) => String(id)),
    foreignLinkIds: async () => (await list('links')).filter(isBetween).map(({ id }) => String(id)),
  };
}

function targetShape(
  ports: HostileMesh['ports'],
  controllerPort: number,
  helloTimeoutMs: number,
): Omit<RouterShape, 'controllerPort'> {
  const options = { connectTimeout: `${helloTimeoutMs}ms` };
  const at = (port: number): string => `tls:127.0.0.1:${port}`;
  return {
    sections: {
      ctrl: {
        endpoint: `tls:localhost:${controllerPort}`,
        listeners: [{ bind: at(ports.routerCtrl), options }],
      },
      link: {
        listeners: [
          { binding: 'transport', bind: at(ports.link), advertise: `tls:localhost:${ports.link}`, options },
        ],
        dialers: [{ binding: 'transport', groups: ['far'] }],
      },
      listeners: [
        { binding: 'proxy', address: `tcp:127.0.0.1:${ports.echo}`, service: 'echo' },
        { binding: 'proxy', address: `tcp:127.0.0.1:${ports.trap}`, service: 'trap' },
      ],
    },
  };
}
