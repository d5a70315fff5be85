/**
 * The product with every part as a process of its own, as on four machines: control plane (Management API over TLS),
 * router, gateway and agent, each enrolled through its command. Free ports at the first start, the same at later ones.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { callAgent } from '#cli';
import { AGENT_SOCKET_FILE, type AgentShareView, type AgentStatusResult } from '#domain/agent-shapes';
import { JsonClient, type JsonAnswer } from '#net/http';
import { makeTestAuthority } from './certificates.ts';
import { callCommand, type CommandRunner } from './command-line.ts';
import type { ControlGroup } from './control-group.ts';
import { freePort } from './free-port.ts';
import { PartProcess, type InstalledProgram, type PartOptions } from './part-process.ts';

export interface ControlReady {
  readonly apiUrl: string;
  readonly edgeApiUrl: string;
  /** `tls:host:port`. */
  readonly ctrlAddress: string;
}

interface FirstReady extends ControlReady {
  readonly frontdoorId: string;
  readonly accountId: string;
  readonly apiToken: string;
}

export interface RouterReady {
  readonly routerId: string;
  readonly edgePort: number;
  readonly pids: { readonly router: number };
}

export interface GatewayReady {
  readonly gatewayUrl: string;
}

export interface SeparateAgent {
  readonly part: PartProcess<AgentStatusResult>;
  readonly dataDir: string;
  /** Path of its control socket. */
  readonly socket: string;
}

export type SeparatePart = 'control' | 'router' | 'gateway' | 'agent';

export interface SeparateOptions {
  /** Kept after the end; default: one of its own, removed at the end. */
  readonly folder?: string | undefined;
  /** Node options of each part's process, such as `--cpu-prof`. */
  readonly nodeArgs?: readonly string[] | undefined;
  readonly logLevel?: string | undefined;
  /** More of each part's environment, such as a library that is loaded first. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** More options of `frontdoor gateway`, such as those of its TLS listener. */
  readonly gatewayArgs?: readonly string[] | undefined;
  /** More options of `frontdoor control`, such as the networks that it may fetch from. */
  readonly controlArgs?: readonly string[] | undefined;
  /** Bounds the router's memory. */
  readonly routerGroup?: ControlGroup | undefined;
  /** More options of `frontdoor agent start`. */
  readonly agentArgs?: readonly string[] | undefined;
  /** Returns the port that the router advertises to SDKs instead of its own: a tap's, for instance. */
  readonly advertiseEdge?: ((edgePort: number) => Promise<number>) | undefined;
  /** Returns the programs that a part is started with; called at each start. */
  readonly programOf?: ((part: SeparatePart) => InstalledProgram) | undefined;
  /** Runs commands of `frontdoor`: in this process when absent. */
  readonly command?: CommandRunner | undefined;
}

