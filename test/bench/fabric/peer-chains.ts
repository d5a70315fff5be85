/** Chains that are not ours: a plain byte relay in Node, haproxy in TCP mode, OpenZiti's routers. */
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ChildProcess } from 'node:child_process';
import { makeTestAuthority } from '../../support/certificates.ts';
import { OpenZitiMesh } from '../../interop/openziti-mesh.ts';
import { findCommand, freePort, startProcess, until, type Running } from '../bench-process.ts';
import { startScript, stopScript } from './bench-load.ts';
import { GO, HAPROXY, RELAY, type Chain, type Chains } from './chain.ts';

export async function startRelays(servicePort: number): Promise<Chains> {
  const identity = await (await makeTestAuthority()).issue('localhost');
  const children: ChildProcess[] = [];
  const relay = async (acceptTls: boolean, dialTls: boolean, targetPort: number): Promise<number> => {
    const argument = JSON.stringify({ acceptTls, dialTls, targetPort, ...identity });
    const { child, line } = await startScript('./relay-process.ts', argument);
    children.unshift(child);
    return Number(line);
  };
  const single = await relay(false, false, servicePort);
  const singlePids = [children[0]!.pid!];
  const last = await relay(true, false, servicePort);
  const middle = await relay(true, true, last);
  const first = await relay(false, true, middle);
  const pids = children.slice(0, 3).map(({ pid }) => pid!);
  return {
    chains: [
      { maker: RELAY, hops: 1, port: single, pids: singlePids },
      { maker: RELAY, hops: 3, port: first, pids },
    ],
    stop: async () => void (await Promise.all(children.map(stopScript))),
  };
}

/** Undefined: haproxy is not there. Three processes of one thread each, as three routers would be. */
export async function startHaproxy(servicePort: number): Promise<Chains | undefined> {
  const command = findCommand('haproxy');
  if (command === undefined) return undefined;
  const folder = mkdtempSync(join(tmpdir(), 'frontdoor-haproxy-'));
  const { cert, key } = await (await makeTestAuthority()).issue('localhost');
  const pem = join(folder, 'both.pem');
  writeFileSync(pem, `${cert}\n${key}`, { mode: 0o600 });
  const running: Running[] = [];
  const hop = async (acceptTls: boolean, dialTls: boolean, targetPort: number): Promise<number> => {
    const port = await freePort();
    const file = join(folder, `${port}.cfg`);
    writeFileSync(
      file,
      `global
  nbthread 1
  maxconn 8000
defaults
  mode tcp
  timeout connect 5s
  timeout client 10m
  timeout server 10m
listen hop
  bind 127.0.0.1:${port}${acceptTls ? ` ssl crt ${pem}` : ''}
  server next 127.0.0.1:${targetPort}${dialTls ? ' ssl verify none' : ''}
`,
    );
    const hop = startProcess(command, ['-f', file, '-db']);
    running.unshift(hop);
    await untilListening(hop, port);
    return port;
  };
  const single = await hop(false, false, servicePort);
  const singlePids = [running[0]!.child.pid!];
  const first = await hop(false, true, await hop(true, true, await hop(true, false, servicePort)));
  const pids = running.slice(0, 3).map(({ child }) => child.pid!);
  return {
    chains: [
      { maker: HAPROXY, hops: 1, port: single, pids: singlePids },
      { maker: HAPROXY, hops: 3, port: first, pids },
    ],
    stop: async () => {
      for (const each of running) await each.stop('SIGTERM', 1_000);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function untilListening(hop: Running, port: number): Promise<void> {
  await until('a listening haproxy', 10_000, async () => {
    if (hop.child.exitCode !== null) throw new Error(hop.tail());
    const socket = connect({ port, host: '127.0.0.1' });
    await once(socket, 'connect');
    socket.destroy();
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
    const chains: Chain[] = [
      { maker: GO, hops: 1, port: ports.one, pids: pidsOf('one') },
      { maker: GO, hops: 3, port: ports.door, pids: pidsOf('first', 'middle', 'last') },
    ];
    return { chains, stop: () => mesh.stop() };
  } catch (error) {
    await mesh.stop();
    throw error;
  }
}
