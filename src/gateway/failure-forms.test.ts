import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { CircuitError } from '#sdk';
import { FAILURES } from './answers/failure-table.ts';
import type { AccessVerdict } from './access/access.ts';
import { bodyOf, GatewayWorld, get, shareOf, statusOf } from './testing/gateway-world.ts';
import { ManualTime } from './testing/manual-time.ts';
import { OpenAccess } from './testing/open-access.ts';

const BROWSER = 'Accept: text/html,application/xhtml+xml,*/*;q=0.8\r\n';
const CLOSE = 'Connection: close\r\n';

describe('a failure of the gateway', () => {
  let world: GatewayWorld;
  before(async () => {
    world = await GatewayWorld.start({ limits: { absenceHoldMs: 0, dialTimeoutMs: 1_000 } });
    world.publish(shareOf('away'));
    world.dialer.refuse = new CircuitError('no-terminator', 'agent', 'no agent');
  });
  after(() => world.close());

  function typeOf(answer: string): string | undefined {
    return /\r\nContent-Type: ([^\r]*)\r\n/.exec(answer)?.[1];
  }

  function idOf(answer: string): string | undefined {
    return /\r\nFrontdoor-Error-Id: ([^\r]*)\r\n/.exec(answer)?.[1];
  }

  it('is a page for browsers, JSON for who asks for it, and plain text for others, and says by what it differs', async () => {
    for (const [lines, type] of [
      [BROWSER, 'text/html; charset=utf-8'],
      ['Accept: application/json\r\n', 'application/json; charset=utf-8'],
      ['Accept: application/problem+json\r\n', 'application/problem+json'],
      ['Accept: */*\r\nX-Requested-With: XMLHttpRequest\r\n', 'application/json; charset=utf-8'],
      ['Accept: */*\r\nSec-Fetch-Dest: empty\r\nSec-Fetch-Mode: cors\r\n', 'application/json; charset=utf-8'],
      ['Accept: image/*\r\nSec-Fetch-Dest: image\r\n', 'text/plain; charset=utf-8'],
      ['Accept: */*\r\n', 'text/plain; charset=utf-8'],
      ['', 'text/plain; charset=utf-8'],
    ] as const) {
      for (const name of ['away', 'nobody']) {
        const answer = await world.ask(get(name, '/', lines + CLOSE));
        assert.equal(statusOf(answer), name === 'away' ? 503 : 404);
        assert.equal(typeOf(answer), type, lines);
        assert.match(answer, /\r\nVary: Accept, X-Requested-With, Sec-Fetch-Dest\r\n/);
        assert.match(answer, /\r\nCache-Control: no-store\r\n/);
        assert.equal(
          Number(/\r\nContent-Length: (\d+)\r\n/.exec(answer)?.[1]),
          Buffer.byteLength(bodyOf(answer)),
        );
      }
    }
  });

  it('has code, message, error id and whether to try again in JSON, and the time for that in its head', async () => {
    const away = await world.ask(get('away', '/', `Accept: application/json\r\n${CLOSE}`));
    assert.deepEqual(JSON.parse(bodyOf(away)), {
      error: 'no-terminator',
      message: 'The service is not connected at the moment. Please try again later.',
      errorId: idOf(away),
      retryable: true,
    });
    assert.match(away, /\r\nRetry-After: 5\r\n/);
    const nobody = await world.ask(get('nobody', '/', `Accept: application/problem+json\r\n${CLOSE}`));
    assert.deepEqual(JSON.parse(bodyOf(nobody)), {
      title: 'Not Found',
      status: 404,
      detail: 'There is no service at this address.',
      error: 'unknown-host',
      message: 'There is no service at this address.',
      errorId: idOf(nobody),
      retryable: false,
    });
    assert.doesNotMatch(nobody, /Retry-After/);
  });

  it('says the same in plain text', async () => {
    const answer = await world.ask(get('away'));
    assert.equal(
      bodyOf(answer),
      `503 Service Unavailable\nThe service is not connected at the moment. Please try again later.\nError: no-terminator\nError ID: ${idOf(answer)}\n`,
    );
  });

  it('has no body for HEAD, whatever its form', async () => {
    for (const lines of [BROWSER, 'Accept: application/json\r\n', '']) {
      for (const head of [
        'Host: away.share.localhost\r\n',
        'Host: away.share.localhost\r\nBad Name: x\r\n',
      ]) {
        const answer = await world.ask(`HEAD / HTTP/1.1\r\n${head}${lines}${CLOSE}\r\n`);
        assert.ok(answer.endsWith('\r\n\r\n'), answer);
        assert.ok(Number(/\r\nContent-Length: (\d+)\r\n/.exec(answer)?.[1]) > 0);
      }
    }
  });

  it('answers the request for a WebSocket in its form as well, and ends the connection', async () => {
    const upgrade =
      'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n';
    const answer = await world.ask(get('away', '/', `${upgrade}Accept: application/json\r\n`));
    assert.equal(statusOf(answer), 503);
    assert.equal((JSON.parse(bodyOf(answer)) as { error: string }).error, 'no-terminator');
    assert.match(answer, /\r\nConnection: close\r\n/);
    assert.equal(typeOf(await world.ask(get('away', '/', upgrade))), 'text/plain; charset=utf-8');
  });

  it('is JSON for who asks for it also when the request is refused as malformed, and a page when too little arrived', async () => {
    const asked = await world.ask(get('away', '/', 'Accept: application/json\r\nBad Name: x\r\n'));
    assert.deepEqual(
      [statusOf(asked), (JSON.parse(bodyOf(asked)) as { error: string }).error],
      [400, 'malformed-field'],
    );
    const large = await world.ask(
      get('away', '/', `Accept: application/json\r\nX: ${'x'.repeat(70_000)}\r\n`),
    );
    assert.equal((JSON.parse(bodyOf(large)) as { error: string }).error, 'head-too-large');
    assert.equal(typeOf(await world.ask('\0')), 'text/html; charset=utf-8');
  });
});

describe('a request whose caller cannot be verified in time', () => {
  it('gets the failure in the form that it asked for, without a body for HEAD', async () => {
    const time = new ManualTime();
    const access = new OpenAccess();
    access.decide = () => new Promise<AccessVerdict>(() => {});
    const world = await GatewayWorld.start({ time, access });
    try {
      await world.serve('app', (_request, response) => response.end('served'));
      const [json, head] = [await world.client(), await world.client()];
      json.send(get('app', '/', 'Accept: application/json\r\n'));
      head.send('HEAD / HTTP/1.1\r\nHost: app.share.localhost\r\n\r\n');
      await world.eventually(() => world.gateway.stats().requests === 2, 'both are being decided');
      time.advance(11_000);
      const answer = await json.ended();
      const { error, retryable } = JSON.parse(bodyOf(answer)) as { error: string; retryable: boolean };
      assert.deepEqual([statusOf(answer), error, retryable], [503, FAILURES.decisionTimeout.code, true]);
      assert.match(await head.ended(), /^HTTP\/1\.1 503 [^]*\r\n\r\n$/);
    } finally {
      await world.close();
    }
  });
});
