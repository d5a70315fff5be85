/** Router files for meshes of several makes: the same text starts OpenZiti's router and ours. */
import { rmSync } from 'node:fs';
import { dirname, join } from 'node:path';

export interface RouterShape {
  /** Port of the controller's control channel. */
  readonly controllerPort: number;
  /** Accepts links there, for dialers of these groups; `advertisedPort` when they are to dial another. */
  readonly linkListener?: {
    readonly port: number;
    readonly groups: readonly string[];
    readonly advertisedPort?: number;
  };
  /** Dials link listeners of these groups. */
  readonly dialGroups?: readonly string[];
  /** Each TCP connection at the port becomes a circuit to the service. */
  readonly proxy?: { readonly port: number; readonly service: string };
  /** SDKs come in there. */
  readonly edgePort?: number;
  /** Sections that stand in the file as they are given here. */
  readonly sections?: Readonly<Record<string, unknown>>;
}

/** JSON is YAML. Every listener is on loopback. */
export function routerFile(folder: string, shape: RouterShape): string {
  const { controllerPort, linkListener, dialGroups = [], proxy, edgePort, sections } = shape;
  const address = (port: number): string => `tls:localhost:${port}`;
  const quick = { minRetryInterval: '100ms', maxRetryInterval: '1s', retryBackoffFactor: 1.5 };
  const document = {
    v: 3,
    identity: {
      cert: join(folder, 'cert.pem'),
      server_cert: join(folder, 'server.pem'),
      key: join(folder, 'key.pem'),
      ca: join(folder, 'ca.pem'),
    },
    ctrl: { endpoint: address(controllerPort) },
    csr: { sans: { dns: ['localhost'], ip: ['127.0.0.1'] } },
    link: {
      listeners:
        linkListener === undefined
          ? []
          : [
              {
                binding: 'transport',
                bind: `tls:127.0.0.1:${linkListener.port}`,
                advertise: address(linkListener.advertisedPort ?? linkListener.port),
                groups: linkListener.groups,
              },
            ],
      dialers:
        dialGroups.length === 0
          ? []
          : [
              {
                binding: 'transport',
                groups: dialGroups,
                healthyDialBackoff: quick,
                unhealthyDialBackoff: quick,
              },
            ],
    },
    dialers: [{ binding: 'transport' }],
    listeners: [
      ...(proxy === undefined
        ? []
        : [{ binding: 'proxy', address: `tcp:127.0.0.1:${proxy.port}`, service: proxy.service }]),
      ...(edgePort === undefined
        ? []
        : [
            {
              binding: 'edge',
              address: `tls:127.0.0.1:${edgePort}`,
              options: { advertise: `localhost:${edgePort}` },
            },
          ]),
    ],
    edge: edgePort === undefined ? undefined : {},
    ...sections,
  };
  return JSON.stringify(document, undefined, 2);
}

/** After enrollment, which remembers where the token's controllers are: where the shape names a port, that one counts. */
export function keepEndpoint(file: string, { controllerPort }: Partial<RouterShape>): void {
  if (controllerPort !== undefined) rmSync(join(dirname(file), 'endpoints.yml'), { force: true });
}
