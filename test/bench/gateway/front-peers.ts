/**
 * nginx (one worker) and haproxy (one thread) as reverse proxies with plain and TLS listeners. The TLS settings are those of our listeners (`src/net/tls-policy.ts`), which the benchmark checks
 * before it runs.
 */
import { TLS_CIPHERS } from '#net';
import { freePort } from '../../support/child-process.ts';
import type { BenchRun } from '../bench-run.ts';
import type { Door } from '../check-client.ts';
import { HAPROXY, hasHaproxy, startHaproxy } from '../haproxy.ts';
import { NGINX_PROXY, startNginx, type NginxPeer } from '../nginx-peer.ts';
import { KEPT_UPSTREAM } from '../nginx-program.ts';
import { ZONE, type BenchCertificate } from './bench-certificate.ts';
import type { Front } from './bench-front.ts';
import { callService } from './http2-pairs.ts';

/** nginx and haproxy take the suites of TLS 1.3 and of TLS 1.2 apart. */
const SUITES = TLS_CIPHERS.split(':');
const TLS13_SUITES = SUITES.filter((name) => name.startsWith('TLS_')).join(':');
const TLS12_SUITES = SUITES.filter((name) => !name.startsWith('TLS_')).join(':');

/** For 10,000 idle clients. */
const MAX_CONNECTIONS = 14_000;

export interface FrontPeerOptions {
  readonly downloadBytes: number;
  readonly certificate: BenchCertificate;
}

function nginxFront(upstream: string, ports: Ports, { certificate }: FrontPeerOptions): string {
  const locations = `
    location / {
      proxy_pass http://${upstream};${KEPT_UPSTREAM}
    }`;
  return `
  server {
    listen 127.0.0.1:${ports.plain} backlog=4096;
${locations}
  }
  server {
    listen 127.0.0.1:${ports.secure} ssl backlog=4096;
    ssl_certificate ${certificate.certFile};
    ssl_certificate_key ${certificate.keyFile};
    ssl_protocols TLSv1.2 TLSv1.3;
    ssl_ciphers ${TLS12_SUITES};
    ssl_conf_command Ciphersuites ${TLS13_SUITES};
    ssl_prefer_server_ciphers on;
    ssl_session_tickets on;
    ssl_session_cache none;
${locations}
  }`;
}

interface Ports {
  readonly plain: number;
  readonly secure: number;
}

function doorsOf(name: string, ports: Ports, { ca }: BenchCertificate) {
  const plain: Door = { port: ports.plain, host: `${name}.${ZONE}` };
  return { plain, secure: { ...plain, port: ports.secure, ca } };
}

/** The private service and the proxy, one program, which ends with the run. */
export async function startNginxFront(
  run: BenchRun,
  options: FrontPeerOptions,
): Promise<{ readonly nginx: NginxPeer; readonly front: Front; readonly callPort: number }> {
  const callPort = await freePort();
  const ports: Ports = { plain: await freePort(), secure: await freePort() };
  const nginx = await startNginx(run, options.downloadBytes, {
    http: (upstream) => nginxFront(upstream, ports, options) + callService(callPort, upstream),
    workerConnections: MAX_CONNECTIONS,
  });
  const doors = doorsOf('nginx', ports, options.certificate);
  // Both roles are one program: each request through the proxy is counted twice.
  return {
    nginx,
    callPort,
    front: { name: NGINX_PROXY, ...doors, serviceRequests: 2, processes: nginx.processes },
  };
}

/** Both sides of every connection would not fit into what a process may open; idle clients have one side only. */
const HAPROXY_GLOBAL = `maxconn ${MAX_CONNECTIONS}
  no strict-limits
  ssl-default-bind-ciphers ${TLS12_SUITES}
  ssl-default-bind-ciphersuites ${TLS13_SUITES}
  ssl-default-bind-options ssl-min-ver TLSv1.2
  tune.ssl.cachesize 0`;

function haproxySections(ports: Ports, servicePort: number, certificate: BenchCertificate): string {
  return `defaults
  mode http
  timeout connect 5s
  timeout client 120s
  timeout server 60s
  http-reuse always
  maxconn ${MAX_CONNECTIONS}
frontend front
  bind 127.0.0.1:${ports.plain}
  bind 127.0.0.1:${ports.secure} ssl crt ${certificate.bothFile} alpn http/1.1
  default_backend private
backend private
  server private 127.0.0.1:${servicePort}
`;
}

/** Ends with the run; undefined where it is not installed. */
export async function startHaproxyFront(
  run: BenchRun,
  options: FrontPeerOptions,
  nginx: NginxPeer,
): Promise<Front | undefined> {
  if (!hasHaproxy()) return undefined;
  const ports: Ports = { plain: await freePort(), secure: await freePort() };
  const sections = haproxySections(ports, nginx.servicePort, options.certificate);
  const pid = await startHaproxy(run, ports.secure, sections, HAPROXY_GLOBAL);
  return {
    name: HAPROXY,
    ...doorsOf('haproxy', ports, options.certificate),
    serviceRequests: 1,
    processes: new Map([[HAPROXY, pid], ...nginx.processes]),
  };
}
