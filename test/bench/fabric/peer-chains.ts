/** Chains that are not ours: a plain byte relay in Node, haproxy in TCP mode, OpenZiti's routers. */
import { join } from 'node:path';
import { makeTestAuthority } from '../../support/certificates.ts';
import { OpenZitiMesh } from '../../interop/openziti-mesh.ts';
import { mkdirSync, writeFileSync } from 'node:fs';
import { freePort, until, type Running } from '../bench-process.ts';
import { HAPROXY, hasHaproxy, startHaproxy } from '../haproxy.ts';
import { startScript } from '../script-process.ts';
import { chainOf, GO, RELAY, type Chains } from './chain.ts';

/** A hop of a chain: a program that accepts plain or TLS connections at `port` and dials plain or TLS ones. */
interface Hop {
  readonly port: number;
  readonly pid: number;
  stop(): Promise<void>;
}

type StartHop = (acceptTls: boolean, dialTls: boolean, targetPort: number) => Promise<Hop>;

/** One hop alone, and three in a row with TLS between them. */
async function startHops(maker: string, servicePort: number, start: StartHop): Promise<Chains> {
  const single = await start(false, false, servicePort);
  const last = await start(true, false, servicePort);
  const middle = await start(true, true, last.port);
  const first = await start(false, true, middle.port);
  const row = [first, middle, last];
  return {
    chains: [
      chainOf(maker, 1, single.port, [single.pid]),
      chainOf(
        maker,
        3,
        first.port,
        row.map(({ pid }) => pid),
      ),
    ],
    stop: async () => void (await Promise.all([single, ...row].map((hop) => hop.stop()))),
  };
}

export async function startRelays(servicePort: number): Promise<Chains> {
  const identity = await (await makeTestAuthority()).issue('localhost');
  return startHops(RELAY, servicePort, async (acceptTls, dialTls, targetPort) => {
    const argument = { acceptTls, dialTls, targetPort, ...identity };
    const { line, pid, stop } = await startScript('fabric/relay-process.ts', argument);
    return { port: Number(line), pid, stop };
  });
}

/** Undefined where it is not installed. A process for each hop, of one thread each, as routers would be. */
export async function startHaproxyChains(
  runFolder: string,
  servicePort: number,
): Promise<Chains | undefined> {
  if (!hasHaproxy()) return undefined;
  const folder = join(runFolder, HAPROXY);
  mkdirSync(folder);
  const { cert, key } = await (await makeTestAuthority()).issue('localhost');
  const pem = join(folder, 'both.pem');
  writeFileSync(pem, `${cert}\n${key}`, { mode: 0o600 });
  return startHops(HAPROXY, servicePort, async (acceptTls, dialTls, targetPort) => {
    const port = await freePort();
    const sections = `defaults
  mode tcp
  timeout connect 5s
  timeout client 10m
  timeout server 10m
listen hop
  bind 127.0.0.1:${port}${acceptTls ? ` ssl crt ${pem}` : ''}
  server next 127.0.0.1:${targetPort}${dialTls ? ' ssl verify none' : ''}
`;
    const running: Running = await startHaproxy(folder, port, sections, 'maxconn 8000');
    return { port, pid: running.child.pid!, stop: () => running.stop('SIGTERM', 1_000) };
  });
}

/** The same shapes as ours, at OpenZiti's own controller. */
export async function startGoRouters(binary: string, servicePort: number): Promise<Chains> {
  const mesh = await OpenZitiMesh.start(binary);
  try {
    const ports = {
      one: await freePort(),
      door: await freePort(),
      middle: await freePort(),
      last: await freePort(),
    };
    await mesh.goRouter('one', { proxy: { port: ports.one, service: 'one' } });
    await mesh.goRouter('last', { linkListener: { port: ports.last, groups: ['last'] } });
    await mesh.goRouter('middle', {
      linkListener: { port: ports.middle, groups: ['middle'] },
      dialGroups: ['last'],
    });
    await mesh.goRouter('first', {
      dialGroups: ['middle'],
      proxy: { port: ports.door, service: 'three' },
    });
    await mesh.service('one', 'one', servicePort);
    await mesh.service('three', 'last', servicePort);
    await until('two links', 30_000, async () => {
      const links = await mesh.links();
      if (links.length < 2) throw new Error(`${links.length} links`);
    });
    const pidsOf = (...names: string[]): number[] =>
      names.map((name) => mesh.network.processes.get(`ziti ${name}`)!);
    const chains = [
      chainOf(GO, 1, ports.one, pidsOf('one')),
      chainOf(GO, 3, ports.door, pidsOf('first', 'middle', 'last')),
    ];
    return { chains, stop: () => mesh.stop() };
  } catch (error) {
    await mesh.stop();
    throw error;
  }
}
