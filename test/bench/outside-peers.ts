/** Other programs in front of the same private service, when they are in PATH. Missing ones are reported as skipped. */
import { join } from 'node:path';
import { findCommand, freePort, startProcess } from './bench-process.ts';
import type { BenchRun } from './bench-run.ts';
import { HAPROXY, startHaproxy } from './haproxy.ts';
import { untilServed } from './product.ts';

export interface OutsidePeer {
  readonly name: string;
  readonly port: number;
  readonly processes: ReadonlyMap<string, number>;
  stop(): Promise<void>;
}

type Start = (command: string, folder: string, servicePort: number) => Promise<OutsidePeer>;

const STARTERS: Readonly<Record<string, Start>> = { [HAPROXY]: startHaproxyPeer, chisel: startChisel };

/** Looked for and named, but not set up by this benchmark. */
const NAMED_ONLY = ['frps', 'rathole', 'zrok'];

async function startHaproxyPeer(_command: string, folder: string, servicePort: number): Promise<OutsidePeer> {
  const port = await freePort();
  const sections = `defaults
  mode http
  timeout connect 5s
  timeout client 60s
  timeout server 60s
  http-reuse always
frontend front
  bind 127.0.0.1:${port}
  default_backend private
backend private
  server private 127.0.0.1:${servicePort}
`;
  const running = await startHaproxy(folder, port, sections);
  const processes = new Map([[HAPROXY, running.child.pid!]]);
  return { name: HAPROXY, port, processes, stop: () => running.stop() };
}

async function startChisel(command: string, _folder: string, servicePort: number): Promise<OutsidePeer> {
  const serverPort = await freePort();
  const port = await freePort();
  const serverArgs = ['server', '--host', '127.0.0.1', '--port', `${serverPort}`, '--reverse'];
  const server = startProcess(command, serverArgs);
  const remote = `R:127.0.0.1:${port}:127.0.0.1:${servicePort}`;
  const client = startProcess(command, ['client', `http://127.0.0.1:${serverPort}`, remote]);
  await untilServed(port, 'chisel', '/small');
  return {
    name: 'chisel',
    port,
    processes: new Map([
      ['chisel server', server.child.pid!],
      ['chisel client', client.child.pid!],
    ]),
    stop: async () => {
      await client.stop();
      await server.stop();
    },
  };
}

/** Starts those that are in PATH; they end with the run. */
export async function startOutsidePeers(run: BenchRun, servicePort: number): Promise<readonly OutsidePeer[]> {
  const peers: OutsidePeer[] = [];
  for (const [name, start] of Object.entries(STARTERS)) {
    const command = findCommand(name);
    if (command === undefined) {
      run.skip(name, 'not in PATH');
      continue;
    }
    const peer = await start(command, join(run.folder, name), servicePort);
    run.defer(() => peer.stop());
    peers.push(peer);
  }
  for (const name of NAMED_ONLY)
    run.skip(name, findCommand(name) === undefined ? 'not in PATH' : 'no set-up in this benchmark');
  return peers;
}
