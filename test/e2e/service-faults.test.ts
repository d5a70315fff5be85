// Private services that fail, and clients that vanish: one request suffers, its neighbours do not.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import type { Socket } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { startCanary, type Canary } from '../support/canary.ts';
import { until } from '../support/deadline.ts';
import { startHttpService, startRawService, type FaultyService } from '../support/faulty-service.ts';
import { askRaw, RawHttpClient } from '../support/raw-http-client.ts';
import type { LogRecord } from '../support/recording-log.ts';
import { openWorld, type World, type WorldAgent } from '../support/world.ts';

const ANSWER_TIMEOUT_MS = 3_000;
const HOST = 'broken.share.localhost';

let world: World;
let agent: WorldAgent;
let healthy: FaultyService;
let broken: FaultyService;
let canary: Canary;
/** What the broken service does with the next request. */
let behave: (socket: Socket, head: string) => void = () => {};

before(async () => {
  healthy = await startHttpService((_request, response) => response.end('well'));
  broken = await startRawService((socket, head) => behave(socket, head));
  world = await openWorld({ gatewayLimits: { answerTimeoutMs: ANSWER_TIMEOUT_MS } });
  agent = await world.startAgent('site');
  await agent.share(healthy.target, { name: 'canary' });
  await agent.share(broken.target, { name: 'broken' });
  canary = startCanary(world.up.httpPort, 'canary.share.localhost', '/', 'well'.length);
});

after(async () => {
  try {
    await canary?.stop(50);
  } finally {
    await world?.close();
    await Promise.all([healthy?.stop(), broken?.stop()]);
  }
});

/** The record that an error page's id leads to. */
function recordOf(text: string): LogRecord {
  const id = /Frontdoor-Error-Id: (\w+)/.exec(text)?.[1];
  assert.ok(id, `no error id in ${text.slice(0, 500)}`);
  const found = world.records.filter(({ fields }) => fields['errorId'] === id);
  assert.equal(found.length, 1);
  return found[0]!;
}

function failuresOf(records: LogRecord[]): LogRecord[] {
  return records.filter(
    ({ message, fields }) => message === 'request not served' && fields['share'] === 'broken',
  );
}

describe('a private service that fails', () => {
  it('by a reset before its answer costs a 502, and the record does not blame the client', async () => {
    behave = (socket) => void socket.resetAndDestroy();
    const answer = await askRaw(world.up.httpPort, { path: '/', host: HOST });
    assert.equal(answer.status, 502);
    assert.ok(answer.isComplete);
    const { fields } = recordOf(`${answer.head}\n${answer.text}`);
    assert.ok(['service', 'agent', 'router'].includes(String(fields['hop'])), JSON.stringify(fields));
  });

  it('by never answering costs a 504 at the deadline, and its connection is closed', async () => {
    behave = () => {};
    const startedMs = performance.now();
    const answer = await askRaw(world.up.httpPort, { path: '/', host: HOST });
    assert.equal(answer.status, 504);
    const tookMs = performance.now() - startedMs;
    assert.ok(tookMs >= ANSWER_TIMEOUT_MS - 300 && tookMs < 5 * ANSWER_TIMEOUT_MS, `${tookMs} ms`);
    assert.equal(recordOf(`${answer.head}\n${answer.text}`).fields['hop'], 'service');
    await until(
      'the circuit to end',
      () => broken.connections.size,
      (open) => open === 0,
    );
  });

  for (const [name, head, chunk] of [
    ['Content-Length', 'HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n', 'x'.repeat(1_000)],
    ['chunks', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n', `3e8\r\n${'x'.repeat(1_000)}\r\n`],
  ] as const) {
    for (const [how, end] of [
      ['closes', (socket: Socket) => void socket.end()],
      ['resets', (socket: Socket) => void socket.resetAndDestroy()],
    ] as const) {
      it(`by one that ${how} in the middle of a body with ${name} gives an answer that is seen to be broken`, async () => {
        const records = world.recordsFromNow();
        behave = (socket) => {
          socket.write(head + chunk, () => setImmediate(() => end(socket)));
        };
        const answer = await askRaw(world.up.httpPort, { path: '/', host: HOST }, 10_000);
        assert.equal(answer.isComplete, false);
        assert.ok([200, 502].includes(answer.status) || answer.wasReset);
        await until(
          'the log record',
          () => failuresOf(records()).length,
          (count) => count === 1,
        );
      });
    }
  }

  it('by bytes that are no HTTP costs a 502', async () => {
    behave = (socket) => void socket.end(randomBytes(10_000));
    const answer = await askRaw(world.up.httpPort, { path: '/', host: HOST });
    assert.equal(answer.status, 502);
    recordOf(`${answer.head}\n${answer.text}`);
  });

  it('by not being there costs a 502 or 503 until it is back', async () => {
    behave = (socket) => void socket.end('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
    assert.equal((await askRaw(world.up.httpPort, { path: '/', host: HOST })).status, 200);
    await broken.stop();
    const answer = await askRaw(world.up.httpPort, { path: '/', host: HOST });
    assert.ok([502, 503].includes(answer.status), String(answer.status));
    recordOf(`${answer.head}\n${answer.text}`);
    await broken.start();
    await until(
      'an answer',
      () => askRaw(world.up.httpPort, { path: '/', host: HOST }),
      ({ status }) => status === 200,
    );
  });
});

describe('a client that vanishes', () => {
  it('in the middle of a download ends the connection to the private service, and the circuit', async () => {
    const block = Buffer.alloc(65_536);
    behave = (socket) => {
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 10000000000\r\n\r\n');
      const pump = (): void => {
        while (!socket.destroyed && socket.write(block));
      };
      socket.on('drain', pump);
      pump();
    };
    const clients = await Promise.all(Array.from({ length: 8 }, () => RawHttpClient.open(world.up.httpPort)));
    for (const client of clients) client.request({ path: '/', host: HOST });
    for (const client of clients) {
      await client.until('a megabyte', () => client.bodyBytes > 1_000_000);
    }
    const records = world.recordsFromNow();
    for (const [i, client] of clients.entries()) {
      if (i % 2 === 0) client.vanish();
      else client.close();
    }
    await until(
      'the connections to the service to end',
      () => broken.connections.size,
      (open) => open === 0,
    );
    await until(
      'the circuits of all but the canary, and those that wait for a time without control plane, to end',
      () => world.up.router.circuitCount,
      (count) => count <= 6,
    );
    const gone = (): LogRecord[] => records().filter(({ message }) => message === 'client gone');
    await until('a record of each', gone, ({ length }) => length >= clients.length);
    assert.equal(gone().length, clients.length, JSON.stringify(records()));
  });

  it('in the middle of an upload ends the connection to the private service', async () => {
    behave = () => {};
    const client = await RawHttpClient.open(world.up.httpPort);
    client.request({ method: 'POST', path: '/', host: HOST, headers: { 'Content-Length': '1000000000' } });
    client.socket.write(Buffer.alloc(500_000));
    await until(
      'the request at the service',
      () => broken.connections.size,
      (open) => open > 0,
    );
    client.vanish();
    await until(
      'its end',
      () => broken.connections.size,
      (open) => open === 0,
    );
  });
});
