/**
 * Programs in a row between a client and a service, with TLS between them: plain byte relays of Node, haproxy, nginx. Each
 * of one thread; sessions of TLS are resumed, and nginx and haproxy in HTTP mode keep connections for the next request.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeTestAuthority } from '../support/certificates.ts';
import { freePort } from './bench-process.ts';
import { startHaproxy } from './haproxy.ts';
import { startNginxProgram } from './nginx-program.ts';
import { startScript } from './script-process.ts';

/** A hop of a row: a program that accepts plain or TLS connections at `port` and dials plain or TLS ones. */
export interface RowHop {
  readonly port: number;
  readonly pid: number;
  stop(): Promise<void>;
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

export async function relayRows(): Promise<StartRow> {
  const identity = await (await makeTestAuthority()).issue('localhost');
  return rowOf(async (acceptTls, dialTls, targetPort) => {
    const argument = { acceptTls, dialTls, targetPort, ...identity };
    const { line, pid, stop } = await startScript('relay-process.ts', argument);
    return { port: Number(line), pid, stop };
  });
}

/** The files of one identity for both sides of TLS. */
async function writeIdentity(folder: string) {
  const { cert, key, ca } = await (await makeTestAuthority()).issue('localhost');
  mkdirSync(folder, { recursive: true });
  const file = (name: string, content: string): string => {
    const path = join(folder, name);
    writeFileSync(path, content, { mode: 0o600 });
    return path;
  };
  return { both: file('both.pem', `${cert}\n${key}`), ca: file('ca.pem', ca) };
}

/** `tcp` passes bytes on; `http` reads requests, and one connection to the next hop serves many clients. */
export async function haproxyRows(folder: string, mode: 'tcp' | 'http'): Promise<StartRow> {
  const { both, ca } = await writeIdentity(folder);
  return rowOf(async (acceptTls, dialTls, targetPort) => {
    const port = await freePort();
    const sections = `defaults
  mode ${mode}
  timeout connect 5s
  timeout client 10m
  timeout server 10m
${mode === 'http' ? '  http-reuse always\n' : ''}listen hop
  bind 127.0.0.1:${port}${acceptTls ? ` ssl crt ${both}` : ''}
  server next 127.0.0.1:${targetPort}${dialTls ? ` ssl verify required ca-file ${ca} verifyhost localhost` : ''}
`;
    const running = await startHaproxy(folder, port, sections, 'maxconn 8000');
    return { port, pid: running.child.pid!, stop: () => running.stop('SIGTERM', 1_000) };
  });
}

export async function nginxRows(folder: string): Promise<StartRow> {
  const { both, ca } = await writeIdentity(folder);
  return rowOf(async (acceptTls, dialTls, targetPort) => {
    const port = await freePort();
    const sections = `
  upstream next { server 127.0.0.1:${targetPort}; keepalive 128; keepalive_requests 100000000; }
  server {
    listen 127.0.0.1:${port} ${acceptTls ? 'ssl ' : ''}backlog=4096;
    ${acceptTls ? `ssl_certificate ${both}; ssl_certificate_key ${both};` : ''}
    location / {
      proxy_pass ${dialTls ? 'https' : 'http'}://next;
      proxy_ssl_trusted_certificate ${ca};
      proxy_ssl_name localhost;
      proxy_ssl_verify on;
      proxy_ssl_session_reuse on;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_set_header Host $host;
    }
  }`;
    const { workerPid, stop } = await startNginxProgram(join(folder, `${port}`), port, sections);
    return { port, pid: workerPid, stop };
  });
}
