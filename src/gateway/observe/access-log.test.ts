import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { after, describe, it } from 'node:test';
import { silentLog } from '#base';
import { until, within } from '../../../test/support/deadline.ts';
import { get, GatewayWorld, logInto, statusOf, type LogEntry } from '../testing/gateway-world.ts';
import { AccessLog } from './access-log.ts';
import { LineBuffer } from './line-buffer.ts';
import { LineFile } from './line-file.ts';

const folder = mkdtempSync(join(tmpdir(), 'frontdoor-access-'));
after(() => rmSync(folder, { recursive: true, force: true }));

type Line = Readonly<Record<string, unknown>>;

const linesIn = (path: string): Line[] =>
  readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Line);

describe('the access log', () => {
  it('has a line for each request: its path without the query, and the time that each hop took', async (t) => {
    const path = join(folder, 'served.log');
    const log = new AccessLog({ path, log: silentLog });
    const world = await GatewayWorld.start({ observer: log });
    t.after(() => world.close());
    const trace = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    let seen: unknown;
    await world.serve('app', (request, response) => {
      seen = request.headers['traceparent'];
      request.resume();
      request.once('end', () => response.end('hello!'));
    });
    const answer = await world.ask(
      `POST /a"b?token=planted-secret HTTP/1.1\r\nHost: APP.share.localhost\r\ntraceparent: ${trace}\r\n` +
        'Content-Length: 5\r\nConnection: close\r\n\r\nhello',
    );
    await world.close();
    await log.close(30_000);
    assert.equal(statusOf(answer), 200);
    assert.equal(seen, trace);
    const [line, ...more] = linesIn(path);
    assert.ok(line !== undefined && more.length === 0);
    const { time, request, decidedMs, circuitMs, firstByteMs, doneMs, ...rest } = line;
    assert.ok(Math.abs(Date.parse(String(time)) - Date.now()) < 60_000);
    assert.match(String(request), /^[0-9a-f]{20,}$/);
    const hops = [decidedMs, circuitMs, firstByteMs, doneMs].map(Number);
    assert.deepEqual(
      hops,
      hops.toSorted((a, b) => a - b),
    );
    assert.ok(hops[0]! >= 0 && hops[3]! > 0);
    assert.deepEqual(rest, {
      outcome: 'served',
      status: 200,
      method: 'POST',
      host: 'app.share.localhost',
      path: '/a"b',
      client: '127.0.0.1',
      tls: false,
      http: '1.1',
      decision: 'open',
      bytesIn: 5,
      bytesOut: 6,
      share: 'app',
      frontdoor: 'frontdoor',
      trace: '0af7651916cd43dd8448eb211c80319c',
    });
    assert.doesNotMatch(readFileSync(path, 'utf8'), /planted-secret/);
    assert.equal(statSync(path).mode & 0o777, 0o600);
  });

  it('distinguishes refused, failed and broken requests, and those whose client was gone', async (t) => {
    const path = join(folder, 'failed.log');
    const log = new AccessLog({ path, log: silentLog });
    const world = await GatewayWorld.start({ observer: log });
    t.after(() => world.close());
    await world.serveRaw('cut', (socket) => {
      socket.once('data', () => {
        socket.write('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf');
        setImmediate(() => socket.resetAndDestroy());
      });
    });
    await world.serveRaw('silent', () => {});
    await world.ask(get('nobody'));
    world.publish({
      ...world.gateway.table.shares()[0]!,
      id: 'none',
      token: 'none',
      hosts: ['none.share.localhost'],
    });
    await world.ask(get('none'));
    const cut = await world.client();
    cut.send(get('cut'));
    await within(
      'the cut',
      cut.ended().catch(() => ''),
    );
    const gone = await world.client();
    gone.send(get('silent', '/', ''));
    await world.eventually(() => world.dialer.circuits.length === 2, 'a circuit');
    // A half-closed client might still wait for its answer.
    gone.socket.resetAndDestroy();
    await world.eventually(() => {
      log.flush();
      return readFileSync(path, 'utf8').includes('client gone');
    }, 'the client is gone');
    await world.close();
    await log.close(30_000);
    assert.deepEqual(
      linesIn(path).map(({ outcome, status, code, hop, share }) => [outcome, status, code, hop, share]),
      [
        ['refused', 404, 'unknown-host', 'client', undefined],
        ['failed', 503, 'no-terminator', 'agent', 'none'],
        ['broken off', 200, 'circuit-closed', 'service', 'cut'],
        ['client gone', 0, undefined, undefined, 'silent'],
      ],
    );
  });

  it('logs no traceparent that is malformed, which travels on unchanged', async (t) => {
    const path = join(folder, 'trace.log');
    const log = new AccessLog({ path, log: silentLog });
    const world = await GatewayWorld.start({ observer: log });
    t.after(() => world.close());
    const seen: unknown[] = [];
    await world.serve('app', (request, response) => {
      seen.push(request.headers['traceparent']);
      response.end();
    });
    const malformed = [
      '00-00000000000000000000000000000000-b7ad6b7169203331-01',
      'x'.repeat(300),
      '00-AB-CD-01',
    ];
    for (const trace of malformed)
      await world.ask(get('app', '/', `traceparent: ${trace}\r\nConnection: close\r\n`));
    await world.close();
    await log.close(30_000);
    assert.deepEqual(seen, malformed);
    assert.deepEqual(
      linesIn(path).map((line) => line['trace']),
      [undefined, undefined, undefined],
    );
  });

  it('continues in a new file after the old one was moved away, without losing a line', async (t) => {
    const path = join(folder, 'moved.log');
    const log = new AccessLog({ path, log: silentLog });
    const world = await GatewayWorld.start({ observer: log });
    t.after(() => world.close());
    await world.serve('app', (_request, response) => response.end());
    await world.ask(get('app', '/one'));
    renameSync(path, `${path}.1`);
    log.reopen();
    await world.ask(get('app', '/two'));
    await world.close();
    await log.close(30_000);
    const paths = (file: string): unknown[] => linesIn(file).map((line) => line['path']);
    assert.deepEqual([paths(`${path}.1`), paths(path)], [['/one'], ['/two']]);
  });

  it('drops lines when the disk is full, counts them, and logs that once', async () => {
    const records: LogEntry[] = [];
    const file = new LineFile({ path: '/dev/full', log: logInto(records) });
    const lines = new LineBuffer((piece, count) => file.add(piece, count));
    for (let i = 0; i < 1_000; i += 1) {
      lines.text('{"line":');
      lines.number(i);
      lines.text('}\n');
      lines.endLine();
      if (i % 10 === 0) lines.flush();
    }
    lines.flush();
    await file.close(30_000);
    assert.equal(file.dropped, 1_000);
    assert.deepEqual(
      records.map(({ level, message }) => [level, message]),
      [['warn', 'dropping lines of the access log']],
    );
  });

  it(
    'is never waited for: what a reader does not take is dropped beyond a bound',
    { timeout: 60_000 },
    async () => {
      const code = `
      import { LineFile } from ${JSON.stringify(new URL('line-file.ts', import.meta.url).href)};
      const log = { warn() {}, info() {}, error() {}, debug() {}, child() { return log; } };
      const file = new LineFile({ path: '-', log, maxWaitingBytes: 1_000_000 });
      const line = Buffer.from('x'.repeat(99) + '\\n');
      const before = process.cpuUsage();
      for (let i = 0; i < 100_000; i += 1) file.add(line, 1);
      const { user, system } = process.cpuUsage(before);
      process.stderr.write(JSON.stringify({ dropped: file.dropped, ms: (user + system) / 1_000 }) + '\\n');
      await file.close(30_000);
      process.stderr.write('closed\\n');`;
      const child = spawn(process.execPath, ['--input-type=module', '-e', code], {
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      let said = '';
      child.stderr.on('data', (bytes: Buffer) => (said += bytes.toString()));
      await until(
        'what was dropped',
        () => said,
        (text) => text.includes('\n'),
      );
      const { dropped, ms } = JSON.parse(said.split('\n')[0]!) as { dropped: number; ms: number };
      assert.ok(dropped >= 89_000 && dropped <= 91_000, `${dropped} dropped`);
      assert.ok(ms < 5_000, `${ms} ms`);
      // The reader comes back: what waited comes whole.
      let read = '';
      child.stdout.on('data', (bytes: Buffer) => (read += bytes.toString()));
      await within('its end', once(child, 'close'));
      assert.match(said, /closed/);
      const got = read.split('\n').filter((line) => line !== '');
      assert.equal(got.length, 100_000 - dropped);
      assert.ok(got.every((line) => line === 'x'.repeat(99)));
    },
  );
});

describe('lines', () => {
  it('are the same JSON as written by the platform, for any contents', () => {
    const texts = [
      '',
      'plain',
      'a"b\\c',
      'tab\there',
      'ünïcödé ☃ 😀',
      '\u0000\u001F\u007F',
      'x'.repeat(70_000),
      '\uD800',
    ];
    const pieces: Buffer[] = [];
    const lines = new LineBuffer((piece) => pieces.push(piece));
    const numbers = [0, 7, 10, 999, 1_000, 1_234_567_890_123, -5];
    for (const text of [...texts, ...texts]) {
      lines.text('[');
      lines.quoted(text);
      for (const number of numbers) {
        lines.text(',');
        lines.number(number);
      }
      lines.text(',');
      lines.decimals(12.0345678);
      lines.text(']\n');
      lines.endLine();
    }
    lines.flush();
    const read = Buffer.concat(pieces).toString().trimEnd().split('\n');
    assert.deepEqual(
      read.map((line) => JSON.parse(line) as unknown),
      [...texts, ...texts].map((text) => [JSON.parse(JSON.stringify(text)), ...numbers, 12.035]),
    );
  });
});
