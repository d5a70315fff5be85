// Enrollment codes under abuse, and bodies without end on the routes that ask for no credentials.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect as connectTcp, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { after, before, describe, it } from 'node:test';
import { FrontdoorError } from '#base';
import { JsonClient } from '#net/http';
import { enrollIdentity, fetchBootstrapToken } from '#sdk';
import { startCanary, type Canary } from '../support/canary.ts';
import { until, within } from '../support/deadline.ts';
import { startHttpService, type FaultyService } from '../support/faulty-service.ts';
import { openWorld, type World } from '../support/world.ts';

const CODE_LIFE_MS = 900_000;

let world: World;
let service: FaultyService;
let canary: Canary;
let offsetMs = 0;

before(async () => {
  service = await startHttpService((_request, response) => response.end('here'));
  world = await openWorld({
    clock: { nowMs: () => Date.now() + offsetMs, monotonicMs: () => performance.now() + offsetMs },
  });
  const agent = await world.startAgent('site');
  await agent.share(service.target, { name: 'canary' });
  canary = startCanary(world.up.httpPort, 'canary.share.localhost', '/', 'here'.length);
});

after(async () => {
  try {
    await canary?.stop(30);
  } finally {
    await world?.close();
    await service.stop();
  }
});

async function environmentCount(): Promise<number> {
  const answer = await world.call('GET', '/environments?size=100');
  return (answer.json as { content: unknown[] }).content.length;
}

describe('an enrollment code', () => {
  it('makes one identity when a hundred requests race for it', async () => {
    const jwt = await world.enrollmentJwt();
    const before_ = await environmentCount();
    const tries = await Promise.allSettled(
      Array.from({ length: 100 }, (_, i) => enrollIdentity({ jwt, name: `racer-${i}`, timeoutMs: 30_000 })),
    );
    const won = tries.filter((each) => each.status === 'fulfilled');
    assert.equal(won.length, 1);
    for (const each of tries) {
      if (each.status === 'fulfilled') continue;
      assert.ok(each.reason instanceof FrontdoorError, String(each.reason));
      assert.ok(
        ['invalid', 'conflict', 'notFound', 'limited', 'unauthenticated'].includes(each.reason.kind),
        each.reason.message,
      );
    }
    assert.equal(await environmentCount(), before_ + 1);
  });

  it('is refused the second time, as code and as token, with a reason in the log and no code in it', async () => {
    const code = await world.enrollmentCode();
    const { token } = await fetchBootstrapToken({ apiUrl: world.up.control.apiUrl, code });
    await enrollIdentity({ jwt: token, name: 'first' });
    const records = world.recordsFromNow();
    await assert.rejects(enrollIdentity({ jwt: token, name: 'second' }), FrontdoorError);
    await assert.rejects(fetchBootstrapToken({ apiUrl: world.up.control.apiUrl, code }), FrontdoorError);
    const refused = records().filter(({ message }) => message.includes('refused'));
    assert.ok(refused.length >= 1, JSON.stringify(records()));
    assert.ok(!JSON.stringify(world.records).includes(code));
    assert.ok(!JSON.stringify(world.records).includes(token));
  });

  it('is refused after its time, as code and as token', async () => {
    const [code, jwt] = await Promise.all([world.enrollmentCode(), world.enrollmentJwt()]);
    offsetMs += CODE_LIFE_MS + 1_000;
    try {
      await assert.rejects(enrollIdentity({ jwt, name: 'late' }), FrontdoorError);
      await assert.rejects(fetchBootstrapToken({ apiUrl: world.up.control.apiUrl, code }), FrontdoorError);
    } finally {
      offsetMs = 0;
    }
  });
});

interface Route {
  readonly name: string;
  readonly api: 'management' | 'edge';
  readonly head: string;
}

