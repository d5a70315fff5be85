import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { FrontdoorError, ManualClock, silentLog, textOf, type Log } from '#base';
import { openMemoryChannel } from '#net/channel';
import { contentType, headerId, HeaderWriter, makeFrame, makeResult, type Frame } from '#wire';
import { ctrlMessages, decodeTraceRecords, type TraceMessage, type TraceRecord } from '#wire/ctrl';
import type { Controller, Controllers } from '../ctrl/controllers.ts';
import { ChannelTracer } from './channel-tracer.ts';

const clock = new ManualClock();

function folder(t: TestContext): string {
  const path = mkdtempSync(join(tmpdir(), 'frontdoor-trace-'));
  t.after(() => rmSync(path, { recursive: true }));
  return path;
}

function connect(tracer: ChannelTracer) {
  const peer = { hello: undefined as never, fingerprint: '', address: '192.0.2.1:6262' };
  const [own, theirs] = openMemoryChannel(
    { id: 'ch', peer: { ...peer, id: 'c1' }, log: silentLog },
    { id: 'ch', peer: { ...peer, id: 'r1' }, log: silentLog },
  );
  let connected: ((controller: Controller) => void) | undefined;
  let disconnected: ((controller: Controller) => void) | undefined;
  const controllers = {
    onConnected: (listener) => (connected = listener),
    onDisconnected: (listener) => (disconnected = listener),
  } as Partial<Controllers> as Controllers;
  tracer.follow(controllers);
  const controller = { id: 'c1', version: 'v1.7.2', channel: own, isResponsive: true, suspect: () => {} };
  connected!(controller);
  own.handle({ onFrame: () => {}, onClose: () => disconnected!(controller) });
  return { own, theirs };
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

function messagesOf(records: readonly TraceRecord[]): TraceMessage[] {
  return records.flatMap((one) => (one.kind === 'message' ? [one.record] : []));
}

function decoded(message: TraceMessage | undefined): Record<string, unknown> {
  return JSON.parse(textOf(message!.decode!)) as Record<string, unknown>;
}

test('trace.path: the file has every message of a control channel, both ways, decoded', async (t) => {
  const path = join(folder(t), 'trace');
  const tracer = await ChannelTracer.open({ path, routerId: 'r1', clock, log: silentLog });
  const { own, theirs } = connect(tracer);
  let asked: Frame | undefined;
  theirs.handle({
    onFrame: (frame) => {
      asked = frame;
      theirs.send(ctrlMessages.route.frame({ circuitId: 'circuit1', timeout: 5_000n }));
      theirs.reply(frame, makeResult(frame, true, 'fine'));
    },
  });
  const headers = new HeaderWriter().u64(headerId.edgeCtrl.routerDataModelIndex, 9n);
  const reply = await own.request(
    ctrlMessages.clientHello.frame({ hostname: 'router.example' }, headers),
    5_000,
  );
  own.close('test over');
  await turn();
  await tracer.close();

  const records = decodeTraceRecords(readFileSync(path));
  assert.ok(records);
  const [first, last] = [records[0]!, records.at(-1)!];
  assert.deepEqual([first.kind, first.record.channel, first.record.identity], ['state', 'ctrl/c1', 'r1']);
  assert.ok(first.kind === 'state' && first.record.connected === true);
  assert.equal(first.record.remoteAddress, '192.0.2.1:6262');
  assert.ok(last.kind === 'state' && last.record.connected === false);
  const [hello, route, result] = messagesOf(records);
  assert.equal(hello?.timestamp, BigInt(clock.nowMs()) * 1_000_000n);
  assert.deepEqual(
    [hello.isRx, hello.contentType, hello.sequence, hello.replyFor, hello.length],
    [false, contentType.clientHello, asked!.sequence, -1, asked!.body.length],
  );
  assert.deepEqual(decoded(hello), {
    __decoder__: 'ctrl',
    __message__: 'ClientHello',
    RouterDataModelIndex: '0900000000000000',
    body: { hostname: 'router.example' },
  });
  assert.deepEqual([route?.isRx, decoded(route)['__message__']], [true, 'Route']);
  assert.deepEqual(decoded(route)['body'], { circuitId: 'circuit1', timeout: '5000' });
  assert.deepEqual([result?.isRx, result?.replyFor], [true, asked!.sequence]);
  assert.equal(result?.sequence, reply.sequence);
});

test('tokens and secrets are withheld', async (t) => {
  const path = join(folder(t), 'trace');
  const tracer = await ChannelTracer.open({ path, routerId: 'r1', clock, log: silentLog });
  const { own } = connect(tracer);
  const secret = 'canary-5f2c';
  own.send(ctrlMessages.apiSessionAdded.frame({ apiSessions: [{ id: 'id1', token: secret }] }));
  const headers = new HeaderWriter()
    .text(headerId.createCircuit.apiSessionToken, secret)
    .text(headerId.createCircuit.sessionToken, secret)
    .text(9_999, secret);
  own.send(makeFrame(contentType.createCircuitV2, { headers }));
  await tracer.close();
  const bytes = readFileSync(path);
  assert.equal(bytes.includes(secret), false);
  const [sessions, circuit] = messagesOf(decodeTraceRecords(bytes)!);
  assert.match(textOf(sessions!.decode!), /"token":"\(withheld\)"/);
  assert.match(textOf(circuit!.decode!), /"ApiSessionToken":"\(withheld\)"/);
});

test('a malformed body and an unknown message are traced with their length', async (t) => {
  const path = join(folder(t), 'trace');
  const tracer = await ChannelTracer.open({ path, routerId: 'r1', clock, log: silentLog });
  const { own } = connect(tracer);
  own.send(makeFrame(contentType.route, { body: Uint8Array.of(0xff, 0xff, 0xff) }));
  own.send(makeFrame(424_242, { body: new Uint8Array(7) }));
  own.send(makeFrame(contentType.dataState, { body: new Uint8Array(100_000) }));
  await tracer.close();
  const messages = messagesOf(decodeTraceRecords(readFileSync(path))!);
  assert.deepEqual(
    messages.map((message) => decoded(message)['body']),
    ['3 bytes, malformed', '7 bytes', '100000 bytes'],
  );
});

test('the file is emptied at the start, and is its owner’s alone', async (t) => {
  const path = join(folder(t), 'trace');
  writeFileSync(path, 'of the run before');
  chmodSync(path, 0o644);
  const tracer = await ChannelTracer.open({ path, routerId: 'r1', clock, log: silentLog });
  await tracer.close();
  assert.deepEqual([statSync(path).size, statSync(path).mode & 0o777], [0, 0o600]);
});

test('a file that cannot be written refuses the start', async (t) => {
  const path = join(folder(t), 'missing', 'trace');
  await assert.rejects(
    ChannelTracer.open({ path, routerId: 'r1', clock, log: silentLog }),
    (error: unknown) =>
      error instanceof FrontdoorError && error.code === 'trace-file' && error.message.includes(path),
  );
});

test('messages that the disk does not accept in time are left out, which is logged once', async (t) => {
  const warnings: string[] = [];
  const log: Log = { ...silentLog, warn: (_fields, message) => void warnings.push(message) };
  const path = join(folder(t), 'trace');
  const tracer = await ChannelTracer.open({ path, routerId: 'r1', clock, log, maxWaitingBytes: 10_000 });
  const { own } = connect(tracer);
  for (let i = 0; i < 1_000; i += 1) own.send(makeFrame(contentType.route));
  assert.equal(warnings.length, 1);
  await tracer.close();
  const records = decodeTraceRecords(readFileSync(path));
  assert.ok(records && records.length > 10 && records.length < 200, String(records?.length));
  assert.equal(warnings.length, 2);
});

test('a disk that fails ends the trace with one error, and no channel', async () => {
  const errors: string[] = [];
  const log: Log = { ...silentLog, error: (_fields, message) => void errors.push(message) };
  const tracer = await ChannelTracer.open({ path: '/dev/full', routerId: 'r1', clock, log }).catch(
    () => undefined,
  );
  if (tracer === undefined) return;
  const { own } = connect(tracer);
  for (let i = 0; i < 3; i += 1) {
    own.send(makeFrame(contentType.route));
    await turn();
  }
  await tracer.close();
  assert.deepEqual([errors.length, own.isClosed], [1, false]);
});
