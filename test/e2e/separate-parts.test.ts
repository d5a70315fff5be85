// Every part as a process of its own: what goes through them, also while the control plane is away. `killed-parts.test.ts`
// measures how long a crash of each part interrupts the service.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { after, before, beforeEach, test } from 'node:test';
import { WebSocket } from 'ws';
import { within } from '../support/deadline.ts';
import { runCommand } from '../support/part-process.ts';
import { digestOf, startPrivateService, type PrivateService } from '../support/private-service.ts';
import { startSeparate, type Separate } from '../support/separate.ts';
import { eventually, httpGet } from '../support/world.ts';

const HOST = 'app.share.localhost';
const STOP_MS = 6_000;
const DOWNLOAD_BYTES = 100_000_000;
const OUTAGE_REQUESTS = 100;

let service: PrivateService;
let parts: Separate;

before(async () => {
  service = await startPrivateService();
  parts = await startSeparate({ command: runCommand });
  await parts.share('public', `http://127.0.0.1:${service.port}`, 'app');
});
// A test that failed half-way leaves the next one a whole product.
beforeEach(async () => {
  for (const part of [parts.control, parts.router, parts.gateway, parts.agent]) {
    if (!part.isRunning) await part.start();
  }
});
after(async () => {
  await parts?.stop();
  await service.close();
});

async function statusOf(host = HOST): Promise<number> {
  return (await httpGet(parts.port, host, '/').catch(() => ({ status: 0 }))).status;
}

const isDeployed = async (): Promise<boolean> => (await shareOf('app'))?.status === 'DEPLOYED';

async function shareOf(name: string): Promise<{ token: string; status: string } | undefined> {
  const { json } = await parts.call('GET', '/shares');
  return (json as { content: { token: string; status: string }[] }).content.find(
    ({ token }) => token === name,
  );
}

test('a request reaches the private service, and a download of 100 MB arrives as it was sent', async () => {
  const answer = await httpGet(parts.port, HOST, '/');
  assert.equal(answer.status, 200);
  assert.equal(String(answer.body), 'private');
  const hash = createHash('sha256');
  let length = 0;
  await new Promise<void>((resolve, reject) => {
    get(
      { host: '127.0.0.1', port: parts.port, path: `/bytes/${DOWNLOAD_BYTES}`, headers: { host: HOST } },
      (response) => {
        response.on('data', (chunk: Buffer) => {
          length += chunk.length;
          hash.update(chunk);
        });
        response.on('end', resolve);
        response.on('error', reject);
      },
    ).on('error', reject);
  });
  assert.equal(length, DOWNLOAD_BYTES);
  assert.equal(hash.digest('hex'), digestOf(service.bytes(length)));
});

test('a WebSocket carries text and binary messages both ways', async () => {
  const socket = new WebSocket(`ws://127.0.0.1:${parts.port}/socket`, { headers: { host: HOST } });
  await within('the WebSocket is open', once(socket, 'open'));
  for (const message of ['hello', Buffer.alloc(200_000, 7)]) {
    const echoed = once(socket, 'message');
    socket.send(message);
    const [data, isBinary] = (await within('the echo', echoed)) as [Buffer, boolean];
    assert.equal(isBinary, typeof message !== 'string');
    assert.deepEqual(data, Buffer.from(message));
  }
  const closed = once(socket, 'close');
  socket.close(1000);
  assert.equal((await within('the close', closed))[0], 1000);
});

test('server-sent events arrive one by one while the answer continues', async () => {
  const request = get({ host: '127.0.0.1', port: parts.port, path: '/events', headers: { host: HOST } });
  const [response] = (await within('the answer', once(request, 'response'))) as [IncomingMessage];
  assert.equal(response.headers['content-type'], 'text/event-stream');
  for (const text of ['one', 'two', 'three']) {
    const arrived = once(response, 'data');
    await service.sendEvent(text);
    assert.equal(String((await within('the event', arrived))[0]), `data: ${text}\n\n`);
  }
  request.destroy();
});

test('requests flow over standing circuits while the control plane is away; what it acknowledged is there when it is back', async () => {
  const target = `http://127.0.0.1:${service.port}`;
  const environments = await parts.call('GET', '/environments');
  const { id } = (environments.json as { content: { id: string }[] }).content[0]!;
  const created = await parts.call('POST', '/shares', {
    environmentId: id,
    shareMode: 'private',
    backendMode: 'proxy',
    target,
    name: 'last-word',
  });
  assert.equal(created.status, 201, JSON.stringify(created.json));
  // A circuit stands after this: making one takes the control plane.
  assert.equal(await statusOf(), 200);
  await parts.control.kill();
  for (let i = 0; i < OUTAGE_REQUESTS; i += 1) assert.equal(await statusOf(), 200);
  await parts.control.start();
  await eventually(isDeployed, Boolean);
  assert.notEqual(await shareOf('last-word'), undefined);
  assert.equal(await statusOf(), 200);
  // What needs the control plane works again: a circuit for a share that nobody dialed before.
  const shared = await parts.share('public', target, 'after');
  assert.equal(shared.status, 'DEPLOYED');
  await eventually(
    () => statusOf('after.share.localhost'),
    (status) => status === 200,
  );
});

test('a gateway that starts while no control plane responds is up once one does, and not before', async () => {
  const { control, gateway } = parts;
  await control.kill();
  await gateway.stop();
  const lines: string[] = [];
  const unwatch = gateway.watch((line) => lines.push(line));
  const output = (): string => lines.join('\n');
  await gateway.start();
  assert.match(output(), /no control plane responds/);
  assert.doesNotMatch(output(), /gateway is up/);
  await control.start();
  await eventually(
    async () => output(),
    (text) => text.includes('gateway is up'),
  );
  await eventually(
    () => statusOf('after.share.localhost'),
    (status) => status === 200,
  );
  unwatch();
});

test('each part ends with status 0 on SIGINT', async () => {
  for (const part of [parts.agent, parts.gateway, parts.router, parts.control]) {
    assert.equal(await within(`${part.name} stops`, part.stop('SIGINT'), STOP_MS), 0, part.output);
  }
});
