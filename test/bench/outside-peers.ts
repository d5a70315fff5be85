/**
 * What others would put in our place, in front of the same private service: rows that are built by hand, and tunnels. A
 * tunnel is run when it is in PATH or an environment variable names it (`CHISEL_BIN`, `FRPS_BIN`, `FRPC_BIN`,
 * `RATHOLE_BIN`), with encryption and otherwise its defaults. Missing ones are reported as skipped.
 */
import { generateKeyPairSync } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  findCommand,
  freePort,
  startProcess,
  untilListening,
  type Running,
} from '../support/child-process.ts';
import type { BenchRun } from './bench-run.ts';
import { untilAnswers } from './check-client.ts';
import { HAPROXY, hasHaproxy } from './haproxy.ts';
import { haproxyRows, nginxRows, relayRows, type StartRow } from './hops.ts';

/** The line to beat: what a team builds by hand. */
export const NGINX_PAIR = 'nginx–TLS–nginx';
/** The floor of two hops in Node. */
export const RELAY_PAIR = 'relay–TLS–relay';

/** The Host of requests to them all. */
export const PEER_HOST = 'peer.test';

/** CPU time of both sides is given under these names, for the product as `up` and `agent`. */
const CLIENT_SIDE = 'client side';
const SERVICE_SIDE = 'service side';

export interface OutsidePeer {
  readonly name: string;
  readonly port: number;
  readonly processes: ReadonlyMap<string, number>;
}

/** Ports of a tunnel's server: where its client comes to, and where it takes requests. */
interface TunnelPorts {
  readonly server: number;
  readonly door: number;
  readonly httpDoor: number;
  readonly service: number;
}

interface Tunnel {
  /** The commands of both sides. */
  readonly server: string;
  readonly client: string;
  /** The arguments of both sides; `file` writes a configuration and gives its path. */
  args(
    ports: TunnelPorts,
    file: (name: string, text: string) => string,
  ): { readonly server: readonly string[]; readonly client: readonly string[] };
  /** By name, what the tunnel is measured as. */
  doors(ports: TunnelPorts): Readonly<Record<string, number>>;
}

const TUNNELS: Readonly<Record<string, Tunnel>> = {
  chisel: {
    server: 'chisel',
    client: 'chisel',
    args: ({ server, door, service }) => ({
      server: ['server', '--host', '127.0.0.1', '--port', `${server}`, '--reverse'],
      client: ['client', `http://127.0.0.1:${server}`, `R:127.0.0.1:${door}:127.0.0.1:${service}`],
    }),
    doors: ({ door }) => ({ chisel: door }),
  },
  frp: {
    server: 'frps',
    client: 'frpc',
    args: ({ server, door, httpDoor, service }, file) => {
      const bind = 'bindAddr = "127.0.0.1"\nproxyBindAddr = "127.0.0.1"\n';
      const proxy = `localIP = "127.0.0.1"\nlocalPort = ${service}\n`;
      const proxies =
        `[[proxies]]\nname = "tcp"\ntype = "tcp"\nremotePort = ${door}\n${proxy}` +
        `[[proxies]]\nname = "http"\ntype = "http"\ncustomDomains = ["${PEER_HOST}"]\n${proxy}`;
      const address = `serverAddr = "127.0.0.1"\nserverPort = ${server}\n`;
      const ports = `bindPort = ${server}\nvhostHTTPPort = ${httpDoor}\n`;
      return {
        server: ['-c', file('frps.toml', `${bind}${ports}`)],
        client: ['-c', file('frpc.toml', `${address}${proxies}`)],
      };
    },
    doors: ({ door, httpDoor }) => ({ 'frp tcp': door, 'frp http': httpDoor }),
  },
  rathole: {
    server: 'rathole',
    client: 'rathole',
    args: ({ server, door, service }, file) => {
      const { x, d } = generateKeyPairSync('x25519').privateKey.export({ format: 'jwk' });
      const key = (value: string | undefined) => Buffer.from(value!, 'base64url').toString('base64');
      const side = (name: 'server' | 'client', place: string, noise: string, address: string): string =>
        `[${name}]\n${place} = "127.0.0.1:${server}"\ndefault_token = "benchmark"\n` +
        `[${name}.transport]\ntype = "noise"\n[${name}.transport.noise]\n${noise}\n` +
        `[${name}.services.private]\n${address}\n`;
      const address = {
        server: `bind_addr = "127.0.0.1:${door}"`,
        client: `local_addr = "127.0.0.1:${service}"`,
      };
      const noise = { server: `local_private_key = "${key(d)}"`, client: `remote_public_key = "${key(x)}"` };
      return {
        server: ['--server', file('server.toml', side('server', 'bind_addr', noise.server, address.server))],
        client: [
          '--client',
          file('client.toml', side('client', 'remote_addr', noise.client, address.client)),
        ],
      };
    },
    doors: ({ door }) => ({ 'rathole, Noise': door }),
  },
};

