/**
 * nginx and haproxy as a proxy in front of an HTTP server, with TLS and HTTP/2 and otherwise with their defaults, as
 * operators configure them. Tests skip where a program is missing; under FRONTDOOR_TEST_STRICT=1 they fail.
 */
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findCommand, startProcess, untilReady } from './child-process.ts';
import type { TestIdentity } from './certificates.ts';
import { writeNginxFile } from './nginx-file.ts';

export const PROXY_NAMES = ['nginx', 'haproxy'] as const;
export type ReverseProxyName = (typeof PROXY_NAMES)[number];

export interface ReverseProxyOptions {
  readonly name: ReverseProxyName;
  readonly port: number;
  /** Port of the server behind it, on this machine. */
  readonly serverPort: number;
  /** Without it, plain HTTP. */
  readonly tls?: TestIdentity;
  /** The server gets its own address as `Host`, which is nginx’s default. */
  readonly replacesHost?: boolean;
  /** Each connection begins with a PROXY header, which names the client. */
  readonly hasProxyHeaders?: boolean;
  /** This prefix of the path is taken away. */
  readonly removedPrefix?: string;
}

export interface ReverseProxy {
  close(): Promise<void>;
}

const START_MS = 30_000;

/** The value of `skip` for tests with the proxy. */
export function proxySkip(name: ReverseProxyName): string | false {
  const isMissing = findCommand(name) === undefined;
  return isMissing && process.env['FRONTDOOR_TEST_STRICT'] !== '1' ? `${name} is not installed` : false;
}

export async function startReverseProxy(options: ReverseProxyOptions): Promise<ReverseProxy> {
  const { name, port, tls } = options;
  const folder = mkdtempSync(join(tmpdir(), `frontdoor-${name}-`));
  if (tls !== undefined) {
    writeFileSync(join(folder, 'proxy.crt'), tls.cert);
    // The name under which haproxy looks for the key of `proxy.crt`.
    writeFileSync(join(folder, 'proxy.crt.key'), tls.key, { mode: 0o600 });
  }
  const file = join(folder, 'haproxy.conf');
  if (name === 'haproxy') writeFileSync(file, haproxyFile(options, folder));
  const args =
    name === 'nginx' ? writeNginxFile(folder, { http: nginxHttp(options, folder) }) : ['-db', '-f', file];
  const running = startProcess(findCommand(name)!, args);
  const close = async (): Promise<void> => {
    await running.stop();
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    await untilReady(`a listening ${name}`, running, START_MS, async () => {
      const socket = connect({ port, host: '127.0.0.1' });
      await once(socket, 'connect');
      socket.destroy();
    });
    return { close };
  } catch (error) {
    await close();
    throw error;
  }
}

function nginxHttp({ port, serverPort, tls, ...more }: ReverseProxyOptions, folder: string): string {
  const { replacesHost = false, removedPrefix, hasProxyHeaders = false } = more;
  const certificate = join(folder, 'proxy.crt');
  // With a path in `proxy_pass`, nginx replaces the location's prefix by it.
  const [location, path] = removedPrefix === undefined ? ['/', ''] : [`${removedPrefix}/`, '/'];
  return `
  access_log off;
  server {
    listen 127.0.0.1:${port}${tls === undefined ? '' : ' ssl http2'}${hasProxyHeaders ? ' proxy_protocol' : ''};
    ${hasProxyHeaders ? 'set_real_ip_from 127.0.0.1; real_ip_header proxy_protocol;' : ''}
    ${tls === undefined ? '' : `ssl_certificate ${certificate}; ssl_certificate_key ${certificate}.key;`}
    location ${location} {
      proxy_pass http://127.0.0.1:${serverPort}${path};
      ${replacesHost ? '' : 'proxy_set_header Host $http_host;'}
      proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
    }
  }`;
}

function haproxyFile({ port, serverPort, tls, ...more }: ReverseProxyOptions, folder: string): string {
  const { replacesHost = false, removedPrefix, hasProxyHeaders = false } = more;
  const secure = tls === undefined ? '' : ` ssl crt ${join(folder, 'proxy.crt')} alpn h2,http/1.1`;
  return `
global
  nbthread 1
defaults
  mode http
  option forwardfor
  timeout connect 5s
  timeout client 60s
  timeout server 60s
frontend front
  bind 127.0.0.1:${port}${secure}${hasProxyHeaders ? ' accept-proxy' : ''}
  default_backend server
backend server
  ${replacesHost ? `http-request set-header Host 127.0.0.1:${serverPort}` : ''}
  ${removedPrefix === undefined ? '' : `http-request replace-path ${removedPrefix}/(.*) /\\1`}
  server one 127.0.0.1:${serverPort}
`;
}