const ROUTES: readonly Route[] = [
  {
    name: 'the token endpoint',
    api: 'management',
    head: 'POST /oauth/token HTTP/1.1\r\nContent-Type: application/x-www-form-urlencoded',
  },
  {
    name: 'log-in',
    api: 'edge',
    head: 'POST /edge/client/v1/authenticate?method=cert HTTP/1.1\r\nContent-Type: application/json',
  },
  {
    name: 'enrollment',
    api: 'edge',
    head: 'POST /edge/client/v1/enroll?method=ott&token=x HTTP/1.1\r\nContent-Type: application/x-pem-file',
  },
  {
    name: 'enrollment at the root path',
    api: 'edge',
    head: 'POST /enroll?method=erott&token=x HTTP/1.1\r\nContent-Type: application/json',
  },
];

function openRoute(route: Route): Promise<Socket> {
  const url = new URL(route.api === 'edge' ? world.up.control.edgeApiUrl : world.up.control.apiUrl);
  const port = Number(url.port);
  const socket: Socket =
    route.api === 'edge'
      ? connectTls({ host: '127.0.0.1', port, rejectUnauthorized: false, ALPNProtocols: ['http/1.1'] })
      : connectTcp(port, '127.0.0.1');
  return within(
    'a connection',
    once(socket, route.api === 'edge' ? 'secureConnect' : 'connect').then(() => {
      socket.on('error', () => {});
      return socket;
    }),
  );
}

/** The text that the server has sent so far. */
function listenTo(socket: Socket): { text: string; isClosed: boolean } {
  const response = { text: '', isClosed: false };
  socket.on('data', (bytes: Buffer) => (response.text += bytes.toString('latin1')));
  socket.on('close', () => (response.isClosed = true));
  return response;
}

describe('a body over the cap', () => {
  for (const route of ROUTES) {
    it(`is refused by ${route.name} before its last byte when it has a Content-Length`, async () => {
      const socket = await openRoute(route);
      const response = listenTo(socket);
      socket.write(`${route.head}\r\nHost: localhost\r\nContent-Length: 4000000000\r\n\r\n{"a":"`);
      await until(
        'an answer',
        () => response.text,
        (text) => text.startsWith('HTTP/1.1 413 '),
      );
      socket.destroy();
    });

    it(`is refused by ${route.name} once it passes the cap when it has no Content-Length`, async () => {
      const socket = await openRoute(route);
      const response = listenTo(socket);
      socket.write(`${route.head}\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n`);
      const chunk = `10000\r\n${'x'.repeat(65_536)}\r\n`;
      let sent = 0;
      while (!response.text && !response.isClosed && sent < 40 * 65_536) {
        socket.write(chunk);
        sent += 65_536;
        await new Promise((resolve) => setImmediate(resolve));
      }
      await until(
        'an answer',
        () => response.text,
        (text) => text.startsWith('HTTP/1.1 413 '),
      );
      socket.destroy();
    });
  }

  it('is refused as a header, too: 431 on both APIs', async () => {
    for (const route of ROUTES.slice(0, 2)) {
      const socket = await openRoute(route);
      const response = listenTo(socket);
      socket.write(`${route.head}\r\nHost: localhost\r\nX-Long: ${'x'.repeat(64_000)}\r\n\r\n`);
      await until(
        'an answer',
        () => response.text,
        (text) => text.startsWith('HTTP/1.1 431 '),
      );
      socket.destroy();
    }
  });
});

describe('a client of the APIs that sends nothing', () => {
  it('is cut off before and after its TLS handshake', async () => {
    const { edgeApiUrl, apiUrl } = world.up.control;
    const edgePort = Number(new URL(edgeApiUrl).port);
    const raw = [connectTcp(edgePort, '127.0.0.1'), connectTcp(Number(new URL(apiUrl).port), '127.0.0.1')];
    const sockets: Socket[] = [...raw, await openRoute(ROUTES[1]!)];
    for (const socket of sockets) socket.on('error', () => {}).resume();
    await until(
      'the end of the connections before and after TLS, and of the plain one',
      () => sockets.map((socket) => socket.closed),
      (closed) => closed.every(Boolean),
    );
    const client = new JsonClient({ origin: apiUrl });
    assert.equal((await client.request({ method: 'GET', path: '/.well-known/jwks.json' })).status, 200);
    await client.close();
  });
});