function peerCommand(name: string): string | undefined {
  return process.env[`${name.toUpperCase()}_BIN`] ?? findCommand(name);
}

/** Throws unless the service is there behind a port. */
export type UntilServes = (port: number) => Promise<void>;

async function startTunnel(
  run: BenchRun,
  name: string,
  service: number,
  untilServes: UntilServes,
): Promise<OutsidePeer[]> {
  const tunnel = TUNNELS[name]!;
  const commands = { server: peerCommand(tunnel.server), client: peerCommand(tunnel.client) };
  if (commands.server === undefined || commands.client === undefined) {
    run.skip(name, `neither in PATH nor named by ${tunnel.server.toUpperCase()}_BIN`);
    return [];
  }
  const ports = {
    server: await freePort(),
    door: await freePort(),
    httpDoor: await freePort(),
    service,
  };
  const folder = join(run.folder, name);
  mkdirSync(folder, { recursive: true });
  const args = tunnel.args(ports, (file, text) => {
    const path = join(folder, file);
    writeFileSync(path, text, { mode: 0o600 });
    return path;
  });
  const start = (command: string, list: readonly string[]): Running =>
    run.keep(startProcess(command, list, {}, folder));
  const server = start(commands.server, args.server);
  // A client of frp gives up when its server is not there yet.
  await untilListening(name, server, ports.server);
  const client = start(commands.client, args.client);
  const doors = Object.entries(tunnel.doors(ports));
  for (const [door, port] of doors) {
    try {
      await untilServes(port);
    } catch (error) {
      throw new Error(`${door} does not serve: ${server.tail()} ${client.tail()}`, { cause: error });
    }
  }
  const processes = new Map([
    [CLIENT_SIDE, server.child.pid!],
    [SERVICE_SIDE, client.child.pid!],
  ]);
  return doors.map(([door, port]) => ({ name: door, port, processes }));
}

/** Starts those of these tunnels that there are; they end with the run. One that does not get ready is skipped. */
export async function startTunnels(
  run: BenchRun,
  names: readonly string[],
  service: number,
  untilServes: UntilServes,
): Promise<OutsidePeer[]> {
  const peers: OutsidePeer[] = [];
  for (const name of names) {
    const started = await run.attempt(name, () => startTunnel(run, name, service, untilServes));
    peers.push(...(started ?? []));
  }
  return peers;
}

/** Starts those that there are, in front of a service that speaks HTTP; they end with the run. */
export async function startOutsidePeers(run: BenchRun, servicePort: number): Promise<readonly OutsidePeer[]> {
  const peers: OutsidePeer[] = [];
  const addRow = async (name: string, rows: StartRow, length: 1 | 2): Promise<void> => {
    const row = await rows(length, servicePort);
    const [first, last] = row.map(({ pid }) => pid);
    const processes = new Map([[CLIENT_SIDE, first!]]);
    if (last !== undefined) processes.set(SERVICE_SIDE, last);
    peers.push({ name, port: row[0]!.port, processes });
  };
  await addRow(NGINX_PAIR, await nginxRows(run), 2);
  await addRow(RELAY_PAIR, await relayRows(run), 2);
  if (hasHaproxy()) {
    const rows = await haproxyRows(run, 'http');
    await addRow(HAPROXY, rows, 1);
    await addRow(`${HAPROXY}–TLS–${HAPROXY}`, rows, 2);
  } else run.skip(HAPROXY, 'not in PATH');
  const untilServes = (port: number): Promise<void> => untilAnswers({ port, host: PEER_HOST });
  peers.push(...(await startTunnels(run, Object.keys(TUNNELS), servicePort, untilServes)));
  return peers;
}
