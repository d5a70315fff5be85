// Shares of what is no HTTP service, through the product: TCP and UDP, from an agent to the machine of another, and a folder.
import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import {
  createServer as createHttpServer,
  request as httpRequest,
  type IncomingHttpHeaders,
} from 'node:http';
import { connect, createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it, type TestContext } from 'node:test';
import { readHostPort } from '#base';
import { callAgent } from '#cli';
import type { AgentAccessView } from '#domain/agent-shapes';
import { until, within } from '../support/deadline.ts';
import { openWorld, type World, type WorldAgent } from '../support/world.ts';

const HOST = '127.0.0.1';

let world: World;
let host: WorldAgent;
let visitor: WorldAgent;

before(async () => {
  world = await openWorld();
  host = await world.startAgent('host');
  visitor = await world.startAgent('visitor');
});
after(() => world?.close());

async function share(name: string, target: string): Promise<void> {
  const grants = [visitor.environmentId];
  const { readiness } = await host.share(target, { name, mode: 'private', grants });
  assert.deepEqual(readiness, { ready: true });
}

function access(name: string, protocol: 'tcp' | 'udp'): Promise<AgentAccessView> {
  return callAgent(visitor.agent.socketPath, { op: 'access', share: name, host: HOST, port: 0, protocol });
}

async function accessed(name: string, protocol: 'tcp' | 'udp'): Promise<number> {
  const { listen, isOpen, problem, protocol: opened } = await access(name, protocol);
  assert.deepEqual([isOpen, problem, opened], [true, null, protocol]);
  return readHostPort(listen)!.port;
}

interface Echo {
  readonly port: number;
  close(): Promise<void>;
}

/** Sends each datagram back to its sender, with `name` before it. */
async function openEcho(t: TestContext, name: string, port = 0): Promise<Echo> {
  const socket = createSocket('udp4');
  socket.bind(port, HOST);
  await once(socket, 'listening');
  socket.on('message', (datagram, from) =>
    socket.send(Buffer.concat([Buffer.from(name), datagram]), from.port, from.address),
  );
  let isOpen = true;
  const close = async (): Promise<void> => {
    if (!isOpen) return;
    isOpen = false;
    const closed = once(socket, 'close');
    socket.close();
    await closed;
  };
  t.after(close);
  return { port: socket.address().port, close };
}

async function openClient(t: TestContext, port: number): Promise<(datagram: string) => Promise<string>> {
  const socket = createSocket('udp4');
  socket.connect(port, HOST);
  await once(socket, 'connect');
  t.after(() => void socket.close());
  return async (datagram) => {
    const answer = once(socket, 'message');
    socket.send(datagram);
    return String((await within('the answer', answer))[0]);
  };
}

describe('a private share with a tcp target', () => {
  it('passes bytes of any protocol both ways, with the end of each side', async (t) => {
    // It speaks first, as databases and SSH do, and last, after its client has ended.
    const service = createServer({ allowHalfOpen: true }, (socket) => {
      const chunks: Buffer[] = [];
      socket.write('220 ready\r\n');
      socket.on('data', (chunk: Buffer) => chunks.push(chunk));
      socket.on('end', () => socket.end(Buffer.concat(chunks).reverse()));
      socket.on('error', () => {});
    }).listen(0, HOST);
    t.after(() => service.close());
    await once(service, 'listening');
    await share('database', `tcp://${HOST}:${(service.address() as AddressInfo).port}`);
    const { json } = await world.call('GET', '/shares/database');
    const { shareMode, backendMode, status } = json as Record<string, unknown>;
    assert.deepEqual([shareMode, backendMode, status], ['private', 'tcpTunnel', 'DEPLOYED']);
    const client = connect({ port: await accessed('database', 'tcp'), host: HOST, allowHalfOpen: true });
    t.after(() => client.destroy());
    const [greeting] = await within('the greeting', once(client, 'data'));
    assert.equal(String(greeting), '220 ready\r\n');
    const sent = Buffer.alloc(1_000_000, 'abcdefg');
    client.end(sent);
    const received: Buffer[] = [];
    for await (const chunk of client) received.push(chunk as Buffer);
    assert.ok(Buffer.concat(received).reverse().equals(sent));
  });
});

