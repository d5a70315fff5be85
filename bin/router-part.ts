/** The router of `up`: its record, its identity and its `router.yml`, then the router that any file would start. */
import { mkdirSync } from 'node:fs';
import { isIP } from 'node:net';
import { dirname, join } from 'node:path';
import { stringify } from 'yaml';
import { formatHostPort, FrontdoorError, type Log } from '#base';
import { writeFileDurably } from '#net';
import {
  loadRunnableRouterConfig,
  namesAnything,
  Router,
  saveEndpointsFile,
  type RouterConfig,
} from '#router';
import { enrollRouter } from '#sdk';
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

/**
 * Trades the token for the identity files that the configuration names. The client certificate is written last,
 * because it stands for a finished enrollment. The names and addresses of its listeners go into the certificates.
 */
export async function enrollRouterIdentity(config: RouterConfig, jwt: string, log: Log): Promise<void> {
  const { identity } = config;
  const files = {
    key: identity.key,
    server_key: identity.serverKey,
    ca: identity.ca,
    server_cert: identity.serverCert,
    cert: identity.cert,
  };
  for (const [name, path] of Object.entries(files)) {
    if (path !== undefined && (path.startsWith('pem:') || path.includes('-----BEGIN'))) {
      const message = `identity.${name} holds inline PEM: enrolling needs a file to write to`;
      throw new FrontdoorError('invalid', 'identity-inline', message);
    }
  }
  const { csr } = config;
  const isDialed = config.listeners.length > 0 || (config.link?.listeners.length ?? 0) > 0;
  if (isDialed && (csr === undefined || !namesAnything(csr))) {
    const message = `${config.file}: edge.csr.sans names nothing that its listener could be dialed by`;
    throw new FrontdoorError('invalid', 'no-names', message);
  }
  // A name marks one of our programs: its certificates are short-lived, and it renews them.
  const enrolled = await enrollRouter({ jwt, name: 'router', ...(csr ?? { hosts: [] }) });
  const write = async (path: string | undefined, pem: string): Promise<void> => {
    if (path === undefined) return;
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    await writeFileDurably(path, pem);
  };
  await write(files.key, enrolled.keyPem);
  await write(files.server_key, enrolled.keyPem);
  await write(files.ca, enrolled.caPem);
  await write(files.server_cert, enrolled.serverCertPem);
  await write(files.cert, enrolled.certPem);
  const { endpoints, endpointsFile } = config.ctrl;
  if (endpoints.length > 0) return;
  if (enrolled.controlAddresses.length > 0)
    await saveEndpointsFile(endpointsFile, { endpoints: enrolled.controlAddresses, controllers: [] }, log);
  else
    log.warn({ file: config.file }, 'neither the file nor the token names a controller: add ctrl.endpoint');
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
  onStartupTimeout?: (error: FrontdoorError) => void,
): Promise<Router> {
  const config = loadRunnableRouterConfig(file);
  return Router.start({
    config,
    release,
    log,
    onStartupTimeout,
  });
}

/**
 * SIGUSR1 logs the router's state, SIGUSR2 ends and writes its CPU profile. The handlers are installed before there is
 * a router: without them SIGUSR1 would open node's debugger, and SIGUSR2 would end the process.
 */
export function followSignals(router: () => Router | undefined): void {
  process.on('SIGUSR1', () => router()?.logState());
  process.on('SIGUSR2', () => void router()?.stopCpuProfile());
}
