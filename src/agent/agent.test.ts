import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, mock, test } from 'node:test';
import { FrontdoorError, silentLog } from '#base';
import { uncaughtListener } from '#net';
import { until } from '../../test/support/deadline.ts';
import { freePort } from '../../test/support/free-port.ts';
import { startAgent, type AgentOptions } from './agent.ts';
import { AgentTraffic } from './agent-traffic.ts';
import { ask } from './ask-agent.ts';
import { MemoryNetwork } from './testing/memory-network.ts';
import { cleanUp, cleanups, folder, get, hello, serve, world } from './testing/agent-world.ts';

const PUBLIC = { shareMode: 'public', backendMode: 'proxy' } as const;

afterEach(cleanUp);

test(
  'a share command makes a share that can be dialed, and status shows it',
  { timeout: 60_000 },
  async () => {
    const { agent, network } = await world();
    const target = await hello();
    const { share, readiness } = await ask(agent.socketPath, {
      op: 'share',
      mode: 'public',
      target,
      name: 'app',
      grants: [],
    });
    assert.deepEqual(readiness, { ready: true });
    assert.deepEqual(share.endpoints, ['http://app.share.localhost']);
    assert.match(await get(await network.dial('app')), /hello$/);
    const status = await ask(agent.socketPath, { op: 'status' });
    assert.equal(status.version, '9.9.9');
    assert.equal(status.controlPlane, 'connected');
    assert.deepEqual(
      status.shares.map(({ token, status: measured, hosting, healthy }) => ({
        token,
        measured,
        hosting,
        healthy,
      })),
      [{ token: 'app', measured: 'DEPLOYED', hosting: 'bound', healthy: true }],
    );
    assert.ok(network.calls.includes('reportVersion 9.9.9'));
  },
);

test(
  'a share whose service is down reports that at once, and serves when the service starts',
  { timeout: 60_000 },
  async () => {
    const { agent, network } = await world();
    const port = await freePort();
    const target = `http://127.0.0.1:${port}`;
    const { readiness } = await ask(agent.socketPath, {
      op: 'share',
      mode: 'public',
      target,
      name: 'app',
      grants: [],
    });
    assert.ok(!readiness.ready);
    assert.match(readiness.reason, /connection refused by http:\/\/127\.0\.0\.1/);
    await assert.rejects(network.dial('app'), /connection refused/);
    const http = createHttpServer((_request, response) => response.end('late'));
    http.listen(port, '127.0.0.1');
    cleanups.push(() => http.close());
    await network.until(() => network.hosted.get('app')?.reports.at(-1) === true);
    assert.match(await get(await network.dial('app')), /late$/);
  },
);

test(
  'a share that no router takes is reported with the reason when the time is over',
  { timeout: 60_000 },
  async () => {
    const { agent, network } = await world({ timing: { readyTimeoutMs: 200 } });
    network.accepting = false;
    const target = await hello();
    const { readiness } = await ask(agent.socketPath, {
      op: 'share',
      mode: 'public',
      target,
      name: 'app',
      grants: [],
    });
    assert.ok(!readiness.ready);
    assert.match(readiness.reason, /no overlay router/);
  },
);

test(
  'a list that was read before a share was made does not forget its target',
  { timeout: 60_000 },
  async () => {
    const { agent, network } = await world();
    const target = await hello();
    const [reading, late] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const read = network.controlPlane.shares;
    mock.method(network.controlPlane, 'shares', async () => {
      const list = await read();
      reading.resolve();
      await late.promise;
      return list;
    });
    network.changed();
    await reading.promise;
    const asked = ask(agent.socketPath, { op: 'share', mode: 'public', target, name: 'app', grants: [] });
    await network.until(() => network.records.has('app'));
    setImmediate(late.resolve);
    const { readiness } = await asked;
    assert.deepEqual(readiness, { ready: true });
  },
);

