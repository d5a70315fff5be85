// Large bodies both ways, byte for byte, and what a download looks like when its agent dies.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { startCanary } from '../support/canary.ts';
import { until } from '../support/deadline.ts';
import { startHttpService, type FaultyService } from '../support/faulty-service.ts';
import { kill, startAgentProcess, type AgentProcess } from '../support/product-process.ts';
import { askRaw, RawHttpClient } from '../support/raw-http-client.ts';
import { openWorld, type World } from '../support/world.ts';

const MEGABYTE = 1_000_000;
const SIZE = 100 * MEGABYTE;
/** Every byte of a period that no buffer size divides. */
const BLOCK = Buffer.from(Uint8Array.from({ length: MEGABYTE }, (_, i) => (i * 31 + (i >> 7)) % 251));
const HOST = 'big.share.localhost';

let world: World;
let service: FaultyService;
let canaryService: FaultyService;
let agent: AgentProcess;
let expected: string;
let uploaded: { readonly sha256: string; readonly bytes: number } | undefined;

before(async () => {
  const digest = createHash('sha256');
  for (let i = 0; i < SIZE / MEGABYTE; i += 1) digest.update(BLOCK);
  expected = digest.digest('hex');
  canaryService = await startHttpService((_request, response) => response.end('calm'));
  service = await startHttpService((request, response) => {
    if (request.method === 'POST') {
      const hash = createHash('sha256');
      let bytes = 0;
      request.on('data', (chunk: Buffer) => {
        hash.update(chunk);
        bytes += chunk.length;
      });
      request.on('end', () => {
        uploaded = { sha256: hash.digest('hex'), bytes };
        response.end('taken');
      });
      return;
    }
    if (request.url === '/small') {
      response.end('ready');
      return;
    }
    if (request.url !== '/chunked') response.setHeader('content-length', SIZE);
    let left = SIZE / MEGABYTE;
    const pump = (): void => {
      while (left > 0 && !response.destroyed) {
        left -= 1;
        if (!response.write(BLOCK)) {
          response.once('drain', pump);
          return;
        }
      }
      response.end();
    };
    pump();
  });
  world = await openWorld();
  // In the test's process, so that it lives on when the other one is killed.
  const calm = await world.startAgent('calm');
  await calm.share(canaryService.target, { name: 'canary' });
  agent = await startAgent(await world.enrollmentCode());
  const { readiness } = await agent.share(service.target, 'big');
  assert.equal(readiness.ready, true);
});

after(async () => {
  if (agent !== undefined) {
    kill(agent.pid, 'SIGKILL');
    await agent.exit;
  }
  await world?.close();
  await Promise.all([service.stop(), canaryService.stop()]);
});

function startAgent(code?: string): Promise<AgentProcess> {
  const options = { dataDir: join(world.dataDir, 'big-agent'), apiUrl: world.up.control.apiUrl };
  return startAgentProcess(code === undefined ? options : { ...options, code });
}

describe('a hundred megabytes', () => {
  for (const path of ['/sized', '/chunked']) {
    it(`come down intact from ${path}`, async () => {
      const answer = await askRaw(world.up.httpPort, { path, host: HOST }, 60_000);
      assert.equal(answer.status, 200);
      assert.equal(answer.isComplete, true);
      assert.equal(answer.bodyBytes, SIZE);
      assert.equal(answer.sha256, expected);
    });
  }

  for (const isChunked of [false, true]) {
    it(`go up intact ${isChunked ? 'in chunks' : 'with a length'}`, async () => {
      uploaded = undefined;
      const client = await RawHttpClient.open(world.up.httpPort);
      const framing = isChunked ? { 'Transfer-Encoding': 'chunked' } : { 'Content-Length': String(SIZE) };
      client.request({ method: 'POST', path: '/', host: HOST, headers: framing });
      for (let i = 0; i < SIZE / MEGABYTE; i += 1) {
        const parts = isChunked ? [`${BLOCK.length.toString(16)}\r\n`, BLOCK, '\r\n'] : [BLOCK];
        for (const part of parts) client.socket.write(part);
        await until('room to write', () => !client.socket.writableNeedDrain, Boolean, 30_000);
      }
      if (isChunked) client.socket.write('0\r\n\r\n');
      const answer = await client.answer(60_000);
      client.close();
      assert.equal(answer.status, 200);
      assert.equal(answer.text, 'taken');
      assert.deepEqual(uploaded, { sha256: expected, bytes: SIZE });
    });
  }
});

describe('an agent killed in the middle of a download', () => {
  for (const path of ['/sized', '/chunked']) {
    it(`leaves an answer from ${path} that is seen to be broken within 10 s`, async (t) => {
      await using canary = startCanary(world.up.httpPort, 'canary.share.localhost', '/', 'calm'.length);
      const client = await RawHttpClient.open(world.up.httpPort);
      t.after(() => client.close());
      client.request({ path, host: HOST });
      await client.until('ten megabytes', () => client.bodyBytes > 10 * MEGABYTE);
      const records = world.recordsFromNow();
      // The rest must come after the kill, not out of buffers.
      client.socket.pause();
      kill(agent.pid, 'SIGKILL');
      await agent.exit;
      client.socket.resume();
      const answer = await client.answer(10_000);
      assert.equal(answer.status, 200);
      assert.equal(answer.isComplete, false);
      assert.ok(answer.bodyBytes < SIZE);
      const cut = records().filter(({ message }) => message === 'request not served');
      assert.deepEqual(
        cut.map(({ fields }) => [fields['status'], fields['share']]),
        [['broken off', 'big']],
      );
      await canary.stop(20);

      // Started again, it hosts what it hosted.
      agent = await startAgent();
      await until(
        'an answer',
        () => askRaw(world.up.httpPort, { path: '/small', host: HOST }).then(({ status }) => status),
        (status) => status === 200,
        15_000,
      );
    });
  }
});
