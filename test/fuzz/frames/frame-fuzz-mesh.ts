/**
 * What frames are fuzzed against: a control plane and two routers as processes of their own, circuits between the two
 * that must not notice, and peers with real certificates that send what they like.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import type { AddressInfo, Server } from 'node:net';
import { join } from 'node:path';
import { silentLog } from '#base';
import { AgentApiClient, EdgeApiClient, enrollIdentity, fetchBootstrapToken } from '#sdk';
import { residentBytes } from '../../support/child-process.ts';
import { makeTestAuthority, type TestAuthority } from '../../support/certificates.ts';
import { startEcho } from '../../support/echo-service.ts';
import { FabricMesh, type MeshRouter } from '../../support/fabric-mesh.ts';
import { enrollHostileRouter, HostileRouter, type HostileIdentity } from '../../support/hostile-router.ts';
import { portOf, type ControlReady } from '../../support/separate.ts';
import { startSteadyCircuits, type SteadyCircuits } from '../../support/steady-circuits.ts';
import type { WireCredentials } from '../../support/wire-peer.ts';

const CIRCUITS = 10;
/** Hellos that never end cost a whole deadline each, so the router's is short; so is its patience with slow readers. */
const HELLO_TIMEOUT = '1s';
const WRITE_TIMEOUT = '3s';

/** An SDK's identity with a share of its own, which it may dial and host. */
export interface HostileEdge {
  readonly id: string;
  readonly credentials: WireCredentials;
  readonly sessionToken: string;
  readonly dialToken: string;
  readonly bindToken: string;
}

export interface FrameFuzzPorts {
  readonly link: number;
  readonly edge: number;
  /** Where controllers dial the router. */
  readonly routerCtrl: number;
  /** Where routers dial the control plane. */
  readonly controlPlane: number;
  /** Each connection there is a circuit that ends at the hostile router. */
  readonly trap: number;
}

export interface FrameFuzzMesh {
  readonly target: MeshRouter;
  readonly ports: FrameFuzzPorts;
  readonly circuits: SteadyCircuits;
  readonly hostile: HostileRouter;
  /** Routers without a control channel, for that of the control plane. */
  readonly idleRouters: readonly HostileIdentity[];
  readonly edge: HostileEdge;
  /** The router believes it, too: it makes controllers. */
  readonly authority: TestAuthority;
  /** Resident bytes of the attacked processes, which collect their garbage every few seconds. */
  memory(): { readonly router: number; readonly control: number };
  /** Undefined: the processes are those that were started, and logged no failure of Frontdoor. */
  harm(): string | undefined;
  stop(): Promise<void>;
}

export async function startFrameFuzzMesh(idleRouterCount: number): Promise<FrameFuzzMesh> {
  const nodeArgs = ['--import', join(import.meta.dirname, '../../support/frequent-collection.ts')];
  const mesh = await FabricMesh.start({ logLevel: 'error', nodeArgs });
  const echo = await startEcho();
  const closers: (() => Promise<void> | void)[] = [() => mesh.stop(), () => void echo.close()];
  const stop = async (): Promise<void> => {
    for (const close of closers.splice(0).reverse()) await close();
  };
  try {
    return { ...(await furnish(mesh, echo, idleRouterCount, closers)), stop };
  } catch (error) {
    process.stderr.write(mesh.output);
    await stop().catch(() => {});
    throw error;
  }
}

