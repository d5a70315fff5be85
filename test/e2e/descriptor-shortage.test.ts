// A real shortage of file descriptors: a process with few of them, and more clients than it can accept.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { connect, type Socket } from 'node:net';
import process from 'node:process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { test } from 'node:test';
import { until } from '../support/deadline.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const LIMIT = 64;
/** Listens, watches its descriptors, and writes its port and the lines of its log. */
const PROGRAM = `
  import { createServer } from 'node:net';
  import { listenOn, portOf, watchDescriptors } from '#net';
  const write = (level) => (fields, message) => console.log(level + ' ' + message.split(':')[0]);
  const log = { debug() {}, info() {}, warn: write('warn'), error: write('error'), child: () => log };
  const server = createServer((socket) => socket.on('error', () => {}));
  await listenOn(server, { host: '127.0.0.1', port: 0 }, log);
  watchDescriptors({ log });
  console.log('port ' + portOf(server));
`;

test(
  'a shortage is one error of the log for hundreds of refused clients, and over when they are gone',
  { skip: process.platform !== 'linux' },
  async (t) => {
    const command = `ulimit -n ${LIMIT}; exec "$0" --input-type=module -e "$1"`;
    const child = spawn('sh', ['-c', command, process.execPath, PROGRAM], {
      cwd: ROOT,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    t.after(() => child.kill('SIGKILL'));
    const lines: string[] = [];
    createInterface({ input: child.stdout }).on('line', (line) => lines.push(line));
    const has = (start: string) => (): boolean => lines.some((line) => line.startsWith(start));
    await until('its port', has('port '), Boolean);
    assert.ok(has('warn few file descriptors')());
    const port = Number(lines.find((line) => line.startsWith('port '))!.slice('port '.length));
    const sockets: Socket[] = [];
    t.after(() => sockets.forEach((socket) => socket.destroy()));
    const flood = (): void => {
      for (let n = 0; n < 3 * LIMIT; n += 1) sockets.push(connect(port, '127.0.0.1').on('error', () => {}));
    };
    flood();
    await until('the error', has('error no file descriptor is left'), Boolean);
    flood();
    for (const socket of sockets) socket.destroy();
    await until('the end', has('warn file descriptors are available again'), Boolean);
    assert.equal(lines.filter((line) => line.startsWith('error')).length, 1);
  },
);
