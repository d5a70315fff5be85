/** The router of `up`: its record, its identity and its `router.yml`, then the router that any file would start. */
import { isIP } from 'node:net';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { formatHostPort, type Log } from '#base';
import { setAside, writeFileDurably } from '#net/files';
import {
  identityProblem,
  loadRunnableRouterConfig,
  Router,
  type RouterConfig,
  type RouterOptions,
} from '#router';
import { formatAddress } from '#wire';

export interface RouterFileOptions {
  readonly dataDir: string;
  readonly listenHost: string;
  readonly advertiseHost: string;
  /** 0 takes any free port. */
  readonly edgePort: number;
  /** `tls:host:port`. */
  readonly ctrlAddress: string;
}

/** Writes `<data-dir>/router.yml` as an operator would write it. */
export async function writeRouterFile(options: RouterFileOptions): Promise<string> {
  const directory = join(options.dataDir, 'router');
  const { listenHost: host, advertiseHost, edgePort: port } = options;
  const address = formatAddress({ type: 'tls', host, port });
  const advertise = formatHostPort(advertiseHost, port);
  const file = join(options.dataDir, 'router.yml');
  const document = {
    v: 3,
    identity: {
      cert: join(directory, 'cert.pem'),
      server_cert: join(directory, 'server.pem'),
      key: join(directory, 'key.pem'),
      ca: join(directory, 'ca.pem'),
    },
    ctrl: { endpoint: options.ctrlAddress },
    edge: { csr: { sans: sansOf([advertiseHost, 'localhost', '127.0.0.1']) } },
    listeners: [
      {
        binding: 'edge',
        address,
        options: { advertise },
      },
    ],
    // Other routers dial the same port, so a port that changes at each start cannot be shared.
    link: {
      ...(port === 0 ? {} : { listeners: [{ binding: 'transport', bind: address, advertise }] }),
      dialers: [{ binding: 'transport' }],
    },
    dialers: [{ binding: 'transport' }],
  };
  await writeFileDurably(file, `# Written by "frontdoor up" at every start.\n${stringify(document)}`);
  return file;
}

function sansOf(hosts: readonly string[]): { dns: string[]; ip: string[] } {
  const unique = [...new Set(hosts)];
  return { dns: unique.filter((host) => isIP(host) === 0), ip: unique.filter((host) => isIP(host) !== 0) };
}

/** `release` is the product's version. */
export function startRouter(
  file: string,
  release: string,
  log: Log,
  more: Pick<RouterOptions, 'startup' | 'openChannel' | 'sharedPort'> = {},
): Promise<Router> {
  const config = loadRunnableRouterConfig(file);
  return Router.start({ config, release, log, ...more });
}

/**
 * SIGUSR1 logs the router's state, SIGUSR2 ends and writes its CPU profile. The handlers are installed before there is
 * a router: without them SIGUSR1 would open node's debugger, and SIGUSR2 would end the process.
 */
export function followSignals(router: () => Router | undefined): void {
  process.on('SIGUSR1', () => router()?.logState());
  process.on('SIGUSR2', () => void router()?.stopCpuProfile());
}

/** Whether the router's identity was damaged or out of date, and has been set aside so that it can enroll again. */
export async function setDamagedAside({ identity }: RouterConfig, nowMs: number, log: Log): Promise<boolean> {
  const cause = identityProblem(identity, nowMs);
  if (cause === undefined) return false;
  const files = [identity.cert, identity.serverCert, identity.key.reveal(), identity.ca];
  const movedTo: string[] = [];
  for (const file of files) {
    const moved = file === undefined ? undefined : await setAside(file);
    if (moved !== undefined) movedTo.push(moved);
  }
  log.warn({ cause, movedTo }, 'the identity of the router cannot be used: it enrolls again');
  return true;
}
