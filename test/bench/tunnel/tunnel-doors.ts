/**
 * Two routers of one OpenZiti network as tunnelers in mode `proxy` or `tproxy`: ours and OpenZiti's, each with the same services. Behind
 * each, `ziti tunnel host` hosts them, so that only the router differs.
 */
import type { BenchRun, Target } from '../bench-run.ts';
import { OpenZitiMesh } from '../../interop/openziti-mesh.ts';
import { freePort } from '../../support/free-port.ts';
import { zitiBinary } from '../../support/ziti-command.ts';

export const OURS = 'Frontdoor';
export const GO = 'OpenZiti';

export const SERVICE_KINDS = ['sealed', 'plain', 'sealed-udp', 'plain-udp'] as const;
export type ServiceKind = (typeof SERVICE_KINDS)[number];
/** A `proxy_udp` listener, whose service a `transport_udp` dialer of the same router reaches. */
export const BINDINGS_UDP = 'bindings-udp';

/** The ports of one router. */
export interface TunnelDoors extends Target {
  /** The address of its ports. */
  readonly host: string;
  readonly ports: Readonly<Record<ServiceKind | typeof BINDINGS_UDP, number>>;
}

/** The ports of the services. */
interface Backends {
  readonly tcp: number;
  readonly udp: number;
}

/** In mode `tproxy` each intercepts an address of its own, and answers for names at another one. */
const MAKERS = [
  {
    maker: OURS,
    router: 'ours',
    intercepted: '10.91.0.1',
    resolver: 'udp://127.0.0.2:53',
    names: '100.96.0.1/16',
  },
  {
    maker: GO,
    router: 'theirs',
    intercepted: '10.92.0.1',
    resolver: 'udp://127.0.0.1:53',
    names: '100.97.0.1/16',
  },
] as const;
const LOOPBACK = '127.0.0.1';

export type InterceptionMode = 'proxy' | 'tproxy';

/** Mode `tproxy` needs a network namespace whose programs ask the name server at 127.0.0.1. All of it ends with the run. */
export async function startTunnels(
  run: BenchRun,
  backends: Backends,
  mode: InterceptionMode,
): Promise<readonly TunnelDoors[]> {
  const mesh = run.keep(await OpenZitiMesh.start(zitiBinary()!));
  try {
    const { network } = mesh;
    await network.allowServicesAllRouters();
    for (const [protocol, port] of Object.entries(backends)) {
      const config = JSON.stringify({ protocol, address: '127.0.0.1', port });
      await network.run(`edge create config ${protocol} host.v1`, config);
    }
    const doors: TunnelDoors[] = [];
    for (const row of MAKERS) doors.push(await startDoors(mesh, row, backends.udp, mode));
    return doors;
  } catch (error) {
    process.stderr.write(mesh.ourOutput);
    throw error;
  }
}

async function startDoors(
  mesh: OpenZitiMesh,
  { maker, router, intercepted, resolver, names }: (typeof MAKERS)[number],
  udpPort: number,
  mode: InterceptionMode,
): Promise<TunnelDoors> {
  const { network } = mesh;
  const edgePort = await freePort();
  const ports = {} as Record<ServiceKind | typeof BINDINGS_UDP, number>;
  for (const kind of [...SERVICE_KINDS, BINDINGS_UDP] as const) ports[kind] = await freePort();
  const protocolOf = (kind: ServiceKind): string => (kind.endsWith('-udp') ? 'udp' : 'tcp');
  const services = SERVICE_KINDS.map((kind) => `${router}-${kind}:${ports[kind]}:${protocolOf(kind)}`);
  const edge = {
    binding: 'edge',
    address: `tls:127.0.0.1:${edgePort}`,
    options: { advertise: `localhost:${edgePort}` },
  };
  const listeners = [
    edge,
    {
      binding: 'tunnel',
      options: mode === 'proxy' ? { mode, services } : { mode, resolver, dnsSvcIpRange: names },
    },
    {
      binding: 'proxy_udp',
      address: `udp:127.0.0.1:${ports[BINDINGS_UDP]}`,
      service: `${router}-${BINDINGS_UDP}`,
    },
  ];
  const sections = { listeners, dialers: [{ binding: 'transport_udp' }] };
  const pid = await mesh.routerOf(router, router, { edgePort, isTunneler: true, sections });
  for (const kind of SERVICE_KINDS) {
    const encryption = kind.startsWith('plain') ? 'OFF' : 'ON';
    const configs = [protocolOf(kind)];
    if (mode === 'tproxy') {
      const portRanges = [{ low: ports[kind], high: ports[kind] }];
      const intercept = { protocols: configs, addresses: [intercepted], portRanges };
      await network.run(`edge create config ${router}-${kind} intercept.v1`, JSON.stringify(intercept));
      configs.push(`${router}-${kind}`);
    }
    const options = `--configs ${configs.join(',')} --role-attributes ${router} --encryption ${encryption}`;
    await network.run(`edge create service ${router}-${kind} ${options}`);
  }
  await mesh.service(`${router}-${BINDINGS_UDP}`, router, udpPort, 'udp');
  const host = `${router}-host`;
  await network.enroll(host, 'Bind', `#${router}`, router);
  await network.allow(router, 'Dial', `#${router}`);
  await network.start(host, `tunnel host -i ${host}.json --cli-agent=false`);
  return {
    name: maker,
    host: mode === 'proxy' ? LOOPBACK : intercepted,
    ports,
    processes: new Map([['router', pid]]),
  };
}
