/** Other programs to the same private service, when they are in PATH. What is not there is named, not forgotten. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findCommand, freePort, startProcess } from './bench-process.ts';
import { untilServed } from './product.ts';

export interface OutsidePeer {
  readonly name: string;
  readonly port: number;
  readonly processes: ReadonlyMap<string, number>;
  stop(): Promise<void>;
}

type Start = (command: string, folder: string, servicePort: number) => Promise<OutsidePeer>;

const STARTERS: Readonly<Record<string, Start>> = { haproxy: startHaproxy, chisel: startChisel };

/** Looked for and named, but not set up by this benchmark. */
const NAMED_ONLY = ['frps', 'rathole', 'zrok'];

async function startHaproxy(command: string, folder: string, servicePort: number): Promise<OutsidePeer> {
  const port = await freePort();
  const file = join(folder, 'haproxy.cfg');
  writeFileSync(
    file,
    `global
  nbthread 1
  maxconn 8192
defaults
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
`,
  );
  const running = startProcess(command, ['-db', '-f', file]);
  await untilServed(port, 'haproxy', '/small');
  return {
    name: 'haproxy',
    port,
    processes: new Map([['haproxy', running.child.pid!]]),
    stop: () => running.stop(),
  };
}

async function startChisel(command: string, _folder: string, servicePort: number): Promise<OutsidePeer> {
  const serverPort = await freePort();
  const port = await freePort();
  const server = startProcess(command, [
    'server',
    '--host',
    '127.0.0.1',
    '--port',
    `${serverPort}`,
    '--reverse',
  ]);
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

/** Starts those that are in PATH; `skipped` says what was not measured and why. */
export async function startOutsidePeers(
  folder: string,
  servicePort: number,
): Promise<{ readonly peers: readonly OutsidePeer[]; readonly skipped: string[] }> {
  const peers: OutsidePeer[] = [];
  const skipped: string[] = [];
  for (const [name, start] of Object.entries(STARTERS)) {
    const command = findCommand(name);
    if (command === undefined) {
      skipped.push(`${name} (not in PATH)`);
      continue;
    }
    mkdirSync(join(folder, name), { recursive: true });
    peers.push(await start(command, join(folder, name), servicePort));
  }
  for (const name of NAMED_ONLY) {
    skipped.push(
      `${name} (${findCommand(name) === undefined ? 'not in PATH' : 'no set-up in this benchmark'})`,
    );
  }
  return { peers, skipped };
}
