/**
 * The pair that our gateway and agent are compared with over HTTP/2: nginx with HTTP/2 to clients, TLS, nginx beside the service.
 * For calls of gRPC both pass them on by `grpc_pass`. Each has one worker. They end with the run.
 */
import { freePort } from '../../support/child-process.ts';
import type { BenchRun } from '../bench-run.ts';
import { KEPT_UPSTREAM, startNginxProgram } from '../nginx-program.ts';
import type { NginxPeer } from '../nginx-peer.ts';
import { ZONE, type BenchCertificate } from './bench-certificate.ts';
import type { Front } from './bench-front.ts';

export const NGINX_PAIR = 'nginx–TLS–nginx';

/** How often nginx counts one call: as such, and as the request for its response. */
export const REQUESTS_PER_CALL = 2;

/**
 * The service of calls: nginx itself, which reads each message, and responds with the 64 bytes of the private service and the status
 * in trailers. An answer of nginx alone would come before the message was read, and reset the rest.
 */
export function callService(port: number, upstream: string): string {
  return `
  server {
    listen 127.0.0.1:${port} http2 backlog=4096;
    keepalive_requests 100000000;
    location / {
      rewrite ^ /small break;
      proxy_pass http://${upstream};${KEPT_UPSTREAM}
      proxy_method GET;
      proxy_pass_request_body off;
      proxy_set_header Content-Length "";
      proxy_hide_header Content-Type;
      add_header Content-Type application/grpc;
      add_trailer grpc-status 0 always;
    }
  }`;
}

interface PairOptions {
  readonly certificate: BenchCertificate;
  readonly nginx: NginxPeer;
  /** The service of the private nginx. */
  readonly servicePort: number;
  readonly isCall: boolean;
}

export async function startNginxPair(run: BenchRun, options: PairOptions): Promise<Front> {
  const { certificate, nginx, servicePort, isCall } = options;
  const [outer, inner] = [await freePort(), await freePort()];
  const { certFile, keyFile, caFile, ca } = certificate;
  const kind = isCall ? 'grpc' : 'proxy';
  const scheme = isCall ? 'grpc' : 'http';
  const secure = isCall ? 'grpcs' : 'https';
  const kept = isCall ? 'grpc_set_header Host $host;' : KEPT_UPSTREAM;
  const tls = `ssl_certificate ${certFile}; ssl_certificate_key ${keyFile};`;
  const upstream = (port: number): string =>
    `upstream next { server 127.0.0.1:${port}; keepalive 128; keepalive_requests 100000000; }`;
  const innerPid = await startNginxProgram(
    run,
    inner,
    `
  ${upstream(servicePort)}
  server {
    listen 127.0.0.1:${inner} ssl ${isCall ? 'http2 ' : ''}backlog=4096;
    ${tls}
    location / { ${kind}_pass ${scheme}://next; ${kept} }
  }`,
  );
  const outerPid = await startNginxProgram(
    run,
    outer,
    `
  ${upstream(inner)}
  server {
    listen 127.0.0.1:${outer} ssl http2 backlog=4096;
    ${tls}
    location / {
      ${kind}_pass ${secure}://next; ${kept}
      ${kind}_ssl_trusted_certificate ${caFile};
      ${kind}_ssl_name localhost;
      ${kind}_ssl_verify on;
      ${kind}_ssl_session_reuse on;
    }
  }`,
  );
  return {
    name: NGINX_PAIR,
    secure: { port: outer, host: `pair.${ZONE}`, ca },
    serviceRequests: isCall ? REQUESTS_PER_CALL : 1,
    processes: new Map([['nginx outer', outerPid], ['nginx inner', innerPid], ...nginx.processes]),
  };
}
