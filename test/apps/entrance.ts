/**
 * How clients reach a gateway at the names of its shares, which no name server has: through a proxy of this process, as in many
 * companies. Nearly all programs take the proxy and the authority to trust from their environment.
 */
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { join } from 'node:path';
import { pipeline } from 'node:stream';

const CA_VARIABLES = [
  'SSL_CERT_FILE',
  'GIT_SSL_CAINFO',
  'AWS_CA_BUNDLE',
  'REQUESTS_CA_BUNDLE',
  'CURL_CA_BUNDLE',
  'NODE_EXTRA_CA_CERTS',
];

export interface EntranceOptions {
  readonly folder: string;
  readonly httpsPort: number;
  /** PEM of the authority that issued the gateway's certificate. */
  readonly ca: string;
}

export interface AppEntrance {
  /** Variables that clients get. */
  readonly env: Readonly<Record<string, string>>;
  /** Options of a request of this process. */
  to(host: string): { host: string; port: number; servername: string; ca: string; agent: false };
  close(): void;
}

export async function openEntrance({ folder, httpsPort, ca }: EntranceOptions): Promise<AppEntrance> {
  const file = join(folder, 'apps-ca.pem');
  writeFileSync(file, ca);
  const open = new Set<Socket>();
  const proxy = createServer();
  proxy.on('connection', (socket: Socket) => {
    open.add(socket);
    socket.on('close', () => open.delete(socket));
  });
  proxy.on('connect', (_request, client: Socket, head: Buffer) => {
    const gateway = connect(httpsPort, '127.0.0.1', () => {
      client.write('HTTP/1.1 200 Connected\r\n\r\n');
      gateway.write(head);
    });
    pipeline(client, gateway, client, () => client.destroy());
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  return {
    env: Object.fromEntries([
      ...CA_VARIABLES.map((name) => [name, file] as const),
      ...['HTTPS_PROXY', 'https_proxy'].map((name) => [name, url] as const),
      ['NODE_USE_ENV_PROXY', '1'] as const,
    ]),
    to: (host) => ({ host: '127.0.0.1', port: httpsPort, servername: host, ca, agent: false }),
    close: () => {
      proxy.close();
      for (const socket of open) socket.destroy();
    },
  };
}
