/**
 * H9: the same bytes to us, to nginx and to haproxy as proxies, all before one raw origin. Each difference between
 * the requests that reach the origin through a peer and through us is on the reviewed list, with its reason.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findCommand, freePort, startProcess, type Running } from '../support/child-process.ts';
import { until } from '../support/deadline.ts';
import { writeNginxFile } from '../support/nginx-file.ts';
import { httpGet } from '../support/world.ts';
import { hostOf } from './battery-product.ts';
import { RowSkipped, Tally, type BatteryRow } from './battery-row.ts';
import { BytesClient } from './bytes-client.ts';
import { HANDED_ON, HANDED_ON_BY_US, PEERS, type ProxyName } from './differential-table.ts';
import { framingRequest, REFUSED_REQUESTS, SERVED_REQUESTS } from '../support/framing-case-table.ts';
import { HOST_VARIANTS } from './host-row.ts';
import { ODD_PATHS } from './path-row.ts';
import { RawOrigin, READY_PATH } from './raw-origin.ts';

const NAME = 'h9-raw';
const ANSWER_MS = 2_000;
const QUIET_MS = 60;

export const DIFFERENTIAL_ROW: BatteryRow = {
  id: 'H9',
  title: 'each difference from nginx and haproxy in the requests that reach an origin is reviewed',
  run: async (context, product) => {
    const tally = new Tally();
    const origin = await RawOrigin.start();
    const peers: RunningPeer[] = [];
    try {
      for (const name of PEERS) {
        const command = findCommand(name);
        if (command === undefined) throw new RowSkipped(`${name} is not in PATH`);
        peers.push(await startPeer(name, command, origin.port));
      }
      await product.share(NAME, origin.port);
      const found = new Map<string, string>();
      for (const [name, request] of inputs()) {
        const ours = await seenBehind(origin, product.plainPort, request);
        for (const peer of peers) {
          const theirs = await seenBehind(origin, peer.port, request);
          if (theirs === ours) {
            tally.check(true, name);
            continue;
          }
          const difference = `${name} | ${peer.name}`;
          found.set(difference, `we: ${ours}; ${peer.name}: ${theirs}`);
          const reviewed = ours === 'nothing' ? HANDED_ON : HANDED_ON_BY_US;
          tally.check(
            reviewed.some(({ by }) => by[peer.name].includes(name)),
            difference,
            () => found.get(difference)!,
          );
        }
      }
      context.note(
        `${found.size} differences, each with a reason in the reviewed list unless it is named above`,
      );
    } finally {
      await Promise.all(peers.map((peer) => peer.stop()));
      await origin.close();
    }
    return tally;
  },
};

function inputs(): [name: string, request: string][] {
  const host = hostOf(NAME);
  const close = 'Connection: close\r\n\r\n';
  return [
    ...[...REFUSED_REQUESTS, ...SERVED_REQUESTS].map(([name, template]): [string, string] => [
      name,
      framingRequest(template, host),
    ]),
    ...HOST_VARIANTS.filter(({ serverName }) => serverName === undefined).map(
      ({ name, head }): [string, string] => [`Host: ${name}`, `${head(host, hostOf('h9-other'))}${close}`],
    ),
    ...ODD_PATHS.map((path): [string, string] => [
      `path: ${path.slice(0, 40)}`,
      `GET ${path} HTTP/1.1\r\nHost: ${host}\r\n${close}`,
    ]),
  ];
}

/** The requests and bodies that reached the origin, as one line; `nothing` when none did. */
async function seenBehind(origin: RawOrigin, port: number, request: string): Promise<string> {
  origin.forget();
  const client = await BytesClient.open({ port });
  try {
    client.send(request);
    // A whole answer, the end, or nothing for so long: some wait for more.
    await client.until('an answer', (text) => /\r\n\r\n[^]*SERVED/.test(text), ANSWER_MS).catch(() => {});
    await new Promise((resolve) => setTimeout(resolve, QUIET_MS));
  } finally {
    client.close();
  }
  const seen = origin.requests
    .filter(({ target }) => target !== READY_PATH)
    .map(({ method, target, body, fields }) => {
      const hosts = fields
        .filter(([name]) => name.toLowerCase() === 'host')
        .map(([, value]) => value.toLowerCase());
      return `${method} ${JSON.stringify(target.slice(0, 60))} ${hosts.join('+')} ${JSON.stringify(body)}`;
    });
  return [...seen, ...origin.strays.map((stray) => `stray ${stray}`)].join('; ') || 'nothing';
}

interface RunningPeer {
  readonly name: ProxyName;
  readonly port: number;
  stop(): Promise<void>;
}

async function startPeer(name: ProxyName, command: string, originPort: number): Promise<RunningPeer> {
  const folder = mkdtempSync(join(tmpdir(), `frontdoor-${name}-`));
  const port = await freePort();
  const args =
    name === 'nginx'
      ? writeNginxFile(folder, { http: nginxHttp(port, originPort), isOneProcess: true })
      : ['-db', '-f', join(folder, 'haproxy.conf')];
  if (name === 'haproxy') writeFileSync(join(folder, 'haproxy.conf'), haproxyFile(port, originPort));
  const running: Running = startProcess(command, args);
  await until(
    `an answer of ${name}`,
    async () => (await httpGet(port, 'localhost', READY_PATH)).status,
    (status) => status === 200,
  );
  return {
    name,
    port,
    stop: async () => {
      await running.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function nginxHttp(port: number, originPort: number): string {
  return `  access_log off; client_header_timeout 1s; client_body_timeout 1s;
  upstream origin { server 127.0.0.1:${originPort}; keepalive 8; }
  server { listen 127.0.0.1:${port}; merge_slashes off;
    location / { proxy_pass http://origin; proxy_http_version 1.1; proxy_set_header Connection "";
      proxy_set_header Host $http_host; } }`;
}

function haproxyFile(port: number, originPort: number): string {
  return `global
  nbthread 1
defaults
  mode http
  timeout connect 2s
  timeout client 1s
  timeout http-request 1s
  timeout server 2s
frontend front
  bind 127.0.0.1:${port}
  default_backend origin
backend origin
  server origin 127.0.0.1:${originPort}
`;
}