test('a refusal of the control plane is reported with its message', { timeout: 60_000 }, async () => {
  const { agent, network } = await world();
  network.failure = new FrontdoorError('conflict', 'conflict', 'Share app is taken');
  const asked = ask(agent.socketPath, {
    op: 'share',
    mode: 'public',
    target: 'http://127.0.0.1:1',
    name: 'app',
    grants: [],
  });
  await assert.rejects(
    asked,
    (error) => error instanceof FrontdoorError && error.kind === 'conflict' && /taken/.test(error.message),
  );
  const bad = ask(agent.socketPath, { op: 'share', mode: 'public', target: 'ftp://x', grants: [] });
  await assert.rejects(bad, /must look like http/);
});

test(
  'a target set through the API is refused unless the operator allowed it',
  { timeout: 60_000 },
  async () => {
    const target = await hello('private');
    const port = new URL(target).port;
    const { network } = await world({ allowTargets: [`127.0.0.0/8:1-${Number(port) - 1}`] });
    network.put({ name: 'api', shareMode: 'public', backendMode: 'proxy', target }, false);
    await network.until(() => network.hosted.get('api')?.reports.at(-1) === false);
    await assert.rejects(network.dial('api'), /not allowed on this agent.*--allow-target/);

    const allowing = await world({ allowTargets: [`127.0.0.0/8:${port}`] });
    allowing.network.put({ name: 'api', shareMode: 'public', backendMode: 'proxy', target }, false);
    await allowing.network.until(() => allowing.network.hosted.get('api')?.reports.at(-1) === true);
    assert.match(await get(await allowing.network.dial('api')), /private$/);
  },
);

test(
  'the agent dials only targets that it configured, not those that the control plane names',
  { timeout: 60_000 },
  async () => {
    const target = await hello();
    const { agent, network } = await world();
    network.put({ name: 'forged', shareMode: 'public', backendMode: 'proxy', target }, true);
    await network.until(() => network.hosted.get('forged')?.reports.at(-1) === false);
    await assert.rejects(network.dial('forged'), /not allowed/);
    await ask(agent.socketPath, { op: 'share', mode: 'public', target, name: 'forged', grants: [] });
    assert.match(await get(await network.dial('forged')), /hello$/);
  },
);

test(
  'a changed target takes new circuits and ends the old ones; a removed share ends all',
  { timeout: 60_000 },
  async () => {
    const [first, second] = [await hello('first'), await hello('second')];
    const { agent, network } = await world({ allowTargets: ['127.0.0.1:*'] });
    await ask(agent.socketPath, { op: 'share', mode: 'public', target: first, name: 'app', grants: [] });
    const old = await network.dial('app');
    const oldClosed = new Promise<Error | undefined>((resolve) => (old.onClose = resolve));
    network.put({ name: 'app', shareMode: 'public', backendMode: 'proxy', target: second }, false);
    assert.match((await oldClosed)?.message ?? '', /target of the share changed/);
    assert.match(await get(await network.dial('app')), /second$/);
    const last = await network.dial('app');
    const lastClosed = new Promise<Error | undefined>((resolve) => (last.onClose = resolve));
    network.remove('app');
    assert.match((await lastClosed)?.message ?? '', /removed/);
    assert.equal(network.hosted.has('app'), false);
  },
);

test('release removes the share and forgets its target', { timeout: 60_000 }, async () => {
  const { agent, network, dataDir } = await world();
  const target = await hello();
  await ask(agent.socketPath, { op: 'share', mode: 'public', target, name: 'app', grants: [] });
  assert.match(readFileSync(join(dataDir, 'agent-shares.json'), 'utf8'), /"app"/);
  assert.equal(statSync(join(dataDir, 'agent-shares.json')).mode & 0o777, 0o600);
  assert.deepEqual(await ask(agent.socketPath, { op: 'release', name: 'app' }), { token: 'app' });
  assert.equal(network.records.size, 0);
  assert.doesNotMatch(readFileSync(join(dataDir, 'agent-shares.json'), 'utf8'), /"app"/);
  await assert.rejects(ask(agent.socketPath, { op: 'release', name: 'app' }), {
    code: 'unknown-share',
    message: 'this agent has no share called app; it has no shares',
  });
  await ask(agent.socketPath, { op: 'share', mode: 'public', target, name: 'shop', grants: [] });
  await assert.rejects(ask(agent.socketPath, { op: 'release', name: 'ship' }), {
    message: 'this agent has no share called ship; the nearest of its shares are shop',
  });
});