describe('a private share with a udp target', () => {
  it('passes datagrams whole, and each sender gets its own answers', async (t) => {
    const echo = await openEcho(t, 'echo ');
    await share('names', `udp://${HOST}:${echo.port}`);
    const port = await accessed('names', 'udp');
    const [first, second] = [await openClient(t, port), await openClient(t, port)];
    const long = 'x'.repeat(20_000);
    assert.deepEqual(
      [await first('a'), await second('b'), await first(long)],
      ['echo a', 'echo b', `echo ${long}`],
    );
    const { accesses } = await callAgent(visitor.agent.socketPath, { op: 'status' });
    assert.deepEqual(
      accesses.filter(({ share: name }) => name === 'names').map(({ connections }) => connections),
      [2],
    );
  });

  it('whose service was away is served once it is back, without a new access', async (t) => {
    const first = await openEcho(t, 'first ');
    await share('restarted', `udp://${HOST}:${first.port}`);
    const ask = await openClient(t, await accessed('restarted', 'udp'));
    assert.equal(await ask('a'), 'first a');
    await first.close();
    await openEcho(t, 'second ', first.port);
    assert.equal(await ask('b'), 'second b');
  });

  it('is not opened for connections, nor a share of TCP for datagrams, and the problem says how', async (t) => {
    const echo = await openEcho(t, '');
    await share('datagrams', `udp://${HOST}:${echo.port}`);
    await share('stream', `tcp://${HOST}:${new URL(world.up.control.apiUrl).port}`);
    const wrong = await access('datagrams', 'tcp');
    assert.equal(wrong.problem, 'datagrams is a share of datagrams: open it with --udp');
    assert.equal((await access('datagrams', 'udp')).problem, null);
    assert.match((await access('stream', 'udp')).problem!, /is no share of datagrams: open it without --udp/);
  });

  it('follows its share to another protocol', async (t) => {
    const echo = await openEcho(t, '');
    const { port } = new URL(world.up.control.apiUrl);
    await share('moved', `tcp://${HOST}:${port}`);
    assert.equal((await access('moved', 'tcp')).problem, null);
    await share('moved', `udp://${HOST}:${echo.port}`);
    const problemOf = async (): Promise<string | null> => (await access('moved', 'udp')).problem;
    await until('its new protocol', problemOf, (problem) => problem === null);
  });

  it('is refused as a public one while no gateway opens ports, with the way on', async () => {
    const request = {
      op: 'share',
      mode: 'public',
      target: `udp://${HOST}:53`,
      name: 'open',
      grants: [],
    } as const;
    await assert.rejects(callAgent(host.agent.socketPath, request), {
      message:
        'No gateway opens ports for UDP: start gateways with --udp-ports, such as --udp-ports 20000-20099',
    });
  });
});

