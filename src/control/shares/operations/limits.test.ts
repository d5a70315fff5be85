import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { after, afterEach, before, describe, it } from 'node:test';
import { within } from '../../../../test/support/deadline.ts';
import { closeOf } from '../../../../test/support/socket-end.ts';
import { AUDIENCE, openApiWorld, type ApiWorld } from './api-fixture.ts';
import type { ApiLimits } from './limits.ts';

const TINY = { perSecond: 1, burst: 2 };

let world: ApiWorld | undefined;
async function open(limits: Partial<ApiLimits>): Promise<ApiWorld> {
  world = await openApiWorld({ limits });
  return world;
}
afterEach(async () => {
  await world?.close();
  world = undefined;
});

/** The status of a call from an address. */
async function statusFrom(
  remoteAddress: string,
  method: 'GET' | 'POST',
  url: string,
  { headers = {}, body }: { headers?: Record<string, string>; body?: unknown } = {},
): Promise<number> {
  const json = body === undefined ? {} : { payload: JSON.stringify(body) };
  const typed = body === undefined ? {} : { 'content-type': 'application/json' };
  const answer = await world!.app.inject({
    method,
    url,
    remoteAddress,
    headers: { ...typed, ...headers },
    ...json,
  });
  return answer.statusCode;
}

const CODE = '/frontdoor/agents/bootstrap-token/AAAA';

describe('the limit per address', () => {
  it('answers 429 with Retry-After, for each operation and each network', async () => {
    const { clock, first } = await open({ credentials: TINY });
    const statuses = [1, 2, 3].map(() => statusFrom('192.0.2.1', 'GET', CODE));
    assert.deepEqual(await Promise.all(statuses), [404, 404, 429]);
    assert.equal(await statusFrom('192.0.2.2', 'GET', CODE), 404);
    assert.equal(await statusFrom('192.0.2.1', 'POST', '/oauth/token', { body: {} }), 400);
    const enrollments = `/frontdoor/${first.frontdoorId}/agents/enrollments`;
    const asked = [1, 2, 3].map(() => statusFrom('192.0.2.1', 'POST', enrollments));
    assert.deepEqual(await Promise.all(asked), [401, 401, 429], 'before anybody is asked who they are');
    for (const [address, status] of [
      ['2001:db8:1:2::1', 404],
      ['2001:db8:1:2:ffff::2', 404],
      ['2001:db8:1:2::3', 429],
      ['2001:db8:1:3::3', 404],
    ] as const)
      assert.equal(await statusFrom(address, 'GET', CODE), status, address);
    clock.advance(1_000);
    assert.equal(await statusFrom('192.0.2.1', 'GET', CODE), 404);
  });

  it('uses the address of the connection, and no header', async () => {
    await open({ credentials: TINY });
    const forged = Array.from({ length: 10 }, (_, i) => `198.51.100.${i}`);
    const statuses = [];
    for (const address of forged) {
      const headers = {
        'x-forwarded-for': `${address}, 10.0.0.1`,
        forwarded: `for=${address}`,
        'x-real-ip': address,
        'x-client-ip': address,
        'true-client-ip': address,
      };
      statuses.push(await statusFrom('192.0.2.1', 'GET', CODE, { headers }));
    }
    assert.deepEqual(statuses, [404, 404, ...Array.from({ length: 8 }, () => 429)]);
  });

  it('is not dodged by other spellings of a path: they count as the same, or lead nowhere', async () => {
    await open({ credentials: TINY });
    const ask = (url: string) => statusFrom('192.0.2.1', 'POST', url, { body: {} });
    assert.equal(await ask('/%6fauth/token'), 400);
    assert.equal(await ask('/oauth/toke%6E?x=1'), 400);
    assert.equal(await ask('/oauth/token'), 429);
    assert.equal(await ask('/oauth/%74oken'), 429);
    for (const url of [
      '//oauth/token',
      '/oauth//token',
      '/oauth/token/',
      '/oauth/token//',
      '/OAuth/token',
      '/oauth/TOKEN',
      '/oauth%2ftoken',
      '/oauth/token%20',
      '/x/%2e%2e%2foauth/token',
      '/oauth/token.',
      '/oauth/token;x=1',
      '/oauth/token%00',
    ])
      assert.equal(await ask(url), 404, url);
  });
});

describe('the limit per caller', () => {
  it('holds for writes of one caller, from any address, and for nobody else', async () => {
    const { first, authorization, other, addAccount, clock } = await open({ writes: TINY });
    const url = `/frontdoor/${first.frontdoorId}/agents/enrollments`;
    const write = (address: string, credential: string) =>
      statusFrom(address, 'POST', url, { headers: { authorization: credential } });
    assert.equal(await write('192.0.2.1', authorization), 201);
    assert.equal(await write('192.0.2.2', authorization), 201);
    assert.equal(await write('192.0.2.3', authorization), 429);
    const second = await addAccount(first.organizationId, 'frontdoor.write');
    assert.equal(await write('192.0.2.3', second.authorization), 201);
    assert.equal(await write('192.0.2.3', other.authorization), 403);
    const read = await statusFrom('192.0.2.3', 'GET', '/caller', { headers: { authorization } });
    assert.equal(read, 200);
    clock.advance(1_000);
    assert.equal(await write('192.0.2.3', authorization), 201);
  });
});