test('a share is refused with the option that corrects it', { timeout: 60_000 }, async () => {
  const { agent, network } = await world();
  const wanted = { op: 'share', mode: 'public', target: await hello(), grants: [] } as const;
  const refused = (name: string, message: RegExp): Promise<void> =>
    assert.rejects(ask(agent.socketPath, { ...wanted, name }), { message });
  await refused('Bad Name', /^"Bad Name" is not a share name \(1 to 63 of /);
  assert.deepEqual(network.records.size, 0);
  network.failure = new FrontdoorError('conflict', 'conflict', 'Share app already exists');
  await refused(
    'app',
    /^Share app already exists: another environment has or had it; choose another --name$/,
  );
  network.failure = new FrontdoorError('notFound', 'not-found', 'Environment nowhere not found');
  await assert.rejects(
    ask(agent.socketPath, { ...wanted, mode: 'private', name: 'app', grants: ['nowhere'] }),
    { message: /^Environment nowhere not found: give the ID or the name of an environment with --grant; / },
  );
});

test('stopping keeps every share, and a start hosts them again', { timeout: 60_000 }, async () => {
  const { agent, network, dataDir } = await world();
  const target = await hello();
  await ask(agent.socketPath, { op: 'share', mode: 'public', target, name: 'app', grants: [] });
  assert.deepEqual(await ask(agent.socketPath, { op: 'stop' }), { stopping: true });
  assert.deepEqual(await agent.closed, { reason: 'asked' });
  assert.equal(network.closed, true);
  assert.equal(network.hosted.size, 0);
  assert.equal(network.records.size, 1);
  const again = await startAgent({
    dataDir,
    allowTargets: [],
    version: '1',
    log: silentLog,
    openNetwork: async () => network,
  });
  cleanups.push(() => again.close());
  await network.until(() => network.hosted.get('app')?.reports.at(-1) === true);
  assert.match(await get(await network.dial('app')), /hello$/);
});

test('a share holds no more circuits than its limit', { timeout: 60_000 }, async () => {
  const { agent, network } = await world({ maxCircuitsPerShare: 2 });
  const target = await hello();
  await ask(agent.socketPath, { op: 'share', mode: 'public', target, name: 'app', grants: [] });
  const circuits = [await network.dial('app'), await network.dial('app')];
  await assert.rejects(network.dial('app'), /share app has its 2 circuits/);
  circuits[0]?.destroy('gone');
  await assert.doesNotReject(async () => {
    for (;;) {
      try {
        return await network.dial('app');
      } catch {
        await new Promise((resolve) => setImmediate(resolve));
      }
    }
  });
});

test(
  'a draining agent finishes answers, closes idle circuits, and accepts no new circuit',
  { timeout: 60_000 },
  async () => {
    let answer: () => void = () => {};
    const asked = Promise.withResolvers<void>();
    const http = createHttpServer((_request, response) => {
      answer = () => response.end('slow');
      asked.resolve();
    });
    const target = await serve(http);
    const { agent, network } = await world();
    await ask(agent.socketPath, { op: 'share', mode: 'public', target, name: 'app', grants: [] });
    const kept = await network.dial('app');
    const keptClosed = new Promise<Error | undefined>((resolve) => (kept.onClose = resolve));
    kept.resume();
    const busy = get(await network.dial('app'));
    await asked.promise;
    const closed = agent.close({ drainMs: 3_000 });
    await network.until(() => !network.hosted.has('app'));
    assert.match((await keptClosed)?.message ?? '', /stopping/);
    answer();
    assert.match(await busy, /slow$/);
    await closed;
    assert.equal(network.records.size, 1);
  },
);

test(
  'while it drains it still serves what no other host does, and its successor may start on the directory and its ports',
  { timeout: 60_000 },
  async () => {
    let answer: () => void = () => {};
    const asked = Promise.withResolvers<void>();
    const http = createHttpServer((request, response) => {
      if (request.url === '/') return void response.end('quick');
      answer = () => response.end('slow');
      asked.resolve();
    });
    cleanups.push(() => http.closeAllConnections());
    const target = await serve(http);
    const metrics = createServer().listen(0, '127.0.0.1');
    await once(metrics, 'listening');
    const { port } = metrics.address() as AddressInfo;
    const { agent, network, dataDir } = await world({
      beforeRelease: () => new Promise((resolve) => void metrics.close(() => resolve())),
    });
    await ask(agent.socketPath, { op: 'share', mode: 'public', target, name: 'app', grants: [] });
    const caller = await network.dial('app');
    const slow = new Promise<Error | undefined>((resolve) => (caller.onClose = resolve));
    caller.onEnd = () => caller.end();
    caller.resume();
    caller.write(Buffer.from('GET /slow HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'));
    await asked.promise;
    const closed = agent.close({ drainMs: 30_000 });
    await until(
      'others come first',
      () => network.hosted.get('app')?.isLowered,
      (isLowered) => isLowered === true,
    );
    assert.match(await get(await network.dial('app')), /quick$/);
    const successor = await world({
      dataDir,
      openNetwork: async () => {
        const next = createServer().listen(port, '127.0.0.1');
        cleanups.push(() => next.close());
        await once(next, 'listening');
        return new MemoryNetwork();
      },
    });
    assert.equal((await ask(successor.agent.socketPath, { op: 'version' })).version, '9.9.9');
    answer();
    assert.equal(await slow, undefined);
    await closed;
    assert.equal(network.hosted.has('app'), false);
    assert.equal((await ask(successor.agent.socketPath, { op: 'version' })).version, '9.9.9');
  },
);

test('a second close with less time cuts the drain short', { timeout: 60_000 }, async () => {
  const http = createHttpServer(() => {});
  cleanups.push(() => http.closeAllConnections());
  const target = await serve(http);
  const { agent, network } = await world();
  await ask(agent.socketPath, { op: 'share', mode: 'public', target, name: 'app', grants: [] });
  const caller = await network.dial('app');
  const callerClosed = new Promise<Error | undefined>((resolve) => (caller.onClose = resolve));
  caller.resume();
  caller.write(Buffer.from('GET / HTTP/1.1\r\nHost: a\r\n\r\n'));
  const drained = agent.close({ drainMs: 60_000 });
  await agent.close({ drainMs: 0 });
  await drained;
  assert.match((await callerClosed)?.message ?? '', /agent stopped/);
});

test(
  'the control plane may go away and come back; what is hosted continues',
  { timeout: 60_000 },
  async () => {
    const { agent, network } = await world();
    const target = await hello();
    await ask(agent.socketPath, { op: 'share', mode: 'public', target, name: 'app', grants: [] });
    network.failure = new FrontdoorError('unavailable', 'unreachable', 'cannot be reached');
    const polls = network.calls.length;
    network.calls.push = (...names: string[]): number => {
      const length = Array.prototype.push.apply(network.calls, names);
      network.changed();
      return length;
    };
    await network.until(() => network.calls.length > polls + 1);
    assert.equal((await ask(agent.socketPath, { op: 'status' })).controlPlane, 'away');
    assert.match(await get(await network.dial('app')), /hello$/);
    network.failure = undefined;
    network.put({ name: 'late', shareMode: 'public', backendMode: 'proxy', target }, false);
    await network.until(() => network.hosted.has('late'));
    assert.equal((await ask(agent.socketPath, { op: 'status' })).controlPlane, 'connected');
  },
);

test(
  'the shares of the configuration file are made, and nothing is written for those that stand',
  { timeout: 60_000 },
  async () => {
    const dataDir = folder();
    const configFile = join(dataDir, 'agent.yml');
    const target = await hello();
    const names = Array.from({ length: 30 }, (_, i) => `app-${i}`);
    const lines = names.map((name) => `  - { name: ${name}, mode: public, target: '${target}' }`);
    writeFileSync(configFile, `shares:\n${lines.join('\n')}\n`, { mode: 0o600 });
    const { agent, network } = await world({ dataDir, configFile: { path: configFile, env: {} } });
    await network.until(() => names.every((name) => network.hosted.get(name)?.reports.at(-1) === true));
    assert.match(await get(await network.dial('app-17')), /hello$/);
    await agent.close();
    network.calls.length = 0;
    const again = await startAgent({
      dataDir,
      configFile: { path: configFile, env: {} },
      allowTargets: [],
      version: '1',
      log: silentLog,
      openNetwork: async () => network,
    });
    cleanups.push(() => again.close());
    await network.until(() => network.hosted.size === 30);
    assert.equal(network.calls.filter((call) => call === 'createShare').length, 0);
  },
);

test(
  'an entry of the configuration file that fails is shown and tried again',
  { timeout: 60_000 },
  async () => {
    const dataDir = folder();
    const configFile = join(dataDir, 'agent.yml');
    const target = await hello();
    writeFileSync(configFile, `shares:\n  - { name: app, mode: public, target: '${target}' }\n`, {
      mode: 0o600,
    });
    const network = new MemoryNetwork();
    network.failure = new FrontdoorError('unavailable', 'unreachable', 'cannot be reached');
    const { agent } = await world({
      dataDir,
      configFile: { path: configFile, env: {} },
      openNetwork: async () => network,
    });
    assert.deepEqual((await ask(agent.socketPath, { op: 'status' })).failedEntries, [
      { name: 'app', reason: 'cannot be reached' },
    ]);
    network.failure = undefined;
    await network.until(() => network.hosted.get('app')?.reports.at(-1) === true);
    assert.deepEqual((await ask(agent.socketPath, { op: 'status' })).failedEntries, []);
  },
);

test('a start with wrong options is refused before any file is changed', { timeout: 60_000 }, async () => {
  const wrong = (options: Partial<AgentOptions>): Promise<unknown> => world(options);
  await assert.rejects(wrong({ socketPath: `/tmp/${'x'.repeat(120)}` }), /--socket/);
  await assert.rejects(wrong({ allowTargets: ['10.0.0.0/8', 'app:80'] }), /10\.0\.0\.0.*\n.*app/);
  const { dataDir } = await world();
  await assert.rejects(wrong({ dataDir }), /an agent already runs/);
  const failing = folder();
  const refuse = async (): Promise<never> => {
    throw new FrontdoorError('notFound', 'enrollment-code-refused', 'used or expired; create a new one');
  };
  await assert.rejects(wrong({ dataDir: failing, openNetwork: refuse }), /create a new one/);
  await world({ dataDir: failing });
});

test('an agent whose data directory was taken over stops', { timeout: 60_000 }, async () => {
  const { agent, dataDir } = await world({ timing: { lockCheckMs: 20 } });
  writeFileSync(join(dataDir, 'agent.lock'), 'someone else');
  assert.deepEqual(await agent.closed, { reason: 'lost' });
  assert.equal(readFileSync(join(dataDir, 'agent.lock'), 'utf8'), 'someone else');
});

test('a share in a mode of a later version is refused by name, and keeps its target', async () => {
  const { agent, network, dataDir } = await world();
  const target = await hello();
  await ask(agent.socketPath, { op: 'share', mode: 'public', target, name: 'app', grants: [] });
  const known = network.records.get('app')!;
  network.records.set('app', { ...known, backendMode: 'later' as 'proxy', target: 'later:place' });
  network.changed();
  await network.until(() => network.hosted.get('app')?.reports.at(-1) === false);
  await assert.rejects(network.dial('app'), /does not know the backend mode later: upgrade the agent/);
  const { shares } = await ask(agent.socketPath, { op: 'status' });
  assert.match(shares[0]?.problem ?? '', /upgrade the agent/);
  assert.match(readFileSync(join(dataDir, 'agent-shares.json'), 'utf8'), /"app":"http:/);
  network.records.set('app', known);
  network.changed();
  await network.until(() => network.hosted.get('app')?.reports.at(-1) === true);
  assert.match(await get(await network.dial('app')), /hello$/);
});

test('a new terminator reports its health', { timeout: 60_000 }, async () => {
  const { agent, network } = await world();
  const target = await hello();
  await ask(agent.socketPath, { op: 'share', mode: 'public', target, name: 'app', grants: [] });
  const hosted = network.hosted.get('app');
  assert.ok(hosted !== undefined);
  const before = hosted.reports.length;
  hosted.enter('failed', new Error('router went away'));
  const { shares } = await ask(agent.socketPath, { op: 'status' });
  assert.equal(shares[0]?.problem, 'router went away');
  hosted.enter('bound');
  assert.deepEqual(hosted.reports.slice(before), [true]);
});

test(
  'a share is bound again when its encryption changes, and can be dialed in the meantime',
  { timeout: 60_000 },
  async () => {
    const { agent, network } = await world();
    const target = await hello();
    await ask(agent.socketPath, { op: 'share', mode: 'public', target, name: 'app', grants: [] });
    const first = network.hosted.get('app')!;
    assert.equal(first.service.encryption, undefined);
    network.accepting = false;
    network.encrypted.add('app');
    network.changed();
    const { value: second } = await until(
      'the second bind',
      () => network.hosted.get('app')!,
      (hosted) => hosted !== first,
    );
    assert.equal(second.service.encryption, 'offered');
    assert.equal(first.isClosed, false);
    second.enter('bound');
    assert.equal(first.isClosed, true);
    assert.match(await get(await network.dial('app')), /hello$/);
    network.encrypted.delete('app');
    network.accepting = true;
    network.changed();
    await network.until(() => second.isClosed && network.hosted.get('app')?.state === 'bound');
    assert.equal(network.hosted.get('app')?.service.encryption, undefined);
  },
);

test(
  'a share that cannot be hosted fails alone, is shown, and is hosted again later',
  { timeout: 60_000 },
  async () => {
    const { agent, network } = await world({ timing: { refreshMs: 50 } });
    const target = await hello();
    const { bind } = network.host;
    let isBroken = true;
    mock.method(network.host, 'bind', (...[service, handler]: Parameters<typeof bind>) => {
      if (isBroken && service.name === 'broken') throw new TypeError('boom');
      return bind(service, handler);
    });
    for (const name of ['broken', 'good']) network.put({ ...PUBLIC, name, target }, true);
    const status = (): Promise<string[]> =>
      ask(agent.socketPath, { op: 'status' }).then(({ shares }) =>
        shares.map(({ token, hosting, problem }) => `${token} ${hosting} ${problem ?? ''}`.trim()),
      );
    await until('both to be handled', status, (lines) =>
      lines.includes('broken failed internal error of the agent; its log has the reason'),
    );
    await until('the good one', status, (lines) => lines.some((line) => line.startsWith('good bound')));
    isBroken = false;
    await until('the other one', status, (lines) => lines.some((line) => line.startsWith('broken bound')));
  },
);

test('a circuit that cannot be handled fails alone', { timeout: 60_000 }, async () => {
  const { agent, network } = await world();
  const target = await hello();
  await ask(agent.socketPath, { op: 'share', mode: 'public', target, name: 'app', grants: [] });
  const begin = mock.method(AgentTraffic.prototype, 'begin', () => {
    throw new TypeError('boom');
  });
  // The private service is connected, and the circuit accepted, when it throws: a callback of a socket, which reaches the process.
  const others = process.listeners('uncaughtException');
  process.removeAllListeners('uncaughtException');
  const listener = uncaughtListener(silentLog);
  process.on('uncaughtException', listener);
  try {
    const caller = await network.dial('app');
    const closed = new Promise<Error | undefined>((resolve) => (caller.onClose = resolve));
    caller.resume();
    assert.match(String((await closed)?.message), /internal error of the agent/);
  } finally {
    process.off('uncaughtException', listener);
    for (const other of others) process.on('uncaughtException', other);
    begin.mock.restore();
  }
  assert.match(await get(await network.dial('app')), /hello/);
});
