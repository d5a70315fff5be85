import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { CircuitError } from '#sdk';
import { OPEN_RULES } from '#domain/access';
import { OPEN_ADMISSION } from './access/access.ts';
import { OpenAccess } from './testing/open-access.ts';
import { bodyOf, GatewayWorld, get, shareOf, statusOf } from './testing/gateway-world.ts';
import { within } from '../../test/support/deadline.ts';

function errorIdOf(answer: string): string {
  return /Frontdoor-Error-Id: (\S+)/.exec(answer)?.[1] ?? '';
}

/** Answers each request with these bytes. */
function saying(bytes: string, then: (socket: Socket) => void = () => {}): (socket: Socket) => void {
  return (socket) => {
    socket.on('data', () => {
      socket.write(bytes, 'latin1', () => then(socket));
    });
  };
}

describe('origins that misbehave', () => {
  let world: GatewayWorld;
  before(async () => {
    world = await GatewayWorld.start();
  });
  after(() => world.close());

  const MALFORMED: readonly (readonly [string, string])[] = [
    ['a bare LF', 'HTTP/1.1 200 OK\nContent-Length: 0\r\n\r\n'],
    ['a folded header', 'HTTP/1.1 200 OK\r\nX: a\r\n b\r\nContent-Length: 0\r\n\r\n'],
    ['a CR in a header', 'HTTP/1.1 200 OK\r\nX: a\rSet-Cookie: b\r\nContent-Length: 0\r\n\r\n'],
    ['two lengths', 'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab'],
    ['two equal lengths', 'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\na'],
    [
      'length and chunked',
      'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    ],
    ['another coding', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n'],
    ['chunked in HTTP/1.0', 'HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'],
    ['no status line', 'hello\r\n\r\n'],
    ['a bad status', 'HTTP/1.1 2x0 OK\r\n\r\n'],
    ['another version', 'HTTP/2.0 200 OK\r\n\r\n'],
    ['a huge head', `HTTP/1.1 200 OK\r\nX: ${'a'.repeat(70_000)}\r\n\r\n`],
    [
      'an upgrade that nobody asked for',
      'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n',
    ],
  ];

  for (const [name, bytes] of MALFORMED) {
    it(`answers 502 for ${name}, and no longer uses the circuit`, async () => {
      await world.serveRaw('bad', saying(bytes), { updatedAtMs: Math.random() });
      const answer = await world.ask(get('bad'));
      assert.equal(statusOf(answer), 502, answer);
      const record = world.recordOf(errorIdOf(answer));
      assert.equal(record['hop'], 'service');
      assert.equal(record['share'], 'bad');
      assert.equal(world.gateway.stats().openCircuits, 0);
    });
  }

  it('drops interim answers beyond a few a second, and gives the answer', async () => {
    const interim = 'HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\n\r\n';
    const many = interim.repeat(1_000);
    await world.serveRaw('hints', saying(`${many}HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok`));
    const answer = await world.ask(get('hints'));
    assert.equal(bodyOf(answer.split(interim).at(-1)!), 'ok');
    const passed = answer.split(interim).length - 1;
    assert.ok(passed >= 16 && passed < 1_000, `${passed} passed`);
    world.gateway.table.change([], ['id-hints']);
  });

  it('says that the service speaks TLS when it answers with an alert', async () => {
    await world.serveRaw(
      'secure',
      saying('\x15\x03\x01\x00\x02\x02\x46', (socket) => socket.end()),
    );
    const answer = await world.ask(get('secure'));
    assert.equal(statusOf(answer), 502);
    assert.match(String(world.recordOf(errorIdOf(answer))['cause']), /must start with https:/);
  });

  it('gives a second answer to nobody and drops its circuit', async () => {
    const ok = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n';
    await world.serveRaw('double', saying(`${ok}AA${ok}BB`));
    const first = await world.ask(get('double'));
    const second = await world.ask(get('double'));
    assert.equal(bodyOf(first), 'AA');
    assert.equal(bodyOf(second), 'AA');
    assert.equal(world.gateway.stats().openCircuits, 0);
  });

  for (const status of ['204 No Content', '304 Not Modified']) {
    it(`gives a body that comes with ${status} to nobody`, async () => {
      await world.serveRaw('bodied', saying(`HTTP/1.1 ${status}\r\nContent-Length: 5\r\n\r\nwrong`), {
        updatedAtMs: Math.random(),
      });
      const client = await world.client();
      client.send(get('bodied', '/', '') + get('bodied'));
      const answer = await client.ended();
      client.close();
      assert.equal(answer.split(`HTTP/1.1 ${status}`).length, 3);
      assert.doesNotMatch(answer, /wrong/);
      assert.equal(world.gateway.stats().openCircuits, 0);
    });
  }

  it('takes two requests over one circuit when HEAD answers name a length', async () => {
    const dialsBefore = world.dialer.dials;
    await world.serveRaw('lengths', saying('HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n'));
    const head = 'HEAD / HTTP/1.1\r\nHost: lengths.share.localhost\r\n';
    await world.ask(`${head}\r\n${head}Connection: close\r\n\r\n`);
    assert.equal(world.dialer.dials - dialsBefore, 1);
    world.gateway.table.change([], ['id-lengths']);
  });

  it('drops an idle circuit that speaks', async () => {
    let origin: Socket | undefined;
    await world.serveRaw('chatty', (socket) => {
      origin = socket;
      saying('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok')(socket);
    });
    await world.ask(get('chatty'));
    assert.equal(world.gateway.stats().idleCircuits, 1);
    origin!.write('HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nSTALE');
    await world.eventually(() => world.gateway.stats().idleCircuits === 0, 'the circuit leaves the pool');
    assert.equal(bodyOf(await world.ask(get('chatty'))), 'ok');
    await world.eventually(() => world.gateway.stats().idleCircuits === 1, 'the new circuit is idle');
    origin!.destroy();
    await world.eventually(
      () => world.gateway.stats().idleCircuits === 0,
      'a closed circuit leaves the pool',
    );
  });

  const BROKEN: readonly (readonly [string, string])[] = [
    ['a length', 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nonly this'],
    ['chunks', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nonly this\r\n'],
    ['a bad chunk', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nonly this\r\nzz\r\n'],
  ];

  for (const [name, bytes] of BROKEN) {
    for (const ending of ['ends', 'resets'] as const) {
      it(`breaks the client's answer off when the origin ${ending} within ${name}`, async () => {
        await world.serveRaw(
          'cut',
          saying(bytes, (socket) =>
            ending === 'ends' ? socket.end() : setImmediate(() => socket.resetAndDestroy()),
          ),
          {
            updatedAtMs: Math.random(),
          },
        );
        const answer = await world.ask(get('cut', '/', ''));
        assert.doesNotMatch(answer, /\r\n0\r\n\r\n$/, 'no end of chunks');
        assert.ok(!answer.includes('Content-Length: 9'));
        const broken = world.records.filter((record) => record['status'] === 'broken off').at(-1);
        assert.equal(broken?.['hop'], 'service');
      });
    }
  }

  it('resets the client when an answer that ends with its connection breaks', async () => {
    await world.serveRaw(
      'unframed',
      saying('HTTP/1.1 200 OK\r\n\r\npart', (socket) => setTimeout(() => socket.resetAndDestroy(), 20)),
    );
    const client = await world.client();
    client.send('GET / HTTP/1.0\r\nHost: unframed.share.localhost\r\n\r\n');
    await client.ended();
    assert.ok(client.wasReset);
  });

  it('answers 504 when the origin never answers, 502 when it closes at once', async () => {
    const access = Object.assign(new OpenAccess(), { decide: () => OPEN_ADMISSION });
    const impatient = await GatewayWorld.start({ access, limits: { answerTimeoutMs: 500 } });
    try {
      await impatient.serveRaw('mute', () => {});
      const late = await impatient.ask(get('mute'));
      assert.equal(statusOf(late), 504);
      assert.equal(impatient.recordOf(errorIdOf(late))['code'], 'answer-timeout');
      const rules = { ...OPEN_RULES, responseTimeoutMs: 60_000 };
      const answer = 'HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nlate';
      const asked = Promise.withResolvers<Socket>();
      await impatient.serveRaw('patient', (socket) => socket.once('data', () => asked.resolve(socket)), {
        rules,
      });
      const patient = await impatient.client();
      patient.send(get('patient'));
      const socket = await within('a request', asked.promise);
      // Longer than the gateway's own limit, which the share's policy has replaced.
      assert.equal(statusOf(await impatient.ask(get('mute'))), 504);
      assert.equal(statusOf(await impatient.ask(get('mute'))), 504);
      socket.end(answer);
      assert.equal(statusOf(await patient.ended()), 200);
    } finally {
      await impatient.close();
    }
    await world.serveRaw('shut', (socket) => socket.once('data', () => socket.destroy()));
    const shut = await world.ask(get('shut'));
    assert.equal(statusOf(shut), 502);
  });

  it('names the hop that failed when there is no circuit', async () => {
    world.publish(shareOf('unhosted'));
    const answer = await world.ask(get('unhosted', '/', 'Accept: text/html\r\nConnection: close\r\n'));
    assert.equal(statusOf(answer), 503);
    assert.match(answer, /Content-Security-Policy: default-src 'none'; style-src 'unsafe-inline'\r\n/);
    assert.match(answer, /<!doctype html>/);
    assert.doesNotMatch(answer, /<script/);
    assert.equal(world.recordOf(errorIdOf(answer))['hop'], 'agent');
    const rows: [CircuitError, number][] = [
      [new CircuitError('service-refused', 'service', 'refused'), 502],
      [new CircuitError('service-timeout', 'service', 'late'), 504],
      [new CircuitError('timeout', 'router', 'late'), 504],
      [new CircuitError('channel-closed', 'router', 'closed'), 503],
      [new CircuitError('not-authorized', 'control', 'no'), 503],
      [new CircuitError('overlay', 'control', 'odd'), 502],
    ];
    for (const [error, status] of rows) {
      world.dialer.refuse = error;
      const page = await world.ask(get('unhosted', '/', 'Accept: application/json\r\nConnection: close\r\n'));
      world.dialer.refuse = undefined;
      assert.equal(statusOf(page), status);
      const body = JSON.parse(bodyOf(page)) as { error: string; errorId: string };
      assert.equal(body.error, error.code);
      const record = world.recordOf(body.errorId);
      assert.equal(record['hop'], error.hop);
      assert.equal(record['cause'], error.message);
    }
  });

  it('keeps the connection after a page when nothing of the request is left', async () => {
    world.publish(shareOf('nowhere'));
    const client = await world.client();
    for (let i = 1; i <= 3; i += 1) {
      client.send(get('nowhere', '/', 'Accept: text/html\r\n'));
      await client.until((text) => text.split('HTTP/1.1 503').length === i + 1 && text.endsWith('</html>\n'));
    }
    client.send('HEAD / HTTP/1.1\r\nHost: nowhere.share.localhost\r\nConnection: close\r\n\r\n');
    assert.match(await client.ended(), /\r\n\r\n$/);
  });

  it('cuts what uses a share when it is withdrawn', async () => {
    await world.serveRaw(
      'withdrawn',
      saying('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n'),
    );
    const client = await world.client();
    client.send(get('withdrawn', '/', ''));
    await client.until((text) => text.includes('x\r\n'));
    world.gateway.table.change([], ['id-withdrawn']);
    assert.doesNotMatch(await client.ended(), /\r\n0\r\n\r\n/);
    assert.equal(statusOf(await world.ask(get('withdrawn'))), 404);
  });
});
