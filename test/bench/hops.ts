/**
 * Programs in a row between a client and a service, with TLS between them: plain byte relays of Node, haproxy, nginx. Each
 * of one thread; sessions of TLS are resumed, and nginx and haproxy in HTTP mode keep connections for the next request. They
 * end with the run.
 */
import { join } from 'node:path';
import { makeTestAuthority } from '../support/certificates.ts';
import { freePort } from '../support/child-process.ts';
import type { BenchRun } from './bench-run.ts';
import { makeBenchCertificate } from './gateway/bench-certificate.ts';
import { startHaproxy } from './haproxy.ts';
import { KEPT_UPSTREAM, startNginxProgram } from './nginx-program.ts';
import { startScript } from './script-process.ts';

/** A hop of a row: a program that accepts plain or TLS connections at `port` and dials plain or TLS ones. */
export interface RowHop {
  readonly port: number;
  readonly pid: number;
}

type StartHop = (acceptTls: boolean, dialTls: boolean, targetPort: number) => Promise<RowHop>;

/** Starts so many hops in front of the service, which comes last; the result has the one that clients reach first. */
export type StartRow = (length: number, servicePort: number) => Promise<readonly RowHop[]>;

function rowOf(start: StartHop): StartRow {
  return async (length, servicePort) => {
    const row: RowHop[] = [];
    for (let place = length; place > 0; place -= 1)
      row.unshift(await start(place > 1, place < length, row[0]?.port ?? servicePort));
    return row;
  };
}

export async function relayRows(run: BenchRun): Promise<StartRow> {
  const identity = await (await makeTestAuthority()).issue('localhost');
  return rowOf(async (acceptTls, dialTls, targetPort) => {
    const argument = { acceptTls, dialTls, targetPort, ...identity };
    const { line, pid } = run.keep(await startScript('relay-process.ts', argument));
    return { port: Number(line), pid };
  });
}

/** `tcp` passes bytes on; `http` reads requests, and one connection to the next hop serves many clients. */
export async function haproxyRows(run: BenchRun, mode: 'tcp' | 'http'): Promise<StartRow> {
  const { bothFile, caFile } = await makeBenchCertificate(join(run.folder, 'haproxy-rows'));
  return rowOf(async (acceptTls, dialTls, targetPort) => {
    const port = await freePort();
    const sections = `defaults
  mode ${mode}
  timeout connect 5s
  timeout client 10m
  timeout server 10m
${mode === 'http' ? '  http-reuse always\n' : ''}listen hop
  bind 127.0.0.1:${port}${acceptTls ? ` ssl crt ${bothFile}` : ''}
  server next 127.0.0.1:${targetPort}${dialTls ? ` ssl verify required ca-file ${caFile} verifyhost localhost` : ''}
`;
    return { port, pid: await startHaproxy(run, port, sections, 'maxconn 8000') };
  });
}

export async function nginxRows(run: BenchRun): Promise<StartRow> {
  const { bothFile, caFile } = await makeBenchCertificate(join(run.folder, 'nginx-rows'));
  return rowOf(async (acceptTls, dialTls, targetPort) => {
    const port = await freePort();
    const sections = `
  upstream next { server 127.0.0.1:${targetPort}; keepalive 128; keepalive_requests 100000000; }
  server {
    listen 127.0.0.1:${port} ${acceptTls ? 'ssl ' : ''}backlog=4096;
    ${acceptTls ? `ssl_certificate ${bothFile}; ssl_certificate_key ${bothFile};` : ''}
    location / {
      proxy_pass ${dialTls ? 'https' : 'http'}://next;
      proxy_ssl_trusted_certificate ${caFile};
      proxy_ssl_name localhost;
      proxy_ssl_verify on;
      proxy_ssl_session_reuse on;${KEPT_UPSTREAM}
    }
  }`;
    return { port, pid: await startNginxProgram(run, port, sections) };
  });
}
