/**
 * The product with both of a gateway's ports, started the way a user does: `frontdoor up --demo`, or every part as a
 * process of its own, with the benchmark's certificate and room for 10,000 clients of one address.
 */
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot } from '../../../tools/pinned-process.ts';
import { PartProcess } from '../../support/part-process.ts';
import { startSeparate } from '../../support/separate.ts';
import { freePort, startProcess, until } from '../bench-process.ts';
import { profilingEnvironment, runFrontdoor } from '../product.ts';
import { ZONE, type BenchCertificate } from './bench-certificate.ts';
import type { Door } from './bench-front.ts';

const LAUNCHER = join(repositoryRoot, 'bin/frontdoor.js');
const START_DEADLINE_MS = 60_000;
const MAX_CONNECTIONS_PER_ADDRESS = '15000';

export interface GatewayProductOptions {
  readonly folder: string;
  readonly certificate: BenchCertificate;
  readonly cpuProfileDir?: string | undefined;
}

export interface GatewayProduct {
  readonly plainPort: number;
  readonly securePort: number;
  /** Process ids by part, the one that clients are connected to first. */
  readonly processes: ReadonlyMap<string, number>;
  /** Makes `target` reachable as a share of that name. */
  publish(name: string, target: string): Promise<void>;
  /** A call of the Management API below `/frontdoor/{id}`; throws unless it is answered 2xx. */
  call(method: string, path: string, body?: object): Promise<Record<string, unknown>>;
  stop(): Promise<void>;
}

/** The ways to a share: plain HTTP and TLS. */
export function doorsOf(
  product: Pick<GatewayProduct, 'plainPort' | 'securePort'>,
  name: string,
  { ca }: BenchCertificate,
  headers: Readonly<Record<string, string>> = {},
): { readonly plain: Door; readonly secure: Door } {
  const host = `${name}.${ZONE}`;
  return {
    plain: { port: product.plainPort, host, entrance: { headers } },
    secure: { port: product.securePort, host, entrance: { ca, headers } },
  };
}

/** Of `gateway` and `up`. */
export function gatewayArguments(certificate: BenchCertificate, securePort: number): string[] {
  return [
    ...[
      '--https-port',
      `${securePort}`,
      '--tls-cert',
      certificate.certFile,
      '--tls-key',
      certificate.keyFile,
    ],
    ...['--max-connections-per-address', MAX_CONNECTIONS_PER_ADDRESS],
  ];
}

interface UpReady {
  readonly gatewayUrl: string;
  readonly apiUrl: string;
  readonly agentSocket: string;
  readonly frontdoorId: string;
  readonly accountId: string;
  readonly apiToken: string;
  readonly pids: { readonly up: number; readonly agent: number };
}

/** Its control plane may fetch from loopback, where the benchmark's identity provider is. */
export async function startGatewayUp(options: GatewayProductOptions): Promise<GatewayProduct> {
  const { folder, certificate, cpuProfileDir } = options;
  mkdirSync(folder, { recursive: true });
  const readyFile = join(folder, 'ready.json');
  const securePort = await freePort();
  const args = [
    ...['up', '--demo', '--data-dir', join(folder, 'data'), '--zone', ZONE, '--ready-file', readyFile],
    ...[
      '--http-port',
      '0',
      '--api-port',
      '0',
      '--edge-api-port',
      '0',
      '--ctrl-port',
      '0',
      '--edge-port',
      '0',
    ],
    ...['--allow-egress', '127.0.0.1/32:*', '--allow-egress', '[::1]/128:*'],
    ...gatewayArguments(certificate, securePort),
  ];
  const running = startProcess(process.execPath, [LAUNCHER, ...args], profilingEnvironment(cpuProfileDir));
  const stop = (): Promise<void> => running.stop('SIGINT', 10_000);
  try {
    const ready = await until('the ready file of frontdoor up', START_DEADLINE_MS, () => {
      if (running.child.exitCode !== null) return undefined;
      return JSON.parse(readFileSync(readyFile, 'utf8')) as UpReady;
    });
    if (ready === undefined) throw new Error('it ended');
    const plainPort = Number(new URL(ready.gatewayUrl).port);
    return {
      plainPort,
      securePort,
      processes: new Map([
        ['up', ready.pids.up],
        ['agent', ready.pids.agent],
      ]),
      publish: async (name, target) => {
        await runFrontdoor(
          ...['agent', 'share', 'public', target, '--name', name, '--socket', ready.agentSocket],
        );
      },
      call: (method, path, body) => callApi(ready, method, path, body),
      stop,
    };
  } catch (error) {
    await stop();
    throw new Error(`frontdoor up did not get ready: ${running.tail()}`, { cause: error });
  }
}

async function callApi(
  { apiUrl, frontdoorId, accountId, apiToken }: UpReady,
  method: string,
  path: string,
  body?: object,
): Promise<Record<string, unknown>> {
  const answer = await fetch(`${apiUrl}/frontdoor/${frontdoorId}${path}`, {
    method,
    headers: {
      authorization: `Basic ${accountId}:${apiToken}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${method} ${path} was answered ${answer.status}: ${text.slice(0, 300)}`);
  return text === '' ? {} : (JSON.parse(text) as Record<string, unknown>);
}

export interface SeparateProduct extends GatewayProduct {
  /** A further gateway beside the first, with these arguments of `frontdoor gateway`. */
  addGateway(name: string, args: readonly string[]): Promise<AddedGateway>;
}

export interface AddedGateway {
  readonly plainPort: number;
  readonly pid: number;
  stop(): Promise<void>;
}

export async function startGatewaySeparate(options: GatewayProductOptions): Promise<SeparateProduct> {
  const { folder, certificate, cpuProfileDir } = options;
  const securePort = await freePort();
  const nodeArgs = cpuProfileDir === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${cpuProfileDir}`];
  const separate = await startSeparate({
    folder,
    logLevel: 'warn',
    nodeArgs,
    gatewayArgs: gatewayArguments(certificate, securePort),
  });
  const { gateway, router, agent, control } = separate;
  const addGateway: SeparateProduct['addGateway'] = async (name, args) => {
    const jwt = join(folder, `${name}.jwt`);
    await separate.run(
      ...['fabric', 'gateway', 'create', name, '--out', jwt, '--ca', join(folder, 'api-ca.pem')],
    );
    const readyFile = join(folder, `${name}.json`);
    const part = new PartProcess<{ readonly gatewayUrl: string }>({
      name,
      readyFile,
      nodeArgs,
      env: { FRONTDOOR_LOG: 'warn' },
      args: () => [
        ...['gateway', '--data-dir', join(folder, name), '--enrollment-jwt', jwt],
        ...['--ready-file', readyFile, '--http-port', '0', ...args],
      ],
    });
    const { gatewayUrl } = await part.start();
    return {
      plainPort: Number(new URL(gatewayUrl).port),
      pid: part.pid,
      stop: async () => {
        await part.stop();
      },
    };
  };
  return {
    plainPort: separate.port,
    securePort,
    processes: new Map(
      Object.entries({ gateway, router, agent, control }).map(([name, { pid }]) => [name, pid]),
    ),
    publish: async (name, target) => {
      await separate.share('public', target, name);
    },
    call: async (method, path, body) => {
      const { status, json } = await separate.call(method as 'GET' | 'POST' | 'PATCH' | 'DELETE', path, body);
      if (status < 200 || status > 299) throw new Error(`${method} ${path} was answered ${status}`);
      return (json ?? {}) as Record<string, unknown>;
    },
    addGateway,
    stop: () => separate.stop(),
  };
}