export interface Separate {
  readonly folder: string;
  readonly control: PartProcess<ControlReady>;
  readonly router: PartProcess<RouterReady>;
  /** `host:port`. */
  readonly routerMetrics: string;
  readonly gateway: PartProcess<GatewayReady>;
  readonly agent: PartProcess<AgentStatusResult>;
  /** Port of the gateway's plain listener. */
  readonly port: number;
  readonly frontdoorId: string;
  readonly agentSocket: string;
  /** Those of the first account, as commands take them from their environment. */
  readonly credentials: Readonly<Record<string, string>>;
  /** `frontdoor …` with the first account's credentials in its environment. */
  run(...args: string[]): Promise<string>;
  /** `frontdoor agent share …` at the agent; returns when the share can be dialed. */
  share(mode: 'public' | 'private', target: string, name: string): Promise<AgentShareView>;
  /** A Management API call with the first account; `path` without `/frontdoor/{id}`. */
  call(method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE', path: string, body?: object): Promise<JsonAnswer>;
  /** Grants the hostname of a custom frontend as the operator. */
  grantHostname(customFrontendId: string): Promise<void>;
  /** A further gateway beside the first, with these options of `frontdoor gateway`. */
  addGateway(
    name: string,
    args: readonly string[],
    process?: Pick<PartOptions<unknown>, 'nodeArgs' | 'env'>,
  ): Promise<PartProcess<GatewayReady>>;
  /** A further agent beside the first. */
  addAgent(name: string): Promise<SeparateAgent>;
  /** A token that enrolls one environment. */
  enrollmentJwt(): Promise<string>;
  /** All parts, the agent first; rejects when one did not end by itself with status 0. */
  stop(): Promise<void>;
}

type Stoppable = Pick<PartProcess, 'kill'>;

const ZONE = 'share.localhost';
const HOST = '127.0.0.1';

/** Rejects with the log of the part that did not start; nothing is left running then. */
export async function startSeparate(options: SeparateOptions = {}): Promise<Separate> {
  const folder = options.folder ?? mkdtempSync(join(tmpdir(), 'frontdoor-separate-'));
  mkdirSync(folder, { recursive: true });
  const started: Stoppable[] = [];
  const clean = (): void => {
    if (options.folder === undefined) rmSync(folder, { recursive: true, force: true });
  };
  try {
    return await startAll(folder, options, started, clean);
  } catch (error) {
    await Promise.all(started.map((part) => part.kill()));
    clean();
    throw error;
  }
}

async function startAll(
  folder: string,
  options: SeparateOptions,
  started: Stoppable[],
  clean: () => void,
): Promise<Separate> {
  const {
    nodeArgs = [],
    logLevel = 'info',
    gatewayArgs = [],
    agentArgs = [],
    command = callCommand,
  } = options;
  const file = (name: string): string => join(folder, name);
  const common = { nodeArgs, env: { ...options.env, FRONTDOOR_LOG: logLevel } };
  const programOf = (part: SeparatePart) => options.programOf && (() => options.programOf!(part));
  async function start<Ready>(part: PartProcess<Ready>): Promise<Ready> {
    started.push(part);
    return part.start();
  }

  const tls = await (await makeTestAuthority()).issue('localhost');
  writeFileSync(file('api.pem'), tls.cert);
  writeFileSync(file('api.key'), tls.key, { mode: 0o600 });
  writeFileSync(file('api-ca.pem'), tls.ca);
  const control = new PartProcess<ControlReady>({
    ...common,
    name: 'control',
    program: programOf('control'),
    readyFile: file('control.json'),
    args: async (last) => [
      ...(await controlArgs(folder, last, () => gateway.ready.gatewayUrl)),
      ...(options.controlArgs ?? []),
    ],
  });
  const first = (await start(control)) as FirstReady;
  const { frontdoorId, accountId, apiToken } = first;
  const credentials = {
    FRONTDOOR_API_URL: first.apiUrl,
    FRONTDOOR_ACCOUNT_ID: accountId,
    FRONTDOOR_API_TOKEN: apiToken,
  };
  const run: Separate['run'] = (...args) => command(args, credentials);
  const create = async (kind: 'router' | 'gateway', name: string = kind): Promise<string> => {
    const jwt = file(`${name}.jwt`);
    await run('fabric', kind, 'create', name, '--out', jwt, '--ca', file('api-ca.pem'));
    return jwt;
  };

  const edgePort = await freePort();
  const advertisedPort = await options.advertiseEdge?.(edgePort);
  writeFileSync(file('router.yml'), routerFile(folder, first.ctrlAddress, edgePort, advertisedPort));
  const routerJwt = await create('router');
  const routerMetrics = `127.0.0.1:${await freePort()}`;
  const router = new PartProcess<RouterReady>({
    ...common,
    name: 'router',
    program: programOf('router'),
    group: options.routerGroup,
    readyFile: file('router.json'),
    args: () => [
      ...['router', 'run', file('router.yml'), '--ready-file', file('router.json')],
      ...['--enrollment-jwt', routerJwt, '--metrics-listen', routerMetrics],
    ],
  });
  await start(router);

  const gateways: PartProcess<GatewayReady>[] = [];
  const addGateway: Separate['addGateway'] = async (name, more, itsOwn = {}) => {
    const jwt = await create('gateway', name);
    const readyFile = file(`${name}.json`);
    const part = new PartProcess<GatewayReady>({
      ...common,
      program: programOf('gateway'),
      ...itsOwn,
      name,
      readyFile,
      args: async (last) => [
        'gateway',
        '--data-dir',
        file(name),
        '--enrollment-jwt',
        jwt,
        '--http-port',
        await portFor(last?.gatewayUrl),
        '--ready-file',
        readyFile,
        ...more,
      ],
    });
    gateways.push(part);
    await start(part);
    return part;
  };
  const gateway = await addGateway('gateway', gatewayArgs);

  const client = new JsonClient({ origin: first.apiUrl, ca: tls.ca });
  const call: Separate['call'] = (method, path, body) =>
    client.request({
      method,
      path: `/frontdoor/${frontdoorId}${path}`,
      headers: { authorization: `Basic ${accountId}:${apiToken}` },
      body,
    });
  const grantHostname = async (id: string): Promise<void> =>
    void (await run('hostname-claims', 'grant', id, '--ca', file('api-ca.pem')));
  const newEnrollmentCode = async (): Promise<string> => {
    const { json } = await call('POST', '/agents/enrollments');
    return (json as { enrollmentCode: string }).enrollmentCode;
  };
  const agents: PartProcess<AgentStatusResult>[] = [];
  const addAgent = async (
    name: string,
    dataDir = file(name),
    more: readonly string[] = [],
  ): Promise<SeparateAgent> => {
    const enrollmentCode = await newEnrollmentCode();
    const socket = join(dataDir, AGENT_SOCKET_FILE);
    const part = new PartProcess<AgentStatusResult>({
      ...common,
      name: `agent ${name}`,
      program: programOf('agent'),
      probe: () => callAgent(socket, { op: 'status' }, 1_000),
      args: (last) => [
        'agent',
        'start',
        '--data-dir',
        dataDir,
        '--api',
        first.apiUrl,
        '--ca',
        file('api-ca.pem'),
        '--name',
        name,
        ...(last === undefined ? ['--enrollment-token', enrollmentCode] : []),
        ...more,
      ],
    });
    agents.push(part);
    await start(part);
    return { part, dataDir, socket };
  };
  const { part: agent, socket: agentSocket } = await addAgent('separate', file('agent'), agentArgs);

  return {
    folder,
    control,
    router,
    routerMetrics,
    gateway,
    agent,
    port: Number(portOf(gateway.ready.gatewayUrl)),
    frontdoorId,
    agentSocket,
    credentials,
    run,
    share: async (mode, target, name) => {
      const text = await run(
        ...['agent', 'share', mode, target, '--name', name, '--socket', agentSocket, '--json'],
      );
      return JSON.parse(text) as AgentShareView;
    },
    call,
    grantHostname,
    addGateway,
    addAgent: (name) => addAgent(name),
    enrollmentJwt: async () => {
      const path = `/frontdoor/agents/bootstrap-token/${await newEnrollmentCode()}`;
      return ((await client.request({ method: 'GET', path })).json as { token: string }).token;
    },
    stop: async () => {
      await client.close();
      const failed: string[] = [];
      for (const part of [...agents, ...gateways, router, control]) {
        if (part.isRunning && (await part.stop()) !== 0) failed.push(`${part.name}:\n${part.output}`);
      }
      clean();
      if (failed.length > 0) throw new Error(`did not stop cleanly: ${failed.join('\n')}`);
    },
  };
}

/** The gateway's port is known only later: what is shown of a share then names it after the next start. */
async function controlArgs(
  folder: string,
  last: ControlReady | undefined,
  gatewayUrl: () => string,
): Promise<string[]> {
  const file = (name: string): string => join(folder, name);
  return [
    'control',
    '--data-dir',
    file('control'),
    '--zone',
    ZONE,
    '--ready-file',
    file('control.json'),
    '--api-port',
    await portFor(last?.apiUrl),
    '--edge-api-port',
    await portFor(last?.edgeApiUrl),
    '--ctrl-port',
    await portFor(last?.ctrlAddress),
    '--api-cert',
    file('api.pem'),
    '--api-key',
    file('api.key'),
    ...(last === undefined ? [] : ['--public-url', `http://{host}:${portOf(gatewayUrl())}`]),
  ];
}

/** A router's configuration; its identity lies in `router/` of the folder. */
export function routerFile(
  folder: string,
  ctrlAddress: string,
  edgePort: number,
  advertisedPort = edgePort,
): string {
  const file = (name: string): string => join(folder, 'router', name);
  return `v: 3
identity:
  cert: ${file('cert.pem')}
  server_cert: ${file('server.pem')}
  key: ${file('key.pem')}
  ca: ${file('ca.pem')}
ctrl:
  endpoint: ${ctrlAddress}
edge:
  csr:
    sans:
      dns: [localhost]
      ip: [${HOST}]
listeners:
  - binding: edge
    address: tls:${HOST}:${edgePort}
    options:
      advertise: localhost:${advertisedPort}
`;
}

export function portOf(address: string): string {
  return address.slice(address.lastIndexOf(':') + 1);
}

/** The port of an address; before there is one, one that nobody takes while its process is away for a moment. */
export async function portFor(address: string | undefined): Promise<string> {
  return address === undefined ? String(await freePort()) : portOf(address);
}
