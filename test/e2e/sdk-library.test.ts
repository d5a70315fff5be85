// `@frontdoor-dev/frontdoor/sdk` against a whole product: a program that enrolls, dials and hosts.
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { statSync, writeFileSync } from 'node:fs';
import { createServer, request, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { enroll, openOverlay, SdkError, type CircuitStream, type Overlay } from '#sdk/library';
import { until, within } from '../support/deadline.ts';
import { digestOf, startPrivateService, type PrivateService } from '../support/private-service.ts';
import { openWorld, type World } from '../support/world.ts';

const BODY_BYTES = 2_000_000;

let world: World;
let service: PrivateService;
let dialer: Overlay;
let host: Overlay;
let dialerId: string;

before(async () => {
  service = await startPrivateService();
  world = await openWorld();
  [dialer, host] = [await open('dialer'), await open('host')];
});
after(async () => {
  await dialer?.close();
  await host?.close();
  await world?.close();
  await service?.close();
});

async function open(name: string): Promise<Overlay> {
  const tokenFile = join(world.dataDir, `${name}.jwt`);
  writeFileSync(tokenFile, await world.enrollmentJwt(), { mode: 0o600 });
  const identityFile = join(world.dataDir, `${name}.json`);
  const { id } = await enroll({ tokenFile, identityFile, name });
  if (name === 'dialer') dialerId = id;
  else hostId = id;
  return openOverlay({ identityFile, servicesIntervalMs: 50 });
}
let hostId: string;

/** A private share of the host's environment that the dialer may dial. */
async function share(name: string): Promise<void> {
  const answer = await world.call('POST', '/shares', {
    environmentId: hostId,
    name,
    shareMode: 'private',
    backendMode: 'proxy',
    target: `http://127.0.0.1:${service.port}`,
    grants: [dialerId],
  });
  assert.ok(answer.status < 300, answer.text);
}

test('an enrollment writes a private file, and never over another one', async () => {
  const identityFile = join(world.dataDir, 'dialer.json');
  assert.equal(statSync(identityFile).mode & 0o777, 0o600);
  const token = await world.enrollmentJwt();
  await assert.rejects(enroll({ token, identityFile }), { code: 'identity-file-exists', kind: 'conflict' });
  const elsewhere = join(world.dataDir, 'nowhere', 'x.json');
  await assert.rejects(enroll({ token, identityFile: elsewhere }), { code: 'identity-file-unwritable' });
  // The token is still valid.
  const { apiUrl } = await enroll({ token, identityFile: join(world.dataDir, 'third.json') });
  assert.match(apiUrl, /^https:/);
  await assert.rejects(enroll({ token, identityFile, replace: true }), (error) => {
    assert.ok(error instanceof SdkError);
    assert.deepEqual([error.code, error.remedy], ['enrollment-token-refused', 'Get a new token.']);
    return true;
  });
});

test('an HTTP server hosts a service, and an HTTP client dials it', async (t) => {
  await share('served');
  const server = createServer((asked, answer) => {
    const hash = createHash('sha256');
    asked.on('data', (part: Buffer) => hash.update(part));
    asked.on('end', () => answer.end(hash.digest('hex')));
  });
  t.after(() => server.close());
  const bound = await host.bind('served');
  bound.on('connection', (stream) => server.emit('connection', stream));
  const stream = await dialer.dial('served');
  const body = randomBytes(BODY_BYTES);
  const asked = request({ method: 'POST', host: 'served', createConnection: () => stream });
  asked.end(body);
  const [answer] = (await within('an answer', once(asked, 'response'))) as [IncomingMessage];
  let text = '';
  for await (const part of answer) text += String(part);
  assert.equal(text, digestOf([body]));
  bound.close();
  await until(
    'the end of the host',
    () =>
      dialer.dial('served').then(
        () => '',
        ({ code }: SdkError) => code,
      ),
    (code) => code === 'no-terminator',
  );
});

test('a half-closed stream still brings the answer', async () => {
  await share('halves');
  const bound = await host.bind('halves');
  bound.on('connection', (stream) => {
    const parts: Buffer[] = [];
    stream.on('data', (part: Buffer) => parts.push(part));
    stream.on('end', () => stream.end(Buffer.concat(parts)));
  });
  const body = randomBytes(BODY_BYTES);
  const stream = await dialer.dial('halves');
  stream.end(body);
  assert.equal(await digestOfStream(stream), digestOf([body]));
  bound.close();
});

async function digestOfStream(stream: CircuitStream): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of stream) parts.push(part as Buffer);
  return digestOf(parts);
}

test('a terminator is reached by its address only', async () => {
  await share('addressed');
  const servers = await Promise.all(
    ['one', 'two'].map(async (terminator) => {
      const bound = await host.bind('addressed', { terminator, cost: 10 });
      bound.on('connection', (stream) => stream.end(terminator));
      return bound;
    }),
  );
  for (const terminator of ['two', 'one']) {
    const stream = await dialer.dial('addressed', { terminator });
    assert.equal(await digestOfStream(stream), digestOf([Buffer.from(terminator)]));
  }
  const listed = await until(
    'both terminators',
    () => dialer.terminators('addressed'),
    ({ length }) => length === 2,
  );
  assert.deepEqual(listed.value.map(({ identity }) => identity).sort(), ['one', 'two']);
  await assert.rejects(dialer.dial('addressed', { terminator: 'three' }), { code: 'no-terminator' });
  await assert.rejects(dialer.dial('addressed'), { code: 'no-terminator' });
  await assert.rejects(host.bind('addressed', { cost: 70_000 }), { code: 'terminator-invalid' });
  for (const bound of servers) bound.close();
});

test('a change of the services is an event', async () => {
  const added: string[] = [];
  dialer.on('servicesChanged', (change) => added.push(...change.added.map(({ name }) => name)));
  let count = 0;
  // The first list is the one that changes are relative to, so a share that comes too soon is none.
  const { value } = await until(
    'a reported service',
    async () => {
      await share(`later-${(count += 1)}`);
      return added;
    },
    ({ length }) => length > 0,
  );
  assert.match(value[0]!, /^later-/);
  assert.equal(dialer.routers.length, 1);
  dialer.removeAllListeners('servicesChanged');
});

test('a signal ends each call, and a closed overlay refuses them', async () => {
  const signal = AbortSignal.abort();
  await assert.rejects(dialer.dial('served', { signal }), { name: 'AbortError' });
  await assert.rejects(dialer.services({ signal }), { name: 'AbortError' });
  await assert.rejects(host.bind('served', { signal }), { name: 'AbortError' });
  const ending = new AbortController();
  const silent = dialer.dial('served', { signal: ending.signal });
  ending.abort();
  await assert.rejects(silent, { name: 'AbortError' });
  await assert.rejects(dialer.dial('missing'), { code: 'service-unknown', kind: 'notFound' });
  const third = await openOverlay({ identityFile: join(world.dataDir, 'third.json') });
  await third.close();
  await assert.rejects(third.services(), { code: 'overlay-closed' });
});
