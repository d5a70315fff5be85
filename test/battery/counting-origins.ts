/**
 * Other people's servers as private services: nginx, haproxy and node:http. Each answers `SERVED`, and its access log
 * shows which requests it has read.
 */
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findCommand, freePort, startProcess } from '../support/child-process.ts';
import { until } from '../support/deadline.ts';
import { writeNginxFile } from '../support/nginx-file.ts';
import { httpGet } from '../support/world.ts';
import { RawOrigin, READY_PATH } from './raw-origin.ts';

export interface CountingOrigin {
  readonly name: string;
  readonly port: number;
  /** `METHOD target` of each request it read, in its order; the ready path left out. */
  seen(): string[];
  /** The bytes that it received and logged as no request; undefined when it does not log them. */
  strays(): readonly string[];
  close(): Promise<void>;
}

/** Those that this machine has; `missing` names the others. */
export async function startCountingOrigins(): Promise<{
  readonly origins: readonly CountingOrigin[];
  readonly missing: readonly string[];
}> {
  const missing: string[] = [];
  const origins: CountingOrigin[] = [await startRaw(), await startNode()];
  for (const [name, start] of [
    ['nginx', startNginx],
    ['haproxy', startHaproxy],
  ] as const) {
    const command = findCommand(name);
    if (command === undefined) missing.push(name);
    else origins.push(await start(command));
  }
  return { origins, missing };
}

async function startRaw(): Promise<CountingOrigin> {
  const raw = await RawOrigin.start();
  return {
    name: 'raw',
    port: raw.port,
    seen: () => raw.seen,
    strays: () => raw.strays,
    close: () => raw.close(),
  };
}

async function startNode(): Promise<CountingOrigin> {
  const seen: string[] = [];
  const strays: string[] = [];
  const server = createServer({ keepAliveTimeout: 120_000 }, (request, response) => {
    if (request.url !== READY_PATH) seen.push(`${request.method} ${request.url}`);
    request.resume();
    request.on('end', () => response.end('SERVED'));
    request.on('error', () => {});
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (error.code?.startsWith('HPE_') === true) strays.push(error.code);
    socket.destroy();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    name: 'node',
    port: (server.address() as AddressInfo).port,
    seen: () => seen,
    strays: () => strays,
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

async function startNginx(command: string): Promise<CountingOrigin> {
  const folder = mkdtempSync(join(tmpdir(), 'frontdoor-nginx-'));
  const port = await freePort();
  const log = join(folder, 'seen.log');
  const http = `  log_format seen '$status $request_method $request_uri';
  access_log ${log} seen;
  keepalive_timeout 120s; keepalive_requests 1000000;
  server { listen 127.0.0.1:${port}; merge_slashes off; location / { return 200 "SERVED"; } }`;
  const file = { http, workerConnections: 4_096, isOneProcess: true };
  const nginx = startProcess(command, writeNginxFile(folder, file));
  await untilAnswers(port, 'nginx');
  const lines = (): string[] => readFileSync(log, 'utf8').split('\n').filter(Boolean);
  return {
    name: 'nginx',
    port,
    seen: () => requestsOf(lines().filter((line) => line.startsWith('200 '))),
    strays: () => lines().filter((line) => !line.startsWith('200 ')),
    close: async () => {
      await nginx.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function startHaproxy(command: string): Promise<CountingOrigin> {
  const folder = mkdtempSync(join(tmpdir(), 'frontdoor-haproxy-'));
  const port = await freePort();
  const file = join(folder, 'haproxy.cfg');
  writeFileSync(
    file,
    `global
  nbthread 1
  log stdout format raw local0
defaults
  mode http
  log global
  option dontlognull
  timeout connect 5s
  timeout client 120s
  timeout server 60s
  log-format "SEEN %ST %HM %HU"
frontend front
  bind 127.0.0.1:${port}
  http-request return status 200 content-type text/plain string "SERVED"
`,
  );
  const haproxy = startProcess(command, ['-db', '-f', file]);
  let text = '';
  haproxy.child.stdout!.on('data', (chunk: string) => (text += chunk));
  await untilAnswers(port, 'haproxy');
  const lines = (): string[] =>
    text
      .split('\n')
      .filter((line) => line.startsWith('SEEN '))
      .map((line) => line.slice(5));
  return {
    name: 'haproxy',
    port,
    seen: () => requestsOf(lines().filter((line) => line.startsWith('200 '))),
    strays: () => lines().filter((line) => !line.startsWith('200 ')),
    close: async () => {
      await haproxy.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function requestsOf(lines: readonly string[]): string[] {
  return lines.map((line) => line.slice(4)).filter((line) => !line.endsWith(` ${READY_PATH}`));
}

async function untilAnswers(port: number, name: string): Promise<void> {
  await until(
    `an answer of ${name}`,
    async () => (await httpGet(port, 'localhost', READY_PATH)).status,
    (status) => status === 200,
  );
}
