/** The router of `up`: its record, its identity and its `router.yml`, then the router that any file would start. */
import { mkdirSync } from 'node:fs';
import { isIP } from 'node:net';
import { dirname, join } from 'node:path';
import { stringify } from 'yaml';
import { formatHostPort, FrontdoorError, type Log } from '#base';
import { writeFileDurably } from '#net';
import { loadRouterConfig, namesAnything, Router, type RouterConfig } from '#router';
import { enrollRouter } from '#sdk';
import { formatAddress } from '#wire';

export interface RouterFileOptions {
  readonly dataDir: string;
  readonly listenHost: string;
  readonly advertiseHost: string;
  /** 0: any free port. */
  readonly edgePort: number;
  /** `tls:host:port`. */
  readonly ctrlAddress: string;
}

/**
 * Trades the token for the identity files that the configuration names; the client certificate last: it stands for
 * a finished enrollment. The names and addresses of its listeners go into the certificates.
 */
export async function enrollRouterIdentity(config: RouterConfig, jwt: string): Promise<void> {
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
  if (config.edgeListener !== undefined && !namesAnything(config.csr)) {
    const message = `${config.file}: edge.csr.sans names nothing that its listener could be dialed by`;
    throw new FrontdoorError('invalid', 'no-names', message);
  }
  // A name marks a program of ours: its certificates live short, and it renews them.
  const enrolled = await enrollRouter({ jwt, name: 'router', ...config.csr });
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
}

/** Writes `<data-dir>/router.yml` as an operator would write it. */
export async function writeRouterFile(options: RouterFileOptions): Promise<string> {
  const directory = join(options.dataDir, 'router');
  const { listenHost: host, advertiseHost, edgePort: port } = options;
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
        address: formatAddress({ type: 'tls', host, port }),
        options: {
          advertise: formatHostPort(advertiseHost, port),
        },
      },
    ],
  };
  await writeFileDurably(file, `# Written by "frontdoor up" at every start.\n${stringify(document)}`);
  return file;
}

function sansOf(hosts: readonly string[]): { dns: string[]; ip: string[] } {
  const unique = [...new Set(hosts)];
  return { dns: unique.filter((host) => isIP(host) === 0), ip: unique.filter((host) => isIP(host) !== 0) };
}

export function startRouter(file: string, log: Log): Promise<Router> {
  return Router.start({ config: loadRouterConfig(file), log });
}