async function furnish(
  mesh: FabricMesh,
  echo: Server,
  idleRouterCount: number,
  closers: (() => Promise<void> | void)[],
): Promise<Omit<FrameFuzzMesh, 'stop'>> {
  const authority = await makeTestAuthority('controllers that a test makes');
  const [link, edge, routerCtrl, trap, steady, farLink] = await Promise.all(
    Array.from({ length: 6 }, () => FabricMesh.freePort()),
  );
  const controlPlane = Number(portOf(mesh.control.ready.ctrlAddress));
  const ports: FrameFuzzPorts = {
    link: link!,
    edge: edge!,
    routerCtrl: routerCtrl!,
    controlPlane,
    trap: trap!,
  };
  const far = await mesh.router('far', { linkListener: { port: farLink!, groups: ['far'] } });
  const target = await mesh.prepare('target', { sections: targetSections(ports, steady!) });
  const anchors = join(mesh.folder, 'target', 'ca.pem');
  writeFileSync(anchors, readFileSync(anchors, 'utf8') + authority.ca);
  await target.process.start();
  await mesh.untilOnline('target');
  await mesh.untilLinked(target, far);
  await mesh.service('steady', far.id, `tcp:127.0.0.1:${(echo.address() as AddressInfo).port}`);

  const enroll = async (name: string): Promise<HostileIdentity> => {
    const jwt = join(mesh.folder, `${name}.jwt`);
    await mesh.run('fabric', 'router', 'create', name, '--out', jwt);
    return enrollHostileRouter(readFileSync(jwt, 'utf8'));
  };
  const hostile = await HostileRouter.connect(await enroll('hostile'), controlPlane);
  closers.push(() => hostile.close());
  await mesh.service('trap', hostile.identity.id, 'tcp:127.0.0.1:1');
  const idleRouters: HostileIdentity[] = [];
  for (let at = 0; at < idleRouterCount; at += 1) idleRouters.push(await enroll(`idle-${at}`));
  const hostileEdge = await enrollEdge(mesh, closers);
  const circuits = await startSteadyCircuits(steady!, CIRCUITS);
  closers.push(() => circuits.stop());

  const attacked = [target.process, mesh.control] as const;
  const pids = attacked.map(({ pid }) => pid);
  return {
    target,
    ports,
    circuits,
    hostile,
    idleRouters,
    edge: hostileEdge,
    authority,
    memory: () => ({ router: residentBytes(pids[0]!), control: residentBytes(pids[1]!) }),
    harm: () => {
      for (const [at, { name, pid, isRunning, output }] of attacked.entries()) {
        if (!isRunning || pid !== pids[at]) return `${name} ended: ${output}`;
        if (output.includes('"level":50')) return `${name} logged failures: ${output}`;
      }
      return undefined;
    },
  };
}

function targetSections(ports: FrameFuzzPorts, steadyPort: number): Record<string, unknown> {
  const options = { connectTimeout: HELLO_TIMEOUT, writeTimeout: WRITE_TIMEOUT };
  const at = (port: number): string => `tls:127.0.0.1:${port}`;
  const quick = { minRetryInterval: '100ms', maxRetryInterval: '1s', retryBackoffFactor: 1.5 };
  return {
    edge: {},
    ctrl: {
      endpoint: `tls:localhost:${ports.controlPlane}`,
      listeners: [{ bind: at(ports.routerCtrl), options }],
    },
    link: {
      listeners: [
        { binding: 'transport', bind: at(ports.link), advertise: `tls:localhost:${ports.link}`, options },
      ],
      dialers: [
        { binding: 'transport', groups: ['far'], healthyDialBackoff: quick, unhealthyDialBackoff: quick },
      ],
    },
    listeners: [
      { binding: 'proxy', address: `tcp:127.0.0.1:${steadyPort}`, service: 'steady' },
      { binding: 'proxy', address: `tcp:127.0.0.1:${ports.trap}`, service: 'trap' },
      {
        binding: 'edge',
        address: at(ports.edge),
        options: {
          advertise: `localhost:${ports.edge}`,
          lookupApiSessionTimeout: '20ms',
          ...options,
        },
      },
    ],
  };
}

async function enrollEdge(mesh: FabricMesh, closers: (() => Promise<void> | void)[]): Promise<HostileEdge> {
  const { apiUrl, frontdoorId } = mesh.control.ready as ControlReady & { readonly frontdoorId: string };
  const made = await mesh.run('agents', 'enroll', '--frontdoor', frontdoorId, '--json');
  const { enrollmentCode: code } = JSON.parse(made) as { enrollmentCode: string };
  const { token: jwt } = await fetchBootstrapToken({ apiUrl, code });
  const { id, identity } = await enrollIdentity({ jwt, name: 'hostile-edge' });
  const api = new EdgeApiClient({ identity, log: silentLog });
  closers.push(() => api.close());
  const { token: sessionToken } = await api.session();
  const share = await new AgentApiClient(api.connection, silentLog).createShare({
    name: 'fuzzed',
    shareMode: 'private',
    backendMode: 'proxy',
    target: 'http://127.0.0.1:1',
    grants: [id],
  });
  const dial = await api.createSession(share.id, 'Dial');
  const bind = await api.createSession(share.id, 'Bind');
  return {
    id,
    credentials: { cert: identity.certPem, key: identity.keyPem },
    sessionToken,
    dialToken: dial.token,
    bindToken: bind.token,
  };
}