describe('a share of a folder', () => {
  let top: string;
  let folder: string;
  before(() => {
    top = mkdtempSync(join(tmpdir(), 'frontdoor-folder-'));
    folder = join(top, 'site');
    mkdirSync(folder);
    for (const [name, text] of Object.entries({
      'index.html': '<p>start</p>',
      'app.js': 'let answer = 42;',
      'app.js.br': 'brotli',
      '.env': 'secret',
      '../secret.txt': 'secret',
    }))
      writeFileSync(join(folder, name), text);
    writeFileSync(join(folder, 'large.bin'), Buffer.alloc(5_000_000, 'abcdefg'));
    symlinkSync('../secret.txt', join(folder, 'link.txt'));
  });
  after(() => rmSync(top, { recursive: true, force: true }));

  interface Answer {
    readonly status: number;
    readonly headers: IncomingHttpHeaders;
    readonly body: Buffer;
  }

  /** Through the gateway, with one connection for each request. The path is sent as it is. */
  async function get(
    host: string,
    path: string,
    { method = 'GET', ...headers }: Readonly<Record<string, string>> = {},
  ): Promise<Answer> {
    const { httpPort: port } = world.up;
    const request = httpRequest({
      host: HOST,
      port,
      path,
      method,
      headers: { ...headers, host },
      agent: false,
    });
    request.end();
    const [response] = await within('an answer', once(request, 'response'));
    const chunks: Buffer[] = [];
    for await (const chunk of response) chunks.push(chunk as Buffer);
    return { status: response.statusCode, headers: response.headers, body: Buffer.concat(chunks) };
  }

  it('is served by gateways: files, ranges, conditions, HEAD, and nothing else', async () => {
    const { share: made, readiness } = await host.share(`file://${folder}`, { name: 'site' });
    assert.deepEqual(readiness, { ready: true });
    const name = new URL(made.endpoints[0]!).hostname;
    const start = await get(name, '/');
    assert.deepEqual([start.status, String(start.body)], [200, '<p>start</p>']);
    assert.equal(start.headers['content-type'], 'text/html; charset=utf-8');
    const large = await get(name, '/large.bin');
    assert.ok(large.body.equals(Buffer.alloc(5_000_000, 'abcdefg')));
    const part = await get(name, '/large.bin', { range: 'bytes=7-13' });
    assert.deepEqual([part.status, String(part.body)], [206, 'abcdefg']);
    assert.equal(part.headers['content-range'], 'bytes 7-13/5000000');
    const same = await get(name, '/large.bin', { 'if-none-match': String(large.headers.etag) });
    assert.deepEqual([same.status, same.body.length], [304, 0]);
    const head = await get(name, '/large.bin', { method: 'HEAD' });
    assert.deepEqual([head.status, head.headers['content-length'], head.body.length], [200, '5000000', 0]);
    const stored = await get(name, '/app.js', { 'accept-encoding': 'br' });
    assert.deepEqual([stored.headers['content-encoding'], String(stored.body)], ['br', 'brotli']);
    assert.equal((await get(name, '/', { method: 'POST' })).status, 405);
    for (const path of ['/.env', '/link.txt', '/%2e%2e/secret.txt', '/..%2fsecret.txt', '/absent']) {
      const { status, body } = await get(name, path);
      assert.ok(status >= 400 && status < 500, `${path}: ${status}`);
      assert.doesNotMatch(String(body), /^secret/);
    }
    const { json } = await world.call('GET', '/shares/site');
    const { backendMode, target, status } = json as Record<string, unknown>;
    assert.deepEqual([backendMode, target, status], ['web', `file://${folder}`, 'DEPLOYED']);
  });

  it('is reached by granted machines, too', async () => {
    await share('files', `file://${folder}`);
    const port = await accessed('files', 'tcp');
    const answer = await fetch(`http://${HOST}:${port}/app.js`, {
      headers: { 'accept-encoding': 'identity' },
    });
    assert.equal(await answer.text(), 'let answer = 42;');
  });

  it('serves a path of another share, whose target the API alone cannot change', async (t) => {
    const service = createHttpServer((request, response) => response.end(`service ${request.url}`));
    await new Promise<void>((resolve) => service.listen(0, HOST, resolve));
    t.after(() => service.close());
    const { share: made } = await callAgent(host.agent.socketPath, {
      op: 'share',
      mode: 'public',
      target: `http://${HOST}:${(service.address() as AddressInfo).port}/app`,
      name: 'mixed',
      grants: [],
      upstream: { routes: [{ path: '/docs', target: `file://${folder}`, stripPath: true }] },
    });
    const name = new URL(made.endpoints[0]!).hostname;
    const textOf = async (path: string): Promise<string> => String((await get(name, path)).body);
    assert.equal(await textOf('/x'), 'service /app/x');
    assert.equal(await textOf('/docs/app.js'), 'let answer = 42;');
    assert.equal(await textOf('/docs/'), '<p>start</p>');
    const routes = [{ path: '/docs', target: `file://${top}`, stripPath: true }];
    assert.equal((await world.call('PATCH', '/shares/mixed/upstream', { routes })).status, 200);
    await until(
      'the refusal',
      async () => (await get(name, '/docs/secret.txt')).status,
      (status) => status === 502,
    );
    const { shares } = await callAgent(host.agent.socketPath, { op: 'status' });
    const { problem } = shares.find(({ token }) => token === 'mixed')!;
    assert.match(problem ?? '', /^\/docs: .*start it with --allow-target/);
    assert.equal(await textOf('/x'), 'service /app/x');
  });

  it('is refused when the API sets it, unless the operator of the agent allowed the folder', async () => {
    const { environmentId } = host;
    const body = {
      environmentId,
      shareMode: 'public',
      backendMode: 'web',
      target: `file://${folder}`,
      name: 'set',
    };
    assert.equal((await world.call('POST', '/shares', body)).status, 201);
    const failureOf = async (): Promise<string> => {
      const { json } = await world.call('GET', '/shares/set');
      return (json as { failure?: { lastError: string } }).failure?.lastError ?? '';
    };
    await until('the refusal', failureOf, (said) => said.includes(`start it with --allow-target ${folder}`));
  });
});
