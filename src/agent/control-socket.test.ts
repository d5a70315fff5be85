import assert from 'node:assert/strict';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, test } from 'node:test';
import { FrontdoorError, silentLog } from '#base';
import { closeOf } from '../../test/support/socket-end.ts';
import { ask } from './ask-agent.ts';
import { openControlSocket, type ControlSocketOptions } from './control-socket.ts';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

function socketPath(): string {
  const folder = mkdtempSync(join(tmpdir(), 'agent-socket-'));
  cleanups.push(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, 'a.sock');
}

async function open(options: Partial<ControlSocketOptions> = {}): Promise<string> {
  const path = options.path ?? socketPath();
  const socket = await openControlSocket({
    path,
    log: silentLog,
    handle: async (request) => ({ asked: request.op, stopping: true }),
    ...options,
  });
  cleanups.push(() => socket.close(100));
  return path;
}

/** Sends the bytes and reads until the agent closes. */
async function exchange(path: string, bytes: string | Buffer, end = true): Promise<string> {
  const socket = connect({ path, allowHalfOpen: end });
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  socket.on('error', () => {});
  if (end) socket.end(bytes);
  else socket.write(bytes);
  await closeOf(socket);
  return Buffer.concat(chunks).toString();
}

test('only its owner may connect', { timeout: 60_000 }, async () => {
  assert.equal(statSync(await open()).mode & 0o777, 0o600);
});

test(
  'requests of one connection are answered in order, even when they come in one piece',
  { timeout: 60_000 },
  async () => {
    const gates: (() => void)[] = [];
    const path = await open({
      handle: (request) =>
        new Promise((resolve) => {
          gates.push(() => resolve({ asked: request.op }));
          setImmediate(() => gates.shift()?.());
        }),
    });
    const answers = await exchange(path, '{"v":1,"id":1,"op":"status"}\n{"v":1,"id":2,"op":"version"}\n');
    assert.deepEqual(
      answers
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line)),
      [
        { v: 1, id: 1, ok: true, result: { asked: 'status' } },
        { v: 1, id: 2, ok: true, result: { asked: 'version' } },
      ],
    );
  },
);

test('an invalid request gets a refusal, and the connection stays open', { timeout: 60_000 }, async () => {
  const answers = await exchange(
    await open(),
    'GET / HTTP/1.1\r\n[]\n{"v":9,"id":3,"op":"status"}\n{"v":1,"id":4,"op":"status"}\n',
  );
  const lines = answers
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { id: number; ok: boolean });
  assert.deepEqual(
    lines.map(({ id, ok }) => [id, ok]),
    [
      [0, false],
      [0, false],
      [3, false],
      [4, true],
    ],
  );
});

test(
  'a line that never ends and a flood of lines end that connection only',
  { timeout: 60_000 },
  async () => {
    const path = await open({ handle: () => new Promise(() => {}) });
    const other = connect({ path });
    cleanups.push(() => other.destroy());
    await once(other, 'connect');
    assert.match(await exchange(path, Buffer.alloc(70_000, 'x'), false), /too long/);
    assert.match(
      await exchange(path, '{"v":1,"id":1,"op":"status"}\n'.repeat(100), false),
      /too long or too many/,
    );
    assert.equal(other.destroyed, false);
  },
);

test('a silent connection is closed, a waiting one is not', { timeout: 60_000 }, async () => {
  const { promise, resolve } = Promise.withResolvers<unknown>();
  // Longer than this process may be kept from reading what was asked.
  const path = await open({ handle: () => promise, idleTimeoutMs: 2_000 });
  const waiting = ask(path, { op: 'stop' });
  waiting.catch(() => {});
  assert.equal(await exchange(path, '{"v":1', false), '');
  resolve({ stopping: true });
  assert.deepEqual(await waiting, { stopping: true });
});

test('connections above the limit are refused', { timeout: 60_000 }, async () => {
  const path = await open({ maxConnections: 2 });
  const held: Socket[] = [connect({ path }), connect({ path })];
  cleanups.push(() => held.forEach((each) => each.destroy()));
  await Promise.all(held.map((each) => once(each, 'connect')));
  await assert.rejects(ask(path, { op: 'stop' }));
  held[0]?.destroy();
  for (;;) {
    try {
      assert.deepEqual(await ask(path, { op: 'stop' }), { stopping: true });
      break;
    } catch {
      await new Promise((done) => setImmediate(done));
    }
  }
});

test('an unexpected failure shows no details, an expected one its message', { timeout: 60_000 }, async () => {
  let error: Error = new Error('secret path /x');
  const path = await open({
    handle: async () => {
      throw error;
    },
  });
  await assert.rejects(ask(path, { op: 'stop' }), (thrown: Error) => !thrown.message.includes('secret'));
  error = new FrontdoorError('conflict', 'conflict', 'name is taken');
  await assert.rejects(ask(path, { op: 'stop' }), /name is taken/);
});

test(
  'a socket left by a dead agent is replaced; a living one and a file are not',
  { timeout: 60_000 },
  async () => {
    const path = socketPath();
    const dead = createServer();
    dead.listen(path);
    await once(dead, 'listening');
    await assert.rejects(open({ path }), /another program listens/);
    // Closing removes the file, as a killed process would not: put a socket nobody serves in its place.
    dead.close();
    assert.equal(existsSync(path), false);
    writeFileSync(path, 'a file');
    await assert.rejects(open({ path }), /is not a socket/);
    rmSync(path);
    await open({ path });
    chmodSync(path, 0o600);
    assert.deepEqual(await ask(path, { op: 'stop' }), { stopping: true });
  },
);
