/**
 * nginx in two roles of one program with one worker: the private service, and the reverse proxy to compare with. The
 * private service counts its requests, so that nothing that is measured can have come from a cache.
 */
import { randomBytes, createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { freePort, until } from './bench-process.ts';
import { get } from './check-client.ts';
import { startNginxProgram } from './nginx-program.ts';

/** The program in its two roles, as tables show them. */
export const NGINX_DIRECT = 'nginx direct';
export const NGINX_PROXY = 'nginx proxy';
/** Its process, beside which CPU time of others is given. */
export const SERVICE = 'nginx';

/** What the private service answers: 64 bytes. */
export const SMALL_BODY = 'frontdoor benchmark: sixty-four bytes from the private service.\n';

/** Without a new request for so long, nothing is on its way any more. */
const QUIET_MS = 60;
const QUIET_DEADLINE_MS = 30_000;

export interface NginxPeer {
  readonly servicePort: number;
  readonly proxyPort: number;
  readonly download: { readonly bytes: number; readonly sha256: string };
  /** The worker's process id, under the name `nginx`. */
  readonly processes: ReadonlyMap<string, number>;
  /**
   * Requests that the program has answered in both roles together, without those that ask for this number. It resolves
   * when the number stands still, because a load that stops leaves requests on their way: those of a slow peer for
   * longer than `quietMs`, which is 60 when absent.
   */
  requestCount(quietMs?: number): Promise<number>;
  stop(): Promise<void>;
}

/** Additional text of the `http` block, and the number of connections that the worker then accepts. */
export interface NginxAddition {
  readonly http: (upstream: string) => string;
  readonly workerConnections: number;
}

function sectionsOf(
  folder: string,
  servicePort: number,
  proxyPort: number,
  addition: NginxAddition | undefined,
): string {
  return `
  upstream private { server 127.0.0.1:${servicePort}; keepalive 128; keepalive_requests 100000000; }
  server {
    listen 127.0.0.1:${servicePort} backlog=4096;
    location = /small { return 200 "${SMALL_BODY.replace('\n', '\\n')}"; }
    location = /close { keepalive_timeout 0; return 200 "${SMALL_BODY.replace('\n', '\\n')}"; }
    location /unique/ { return 200 "you asked $request_uri\\n"; }
    location = /count { stub_status; }
    location = /download { alias ${join(folder, 'download.bin')}; }
  }
  server {
    listen 127.0.0.1:${proxyPort} backlog=4096;
    location / {
      proxy_pass http://private;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_set_header Host $host;
    }
  }
${addition?.http('private') ?? ''}`;
}

export async function startNginx(
  folder: string,
  downloadBytes: number,
  addition?: NginxAddition,
): Promise<NginxPeer> {
  mkdirSync(folder, { recursive: true });
  const content = randomBytes(downloadBytes);
  writeFileSync(join(folder, 'download.bin'), content);
  const sha256 = createHash('sha256').update(content).digest('hex');
  const servicePort = await freePort();
  const proxyPort = await freePort();
  const sections = sectionsOf(folder, servicePort, proxyPort, addition);
  const nginx = await startNginxProgram(folder, servicePort, sections, addition?.workerConnections);
  const host = `127.0.0.1:${servicePort}`;
  let asked = 0;
  const countNow = async (): Promise<number> => {
    const { body } = await get(servicePort, host, '/count');
    // Three numbers: accepted, handled, requests; the last one counts this request too.
    asked += 1;
    return Number(/\n\s*\d+\s+\d+\s+(\d+)/.exec(body)?.[1]) - asked;
  };
  return {
    servicePort,
    proxyPort,
    download: { bytes: downloadBytes, sha256 },
    processes: new Map([[SERVICE, nginx.workerPid]]),
    requestCount: (quietMs = QUIET_MS) => {
      let last = Number.NaN;
      return until('a quiet private service', QUIET_DEADLINE_MS, async () => {
        const count = await countNow();
        const quiet = count === last;
        last = count;
        if (quiet) return count;
        await pause(quietMs);
        throw new Error(`${count} requests and counting`);
      });
    },
    stop: () => nginx.stop(),
  };
}
