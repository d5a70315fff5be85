/**
 * nginx in two roles of one program with one worker: the private service, and the reverse proxy to compare with. The
 * private service counts its requests, so that nothing that is measured can have come from a cache.
 */
import { randomBytes, createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { freePort, until } from '../support/child-process.ts';
import type { BenchRun } from './bench-run.ts';
import { get } from './check-client.ts';
import { KEPT_UPSTREAM, startNginxProgram } from './nginx-program.ts';

/** The program in its two roles, as tables show them. */
export const NGINX_DIRECT = 'nginx direct';
export const NGINX_PROXY = 'nginx proxy';
/** Its process, beside which CPU time of others is given. */
export const SERVICE = 'nginx';

/** What the private service answers: 64 bytes. */
export const SMALL_BODY = 'frontdoor benchmark: sixty-four bytes from the private service.\n';

/** Without a new request for so long, nothing is in flight. */
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
}

/** Additional text of the `http` block, and the number of connections that the worker then accepts. */
export interface NginxAddition {
  readonly http: (upstream: string) => string;
  readonly workerConnections: number;
}

function sectionsOf(
  downloadFile: string,
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
    location = /download { alias ${downloadFile}; }
  }
  server {
    listen 127.0.0.1:${proxyPort} backlog=4096;
    location / {
      proxy_pass http://private;${KEPT_UPSTREAM}
    }
  }
${addition?.http('private') ?? ''}`;
}

/** It ends with the run. */
export async function startNginx(
  run: BenchRun,
  downloadBytes: number,
  addition?: NginxAddition,
): Promise<NginxPeer> {
  const servicePort = await freePort();
  const proxyPort = await freePort();
  const content = randomBytes(downloadBytes);
  const downloadFile = join(run.folder, `download-${servicePort}.bin`);
  writeFileSync(downloadFile, content);
  const sha256 = createHash('sha256').update(content).digest('hex');
  const sections = sectionsOf(downloadFile, servicePort, proxyPort, addition);
  const workerPid = await startNginxProgram(run, servicePort, sections, addition?.workerConnections);
  let asked = 0;
  const countNow = async (): Promise<number> => {
    const { body } = await get({ port: servicePort, host: `127.0.0.1:${servicePort}` }, '/count');
    // Three numbers: accepted, handled, requests; the last one counts this request too.
    asked += 1;
    return Number(/\n\s*\d+\s+\d+\s+(\d+)/.exec(body)?.[1]) - asked;
  };
  return {
    servicePort,
    proxyPort,
    download: { bytes: downloadBytes, sha256 },
    processes: new Map([[SERVICE, workerPid]]),
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
  };
}
