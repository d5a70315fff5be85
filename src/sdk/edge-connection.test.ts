import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterEach, before, beforeEach, describe, it } from 'node:test';
import { ManualClock, silentLog } from '#base';
import { until } from '../../test/support/deadline.ts';
import { makeTestAuthority, type TestAuthority } from '../../test/support/certificates.ts';
import { EdgeConnection, PATIENCE_MS, PROBE_MS } from './edge-connection.ts';

type Mode = 'answers' | 'silent' | 'unavailable' | 'slow';

/** A control plane of the test, which answers with its own name. */
class Played {
  readonly name: string;
  readonly #tls: { readonly cert: string; readonly key: string };
  readonly paths: string[] = [];
  mode: Mode = 'answers';
  #server: Server | undefined;
  #port = 0;

  constructor(name: string, tls: { readonly cert: string; readonly key: string }) {
    this.name = name;
    this.#tls = tls;
  }

  get url(): string {
    return `https://localhost:${this.#port}`;
  }

  async start(): Promise<void> {
    const { cert, key } = this.#tls;
    this.#server = createServer({ cert, key }, (request, response) => this.#answer(request, response));
    this.#server.listen(this.#port, '127.0.0.1');
    await once(this.#server, 'listening');
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  stop(): void {
    this.#server?.closeAllConnections();
    this.#server?.close();
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    request.resume();
    const isProbe = request.url === '/edge/client/v1/version';
    if (!isProbe) this.paths.push(request.url!);
    if (this.mode === 'silent') return;
    if (request.url === '/stream') {
      response.write('first');
      return;
    }
    const end = (): void => void response.end(JSON.stringify(this.name));
    response.statusCode = this.mode === 'unavailable' ? 503 : 200;
    if (this.mode === 'slow' && !isProbe) setTimeout(end, PATIENCE_MS + PROBE_MS + 200);
    else end();
  }
}

describe('a connection to several control planes', () => {
  const clock = new ManualClock();
  let authority: TestAuthority;
  let a: Played;
  let b: Played;
  let connection: EdgeConnection;
  before(async () => {
    authority = await makeTestAuthority();
  });
  const connect = async (others: readonly string[]): Promise<void> => {
    const { cert: certPem, key: keyPem } = await authority.issue('client');
    const identity = { apiUrl: a.url, keyPem, certPem, caPem: authority.ca };
    connection = new EdgeConnection({
      identity,
      log: silentLog,
      controlPlanes: others,
      clock,
      random: () => 0,
    });
  };
  beforeEach(async () => {
    a = new Played('a', await authority.issue('localhost'));
    b = new Played('b', await authority.issue('localhost'));
    await Promise.all([a.start(), b.start()]);
    await connect([b.url]);
  });
  afterEach(async () => {
    await connection.close();
    for (const one of [a, b]) one.stop();
  });

  const get = async (path = '/'): Promise<unknown> =>
    (await connection.request({ method: 'GET', path })).json;

  it('leaves one that is gone with the next request, of any method, and stays at the other', async () => {
    a.stop();
    const posted = await connection.request({ method: 'POST', path: '/once', body: {} });
    assert.equal(posted.json, 'b');
    assert.equal(connection.apiUrl, b.url);
    await a.start();
    assert.equal(await get(), 'b');
  });

  it('leaves one that accepts connections and does not respond within two seconds', async () => {
    assert.ok(PATIENCE_MS + PROBE_MS < 2_000);
    assert.equal(await get(), 'a');
    a.mode = 'silent';
    const many = await Promise.all(Array.from({ length: 20 }, () => get()));
    assert.deepEqual(new Set(many), new Set(['b']));
    assert.equal(connection.apiUrl, b.url);
  });

  it('sends a request that must not be sent twice to no other once it was received', async () => {
    a.mode = 'silent';
    const asked = connection.request({ method: 'POST', path: '/once', body: {} });
    await assert.rejects(asked, { code: 'unreachable' });
    assert.deepEqual([a.paths, b.paths], [['/once'], []]);
    const repeatable = { method: 'POST', path: '/again', body: {}, isRepeatable: true } as const;
    assert.equal((await connection.request(repeatable)).json, 'b');
  });

  it('waits for one that is slow and responds to a probe', async () => {
    a.mode = 'slow';
    assert.equal(await get(), 'a');
    assert.deepEqual([connection.apiUrl, b.paths], [a.url, []]);
  });

  it('asks another when one is unavailable, and returns the refusal of the first when all are', async () => {
    a.mode = 'unavailable';
    assert.equal(await get(), 'b');
    assert.equal(connection.apiUrl, b.url);
    b.mode = 'unavailable';
    assert.deepEqual((await connection.request({ method: 'GET', path: '/' })).json, 'b');
  });

  it('asks each once and rejects when none can be reached', async () => {
    a.stop();
    b.stop();
    await assert.rejects(get(), { code: 'unreachable' });
    await b.start();
    assert.equal(await get(), 'b');
  });

  it('sends nothing to a listed address whose certificate is of another name or authority', async () => {
    const strangers = [
      new Played('other name', await authority.issue('elsewhere.example', { dns: ['elsewhere.example'] })),
      new Played('other authority', await (await makeTestAuthority()).issue('localhost')),
    ];
    for (const stranger of strangers) await stranger.start();
    await connect(strangers.map(({ url }) => url));
    a.stop();
    const refused = assert.rejects(get(), { code: 'unreachable' });
    await refused.finally(() => strangers.forEach((stranger) => stranger.stop()));
    assert.deepEqual(
      strangers.map(({ paths }) => paths),
      [[], []],
    );
  });

  it('breaks a stream of one that stops responding to requests', async () => {
    const stop = new AbortController();
    const { bytes } = await connection.stream({ method: 'GET', path: '/stream' }, 60_000, stop.signal);
    const end = (async () => {
      for await (const chunk of bytes) assert.equal(Buffer.from(chunk).toString(), 'first');
    })();
    const broken = assert.rejects(end);
    a.mode = 'silent';
    assert.equal(await get(), 'b');
    await broken;
    const next = await connection.stream({ method: 'GET', path: '/stream' }, 60_000, stop.signal);
    assert.equal(next.status, 200);
    assert.deepEqual(b.paths, ['/', '/stream']);
    stop.abort();
  });

  it('returns to the control plane of the enrollment when that responds again, after a pause', async () => {
    a.stop();
    assert.equal(await get(), 'b');
    clock.advance(59_000);
    assert.equal(await get(), 'b');
    // The pause is over, and it is still away.
    clock.advance(1_000);
    assert.equal(await get(), 'b');
    await a.start();
    const later = (): Promise<unknown> => {
      clock.advance(240_000);
      return get();
    };
    await until('A is used again', later, (name) => name === 'a');
    assert.equal(connection.apiUrl, a.url);
  });
});