describe('wrong secrets at the token endpoint', () => {
  const ask = (address: string, client_id: string, client_secret: string) =>
    statusFrom(address, 'POST', '/oauth/token', {
      body: { grant_type: 'client_credentials', audience: AUDIENCE, client_id, client_secret },
    });

  it('are bounded per client and address: they lock out neither other clients there nor this one elsewhere', async () => {
    const { first, clock, addAccount, call } = await open({ failedLogins: TINY });
    const { clientId, clientSecret, organizationId } = first;
    const guesses = [];
    for (let i = 0; i < 4; i += 1) guesses.push(await ask('198.51.100.1', clientId, `guess-${i}`));
    assert.deepEqual(guesses, [401, 401, 429, 429]);
    assert.equal(await ask('198.51.100.1', clientId, clientSecret), 429, 'not even the right one, there');
    assert.equal(await ask('198.51.100.2', clientId, clientSecret), 200, 'its first use elsewhere');
    const second = await addAccount(organizationId, 'frontdoor.read');
    await call('PATCH', `/organizations/${organizationId}/settings`, { body: { tokenExchange: true } });
    assert.equal(await ask('198.51.100.1', second.id, second.token), 200, 'another’s first use there');
    for (let i = 0; i < 100; i += 1) await ask('198.51.100.1', randomUUID(), 'x');
    assert.equal(await ask('198.51.100.1', second.id, second.token), 200);
    clock.advance(1_000);
    assert.equal(await ask('198.51.100.1', clientId, clientSecret), 200);
    assert.equal(await ask('198.51.100.1', clientId, 'x'), 401);
    assert.equal(await ask('198.51.100.1', clientId, 'x'), 429);
  });

  it('have a Retry-After, in the form of every refusal', async () => {
    const { call, first } = await open({ failedLogins: { perSecond: 0.1, burst: 1 } });
    const body = {
      grant_type: 'client_credentials',
      audience: AUDIENCE,
      client_id: first.clientId,
      client_secret: 'x',
    };
    await call('POST', '/oauth/token', { authorization: null, body });
    const refused = await call('POST', '/oauth/token', { authorization: null, body });
    assert.equal(refused.status, 429);
    assert.equal(refused.headers['retry-after'], '10');
    assert.deepEqual(refused.body, { error: 'rate_limited', message: 'Too many requests' });
  });
});

describe('slow callers', () => {
  let slow: ApiWorld;
  let port: number;
  before(async () => {
    slow = await openApiWorld({ limits: { headTimeoutMs: 1_000, requestTimeoutMs: 2_000 } });
    await slow.app.listen({ host: '127.0.0.1', port: 0 });
    ({ port } = slow.app.server.address() as AddressInfo);
  });
  after(() => slow.close());

  /** Sends the beginning, then a byte every 50 ms; what came back until the server ended it. */
  async function drip(beginning: string, byte: string): Promise<string> {
    const socket: Socket = connect(port, '127.0.0.1');
    const parts: Buffer[] = [];
    socket.on('data', (part: Buffer) => parts.push(part)).on('error', () => {});
    socket.write(beginning);
    const timer = setInterval(() => socket.writable && socket.write(byte), 50);
    try {
      await within('the end of the connection', closeOf(socket));
    } finally {
      clearInterval(timer);
      socket.destroy();
    }
    return Buffer.concat(parts).toString();
  }

  it('of a head are cut off at its deadline, those of a body at the request’s, with or without credentials', async () => {
    const post = `POST /frontdoor HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 5000\r\n`;
    const token = `POST /oauth/token HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 5000\r\n`;
    const answers = await Promise.all([
      drip('GET /caller HTTP/1.1\r\nHost: a\r\nX: ', 'x'),
      drip('GET /', 'x'),
      drip(`${post}Authorization: ${slow.authorization}\r\n\r\n{`, ' '),
      drip(`${token}\r\n{`, ' '),
    ]);
    for (const answer of answers) {
      assert.match(answer, /^HTTP\/1\.1 408 /);
      assert.match(answer, /\{"error":"timeout","message":"The request did not arrive in time"\}$/);
    }
    const good = await fetch(`http://127.0.0.1:${port}/caller`, {
      headers: { authorization: slow.authorization },
    });
    assert.equal(good.status, 200);
  });

  it('have ten seconds for a head and thirty for a request by default', async () => {
    const { server } = (await open({})).app;
    assert.deepEqual([server.headersTimeout, server.requestTimeout], [10_000, 30_000]);
  });
});
