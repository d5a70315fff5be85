/**
 * Two routers of one OpenZiti network as tunnelers in mode `proxy` or `tproxy`: ours and OpenZiti's, each with the same services. Behind
 * each, `ziti tunnel host` hosts them, so that only the router differs.
 */
import type { Target } from '../bench-run.ts';
import { OpenZitiMesh } from '../../interop/openziti-mesh.ts';
import { freePort } from '../../support/free-port.ts';

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

export interface TunnelNetwork {
  readonly doors: readonly TunnelDoors[];
  stop(): Promise<void>;
}

interface Backends {
  readonly tcpPort: number;
  readonly udpPort: number;
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

/** Mode `tproxy` needs a network namespace whose programs ask the name server at 127.0.0.1. */
export async function startTunnels(
  binary: string,
  backends: Backends,
  mode: InterceptionMode,
): Promise<TunnelNetwork> {
  const mesh = await OpenZitiMesh.start(binary);
  try {
    const { network } = mesh;
    await network.run(
      'edge create service-edge-router-policy all --service-roles #all --edge-router-roles #all',
    );
    for (const [protocol, port] of [
      ['tcp', backends.tcpPort],
      ['udp', backends.udpPort],
    ] as const) {
      const config = JSON.stringify({ protocol, address: '127.0.0.1', port });
      await network.run(`edge create config ${protocol} host.v1`, config);
    }
    const doors: TunnelDoors[] = [];
    for (const row of MAKERS) doors.push(await startDoors(mesh, row, backends.udpPort, mode));
    return { doors, stop: () => mesh.stop() };
  } catch (error) {
    process.stderr.write(mesh.ourOutput);
    await mesh.stop();
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
  const shape = { edgePort, isTunneler: true, sections };
  let pid: number;
  if (maker === OURS) pid = (await mesh.ourRouter(router, shape, 'warn')).pid;
  else {
    await mesh.goRouter(router, shape);
    pid = network.processes.get(`ziti ${router}`)!;
  }
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
  await network.run(`edge create identity ${host} -o ${host}.jwt`);
  await network.run(`edge enroll --jwt ${host}.jwt --out ${host}.json`);
  await network.run(
    `edge create edge-router-policy ${host} --identity-roles @${host} --edge-router-roles @${router}`,
  );
  for (const [right, identity] of [
    ['Bind', host],
    ['Dial', router],
  ] as const)
    await network.run(
      `edge create service-policy ${router}-${right} ${right} --service-roles #${router} --identity-roles @${identity}`,
    );
  await network.start(host, `tunnel host -i ${host}.json --cli-agent=false`);
  return {
    name: maker,
    host: mode === 'proxy' ? LOOPBACK : intercepted,
    ports,
    processes: new Map([['router', pid]]),
  };
}
