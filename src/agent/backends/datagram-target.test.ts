import assert from 'node:assert/strict';
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { test, type TestContext } from 'node:test';
import { parseAllowedNetworks, type AllowedNetwork } from '#domain';
import type { HostLookup } from '#net/names';
import { within } from '../../../test/support/deadline.ts';
import { connectDatagrams, DatagramDialer, type DatagramTargetOptions } from './datagram-target.ts';
import type { DatagramSide } from '../datagram-side.ts';
import { parseTarget } from '../target-address.ts';
import { backendFor } from '../testing/backend-parts.ts';
import { TargetHealthMonitor } from './target-health.ts';
import { TargetResolver } from './target-resolver.ts';

const HOST = '127.0.0.1';

async function openService(t: TestContext): Promise<Socket> {
  const socket = createSocket('udp4');
  socket.bind(0, HOST);
  await once(socket, 'listening');
  t.after(() => void socket.close());
  return socket;
}

function optionsFor(
  text: string,
  more: { readonly only?: readonly AllowedNetwork[]; readonly lookup?: HostLookup } = {},
): DatagramTargetOptions {
  const parsed = parseTarget(text);
  assert.ok('target' in parsed && 'host' in parsed.target);
  const resolver = new TargetResolver(more.lookup);
  return { target: parsed.target, only: more.only, resolver, timeoutMs: 5_000, dialer: new DatagramDialer() };
}

function notFound(): NodeJS.ErrnoException {
  return Object.assign(new Error('getaddrinfo ENOTFOUND'), { code: 'ENOTFOUND', syscall: 'getaddrinfo' });
}

/** Connects, and resolves with the side or with the failure's code. */
function outcomeOf(options: DatagramTargetOptions): Promise<DatagramSide | string> {
  const outcome = new Promise<DatagramSide | string>((resolve) =>
    connectDatagrams(options, resolve, ({ code }) => resolve(code)),
  );
  return within('the outcome', outcome);
}

test('a target is given whole datagrams, and answers of nobody else are taken', async (t) => {
  const [service, stranger] = [await openService(t), await openService(t)];
  const side = await outcomeOf(optionsFor(`udp://localhost:${service.address().port}`));
  assert.ok(typeof side === 'object');
  t.after(() => side.abort());
  const received: string[] = [];
  const answered = new Promise<void>((resolve) => {
    side.onData = (datagram) => {
      received.push(String(datagram));
      if (received.length === 2) resolve();
      return true;
    };
  });
  side.write(Buffer.from('question'));
  const [question, { port }] = (await within('the question', once(service, 'message'))) as [
    Buffer,
    { port: number },
  ];
  assert.equal(String(question), 'question');
  const sent = new Promise<unknown>((resolve) => stranger.send('forged', port, HOST, resolve));
  await sent;
  service.send('first', port, HOST);
  service.send('second', port, HOST);
  await within('both answers', answered);
  assert.deepEqual(received, ['first', 'second']);
});

test('a target that the operator did not choose is reached only inside of what is allowed', async (t) => {
  const { port } = (await openService(t)).address();
  const only = parseAllowedNetworks('--allow-target', [`${HOST}/32:${port}`]);
  const side = await outcomeOf(optionsFor(`udp://localhost:${port}`, { only }));
  assert.ok(typeof side === 'object');
  side.abort();
  assert.equal(await outcomeOf(optionsFor(`udp://127.0.0.2:${port}`, { only })), 'not-allowed');
  const lookup: HostLookup = (_host, _options, callback) =>
    callback(null, [{ address: '127.0.0.3', family: 4 }]);
  assert.equal(await outcomeOf(optionsFor(`udp://moved.example:${port}`, { only, lookup })), 'not-allowed');
});

test('a name that does not resolve is refused, and a cancelled dial reports nothing', async () => {
  assert.equal(await outcomeOf(optionsFor('udp://no-such-host.invalid:53')), 'unresolved');
  const answers: ((error: NodeJS.ErrnoException | null) => void)[] = [];
  const lookup: HostLookup = (_host, _options, callback) => answers.push((error) => callback(error));
  const options = optionsFor('udp://away.example:53', { lookup });
  const outcome = outcomeOf(options);
  const reports: unknown[] = [];
  const cancel = connectDatagrams(
    options,
    (side) => reports.push(side),
    (failure) => reports.push(failure),
  );
  cancel();
  answers[0]!(notFound());
  assert.equal(await outcome, 'unresolved');
  assert.deepEqual(reports, []);
});

test('the health of a service of datagrams is that of its address', async (t) => {
  let isKnown = false;
  const lookup: HostLookup = (_host, _options, callback) =>
    void setImmediate(() => {
      if (isKnown) callback(null, [{ address: HOST, family: 4 }]);
      else callback(notFound());
    });
  const backend = backendFor('udp://service.example:53', { resolver: new TargetResolver(lookup) });
  const monitor = new TargetHealthMonitor({ intervalMs: 20 });
  t.after(() => monitor.close());
  const verdicts: unknown[][] = [];
  const passed = new Promise<void>((resolve) => {
    monitor.watch(backend, (isPassing, reason) => {
      verdicts.push([isPassing, reason]);
      isKnown = true;
      if (isPassing) resolve();
    });
  });
  await within('the service to pass', passed);
  assert.deepEqual(verdicts, [
    [false, 'the name service.example does not resolve (ENOTFOUND)'],
    [true, undefined],
  ]);
});
