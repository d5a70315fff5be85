// Clients that say nothing, or take and give too slowly: real processes, so that memory is the product's own.
import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { callAgent } from '#cli';
import { startCanary } from '../support/canary.ts';
import { until } from '../support/deadline.ts';
import { startHttpService, type FaultyService } from '../support/faulty-service.ts';
import {
  makeDataDir,
  residentBytes,
  startDemoProcess,
  type DemoProcess,
} from '../support/product-process.ts';
import { askRaw, RawHttpClient } from '../support/raw-http-client.ts';

const MIB = 1 << 20;
const SILENT = 200;
const HEAD_DEADLINE_MS = 10_000;
const MAX_GROWTH = 32 * MIB;

let demo: DemoProcess;
let dataDir: string;
let service: FaultyService;
/** The upload under way; it is read only when a test asks for it. */
let upload: IncomingMessage | undefined;

before(async () => {
  service = await startHttpService((request, response) => {
    let received = 0;
    upload = request;
    request.on('data', (chunk: Buffer) => (received += chunk.length)).pause();
    request.on('end', () => response.end(String(received)));
  });
  dataDir = makeDataDir();
  demo = await startDemoProcess(dataDir);
  const share = { op: 'share', mode: 'public', target: service.target, name: 'upload', grants: [] } as const;
  await callAgent(demo.ready.agentSocket, share);
  await downloadFast();
});

after(async () => {
  await demo?.destroy();
  await service.stop();
  rmSync(dataDir, { recursive: true, force: true });
});

/** What the memory of both processes is at its highest while a fast reader takes the same answer, four times. */
async function downloadFast(): Promise<{ readonly up: number; readonly agent: number }> {
  const peak = { up: 0, agent: 0 };
  for (let i = 0; i < 4; i += 1) {
    const path = `/bytes/${64 * MIB}`;
    const answer = await askRaw(demo.port, { path, host: demo.ready.shareHost });
    assert.equal(answer.isComplete, true);
    raise(peak, await memoryOf());
  }
  return peak;
}

function raise(peak: { up: number; agent: number }, now: { up: number; agent: number }): void {
  peak.up = Math.max(peak.up, now.up);
  peak.agent = Math.max(peak.agent, now.agent);
}

async function memoryOf(): Promise<{ readonly up: number; readonly agent: number }> {
  const { up, agent } = demo.ready.pids;
  return { up: await residentBytes(up), agent: await residentBytes(agent) };
}

function assertGrowth(was: { up: number; agent: number }, is: { up: number; agent: number }): void {
  for (const part of ['up', 'agent'] as const) {
    const grown = is[part] - was[part];
    assert.ok(grown < MAX_GROWTH, `${part} grew by ${(grown / MIB).toFixed(1)} MiB`);
  }
}

describe('a slow reader of a 64 MiB answer', () => {
  it('costs less than 32 MiB more than a fast one, disturbs nobody and gets every byte', async (t) => {
    const memory = await downloadFast();
    const { shareHost: host } = demo.ready;
    await using canary = startCanary(demo.port, host, '/bytes/1000', 1_000);
    const client = await RawHttpClient.open(demo.port);
    t.after(() => client.close());
    client.socket.pause();
    client.request({ path: `/bytes/${64 * MIB}`, host });
    // Everything on the way fills up, and then stays so.
    const peak = { up: 0, agent: 0 };
    await until(
      'some time of silence',
      async () => {
        raise(peak, await memoryOf());
        return canary.requests;
      },
      (requests) => requests >= 100,
    );
    assertGrowth(memory, peak);
    // Then a little at a time.
    while (!client.isOver) {
      const wanted = client.bodyBytes + MIB;
      client.socket.resume();
      await client.until('more of the answer', () => client.isOver || client.bodyBytes >= wanted);
      client.socket.pause();
    }
    const answer = await client.answer(30_000);
    client.close();
    assert.equal(answer.isComplete, true);
    assert.equal(answer.bodyBytes, 64 * MIB);
    await canary.stop();
  });
});

describe('an upload that its service does not read', () => {
  it('stops its sender instead of filling memory, and arrives whole once it is read', async (t) => {
    await using canary = startCanary(demo.port, demo.ready.shareHost, '/bytes/1000', 1_000);
    const memory = await memoryOf();
    const client = await RawHttpClient.open(demo.port);
    t.after(() => client.close());
    const host = demo.ready.shareHost.replace(/^[^.]+/, 'upload');
    client.request({ method: 'POST', path: '/', host, headers: { 'Content-Length': String(64 * MIB) } });
    const block = Buffer.alloc(MIB);
    let sent = 0;
    const pump = (): void => {
      while (sent < 64 && !client.socket.writableNeedDrain) {
        client.socket.write(block);
        sent += 1;
      }
    };
    client.socket.on('drain', pump);
    pump();
    const asked = canary.requests;
    await until(
      'some time of silence',
      () => canary.requests - asked,
      (requests) => requests >= 100,
    );
    assert.ok(sent < 64, 'everything was taken though nobody reads');
    assertGrowth(memory, await memoryOf());
    await until('the upload is at its service', () => upload !== undefined, Boolean);
    upload?.resume();
    const answer = await client.answer(30_000);
    client.close();
    assert.equal(answer.text, String(64 * MIB));
    await canary.stop();
  });
});

describe('200 clients that never send a byte', () => {
  it('are cut off at the head deadline, and nobody else waits for them', async () => {
    await using canary = startCanary(demo.port, demo.ready.shareHost, '/bytes/1000', 1_000);
    const memory = await memoryOf();
    const startedMs = performance.now();
    let connected = 0;
    const sockets: Socket[] = Array.from({ length: SILENT }, () =>
      connect(demo.port, '127.0.0.1', () => (connected += 1))
        .on('error', () => {})
        .resume(),
    );
    await until(
      'all to be connected',
      () => connected,
      (count) => count === SILENT,
    );
    await until(
      'all to be cut off',
      () => sockets.filter(({ closed }) => closed).length,
      (closed) => closed === SILENT,
      2 * HEAD_DEADLINE_MS,
    );
    assert.ok(performance.now() - startedMs >= HEAD_DEADLINE_MS - 500);
    assertGrowth(memory, await memoryOf());
    const { p99Ms, requests } = await canary.stop(100);
    // A request that waited for one of these connections would take seconds.
    assert.ok(p99Ms < HEAD_DEADLINE_MS / 4, `99 % of ${requests} requests took up to ${p99Ms.toFixed(0)} ms`);
  });
});
