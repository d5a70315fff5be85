import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { after, test } from 'node:test';
import { parseAllowedNetwork } from '#domain';
import { until } from '../../../test/support/deadline.ts';
import { freePort } from '../../../test/support/free-port.ts';
import { closerOf } from '../../../test/support/server-sockets.ts';
import { backendFor, backendParts } from '../testing/backend-parts.ts';
import type { Backend, BackendParts } from './backend.ts';
import { TargetHealthMonitor, type HealthWatch } from './target-health.ts';

interface Verdict {
  readonly passed: boolean;
  readonly reason: string | undefined;
}

/** Verdicts as they come, each awaited once. */
function watching(backend: Backend): {
  next: () => Promise<Verdict>;
  watch: HealthWatch;
  monitor: TargetHealthMonitor;
} {
  const monitor = new TargetHealthMonitor({ intervalMs: 50 });
  const seen: Verdict[] = [];
  const waiting: ((verdict: Verdict) => void)[] = [];
  const watch = monitor.watch(backend, (passed, reason) => {
    const waiter = waiting.shift();
    if (waiter === undefined) seen.push({ passed, reason });
    else waiter({ passed, reason });
  });
  const next = (): Promise<Verdict> =>
    new Promise((resolve) => {
      const verdict = seen.shift();
      if (verdict === undefined) waiting.push(resolve);
      else resolve(verdict);
    });
  return { next, watch, monitor };
}

function service(port: number, closeTimeoutMs?: number): Backend {
  const { times } = backendParts();
  const changes: Partial<BackendParts> =
    closeTimeoutMs === undefined ? {} : { times: { ...times, closeTimeoutMs } };
  return backendFor(`http://127.0.0.1:${port}`, changes);
}

const closers: (() => void)[] = [];
after(() => {
  for (const close of closers) close();
});

async function listen(
  server: Pick<Server, 'listen' | 'address' | 'close' | 'on'>,
  port = 0,
): Promise<number> {
  closers.push(closerOf(server));
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

test('a service that stops and comes back is seen to', { timeout: 60_000 }, async () => {
  const http = createHttpServer();
  const port = await listen(http, await freePort());
  const { next, monitor } = watching(service(port));
  assert.deepEqual(await next(), { passed: true, reason: undefined });
  http.close();
  const down = await next();
  assert.equal(down.passed, false);
  assert.match(down.reason ?? '', /connection refused by http:\/\/127\.0\.0\.1/);
  const again = createHttpServer();
  await listen(again, port);
  assert.equal((await next()).passed, true);
  monitor.close();
  again.close();
});

test('a frozen process is detected, and so is its return', { timeout: 60_000 }, async (t) => {
  const program = `require('node:http').createServer((q, r) => r.end('x')).listen(0, '127.0.0.1', function () {
    console.log(this.address().port); }).on('connection', (socket) => socket.on('close', () => console.log('closed')));`;
  const child = spawn(process.execPath, ['-e', program], { stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    const [line] = (await once(child.stdout, 'data')) as [Buffer];
    const { next, monitor } = watching(service(Number(line.toString()), 400));
    t.after(() => monitor.close());
    assert.equal((await next()).passed, true);
    // It is known to close connections that we end: the first look may have found it too slow.
    let closed = 0;
    child.stdout.on('data', (bytes: Buffer) => (closed += bytes.toString().split('closed').length - 1));
    await until(
      'looks',
      () => closed,
      (count) => count >= 3,
    );
    child.kill('SIGSTOP');
    const frozen = await next();
    assert.equal(frozen.passed, false);
    assert.match(frozen.reason ?? '', /does not respond/);
    child.kill('SIGCONT');
    assert.equal((await next()).passed, true);
  } finally {
    child.kill('SIGKILL');
  }
});

test('a service that keeps half-open connections stays healthy', { timeout: 60_000 }, async () => {
  let looks = 0;
  let enough: () => void = () => {};
  const looked = new Promise<void>((resolve) => (enough = resolve));
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    socket.on('error', () => {});
    socket.resume();
    looks += 1;
    if (looks === 6) enough();
  });
  const port = await listen(server);
  const { next, watch, monitor } = watching(service(port, 30));
  assert.equal((await next()).passed, true);
  await looked;
  assert.equal(watch.passed, true);
  monitor.close();
  server.close();
});

test('a target that is not allowed is not connected to', { timeout: 60_000 }, async () => {
  let connections = 0;
  const server = createServer(() => (connections += 1));
  const port = await listen(server);
  const parsed = parseAllowedNetwork('--allow-target', '10.0.0.0/8:*');
  assert.ok('allowed' in parsed);
  // A name may have any address, so that it is looked up first.
  const allowing = { allowTargets: [parsed.allowed] };
  const { next, monitor } = watching(backendFor(`http://localhost:${port}`, allowing, false));
  const verdict = await next();
  assert.equal(verdict.passed, false);
  assert.match(verdict.reason ?? '', /--allow-target/);
  monitor.close();
  server.close();
  await once(server, 'close');
  assert.equal(connections, 0);
});

test(
  'shares of one target share its looks, and nothing is left after the last',
  { timeout: 60_000 },
  async () => {
    let connections = 0;
    const server = createServer((socket) => {
      connections += 1;
      socket.resume();
      socket.on('error', () => {});
    });
    const port = await listen(server);
    const monitor = new TargetHealthMonitor({ intervalMs: 60_000 });
    const verdicts: boolean[] = [];
    const watches: HealthWatch[] = [];
    await new Promise<void>((resolve) => {
      for (let i = 0; i < 50; i += 1) {
        watches.push(
          monitor.watch(service(port), (passed) => {
            verdicts.push(passed);
            if (verdicts.length === 50) resolve();
          }),
        );
      }
    });
    assert.equal(connections, 1);
    for (const watch of watches) watch.close();
    server.close();
    await once(server, 'close');
  },
);
