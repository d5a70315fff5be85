// Paths that the gateway answers itself, and maintenance. The service of these shares must not see such requests.
import assert from 'node:assert/strict';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { after, before, beforeEach, describe, it } from 'node:test';
import type { GatewayAnswer } from '#domain/upstream';
import { AccessWorld, rulesOf } from './testing/access-world.ts';
import { basicLine, cheapHashOf } from './testing/basic-credentials.ts';
import { GatewayWorld } from './testing/gateway-world.ts';

const ANSWERS: readonly GatewayAnswer[] = [
  { path: '/robots.txt', status: 200, text: 'User-agent: *\n', contentType: 'text/plain; charset=utf-8' },
  { path: '/admin/*', status: 404, text: 'none', contentType: 'text/plain; charset=utf-8' },
  { path: '/admin/help/*', status: 302, location: 'https://help.example/*' },
  { path: '/old/*', status: 308, location: '/*' },
  { path: '/start', status: 303, location: '/begin?a=b' },
];

describe('paths that a gateway answers itself', () => {
  let world: GatewayWorld;
  let seen: string[] = [];
  before(async () => {
    world = await GatewayWorld.start();
    const answer = (request: IncomingMessage, response: ServerResponse): void => {
      seen.push(request.url ?? '');
      response.end('service');
    };
    await world.serve('app', answer, { upstream: { answers: [...ANSWERS] } });
    const maintenance = { text: 'Back <b>soon</b>\n18:00', retrySeconds: 600 };
    await world.serve('paused', answer, { upstream: { answers: [...ANSWERS], maintenance } });
    await world.serve('closed', answer, { upstream: { maintenance: { text: '', retrySeconds: 60 } } });
  });
  after(() => world.close());
  beforeEach(() => (seen = []));

  const ask = async (target: string, name = 'app', lines: readonly string[] = [], method = 'GET') => {
    const client = await world.client();
    const head = [`${method} ${target} HTTP/1.1`, `Host: ${name}.share.localhost`, ...lines];
    client.send(`${[...head, 'Connection: close'].join('\r\n')}\r\n\r\n`);
    return await client.ended();
  };

  it('are texts and redirects, for every method', async () => {
    const text = await ask('/robots.txt?x');
    assert.match(text, /^HTTP\/1\.1 200 OK\r\n/);
    assert.match(text, /\r\nContent-Type: text\/plain; charset=utf-8\r\n/);
    assert.match(text, /\r\nX-Content-Type-Options: nosniff\r\n/);
    assert.match(text, /\r\n\r\nUser-agent: \*\n$/);
    assert.match(await ask('/robots.txt', 'app', [], 'HEAD'), /\r\nContent-Length: 14\r\n[^]*\r\n\r\n$/);
    assert.match(await ask('/admin/x', 'app', [], 'POST'), /^HTTP\/1\.1 404 [^]*none$/);
    assert.match(await ask('/start?c=d'), /^HTTP\/1\.1 303 [^]*\r\nLocation: \/begin\?a=b\r\n/);
    assert.deepEqual(seen, []);
  });

  it('redirect the rest of a path with its query, and the longest rule counts', async () => {
    assert.match(await ask('/old/a/b?c=d'), /^HTTP\/1\.1 308 [^]*\r\nLocation: \/a\/b\?c=d\r\n/);
    assert.match(await ask('/old/'), /\r\nLocation: \/\r\n/);
    assert.match(await ask('/admin/help/x'), /\r\nLocation: https:\/\/help\.example\/x\r\n/);
    assert.deepEqual(seen, []);
  });

  it('are no others: those reach the service', async () => {
    for (const target of [
      '/',
      '/robots.txt/',
      '/robots.txtx',
      '/admin',
      '/administration',
      '/a//b',
      '/@a%2fb',
    ])
      assert.match(await ask(target), /service$/, target);
    assert.equal(seen.length, 7);
  });

  it('have no other spelling that reaches the service', async () => {
    for (const target of [
      '/x/../admin/y',
      '/x//../admin/y',
      '/.//admin/y',
      '/admin%2fy',
      '/%61dmin%2fy',
      '/%2561dmin/y',
      '/admin;a=b/y',
      '/admin\\y',
      '/admin%5cy',
      '/robots.txt;a',
      '/robots.txt%00',
      '/robots%252etxt',
      '/old//evil.example',
      '/old/%2fevil.example',
    ])
      assert.match(await ask(target), /^HTTP\/1\.1 400 /, target);
    assert.match(await ask('/%61dmin/y'), /^HTTP\/1\.1 404 /);
    assert.deepEqual(seen, []);
  });

  it('are given instead of an upgrade, too', async () => {
    const upgrade = ['Upgrade: websocket'];
    const client = await world.client();
    client.send(
      `GET /admin/ws HTTP/1.1\r\nHost: app.share.localhost\r\nConnection: Upgrade\r\n${upgrade[0]}\r\n\r\n`,
    );
    assert.match(await client.ended(), /^HTTP\/1\.1 404 /);
    assert.deepEqual(seen, []);
  });

  it('are those alone during maintenance, and everything else is 503 with the text of the owner', async () => {
    const page = await ask('/x', 'paused', ['Accept: text/html']);
    assert.match(page, /^HTTP\/1\.1 503 [^]*\r\nRetry-After: 600\r\n/);
    assert.match(page, /Back &lt;b&gt;soon&lt;\/b&gt;\n18:00/);
    const json = await ask('/x', 'paused', ['Accept: application/json']);
    const { error, message, retryable } = JSON.parse(json.slice(json.indexOf('\r\n\r\n')));
    assert.deepEqual([error, message, retryable], ['maintenance', 'Back <b>soon</b>\n18:00', true]);
    assert.match(await ask('/robots.txt', 'paused'), /^HTTP\/1\.1 200 /);
    assert.match(await ask('/x', 'closed'), /Retry-After: 60\r\n[^]*This service is in maintenance/);
    assert.deepEqual(seen, []);
  });
});

describe('a page of the owner for failures', () => {
  const PAGE = '<h1>{{status}}</h1><p>{{message}} {{errorId}}</p>';
  let world: GatewayWorld;
  before(async () => {
    world = await GatewayWorld.start();
    const maintenance = { text: 'a<b $& {{errorId}}', retrySeconds: 60 };
    const none = (_request: IncomingMessage, response: ServerResponse): void => void response.destroy();
    await world.serve('broken', none, { upstream: { errorPage: PAGE } });
    await world.serve('paused', none, { upstream: { errorPage: PAGE, maintenance } });
    await world.serve('strict', none, {
      upstream: { errorPage: PAGE, answers: [{ path: '/a', status: 200, text: '' }] },
    });
  });
  after(() => world.close());

  const ask = async (name: string, accept: string, path = '/') => {
    const client = await world.client();
    const head = [`GET ${path} HTTP/1.1`, `Host: ${name}.share.localhost`, `Accept: ${accept}`];
    client.send(`${[...head, 'Connection: close'].join('\r\n')}\r\n\r\n`);
    return await client.ended();
  };

  it('is shown to browsers, without scripts and with escaped values', async () => {
    const broken = await ask('broken', 'text/html');
    assert.match(broken, /^HTTP\/1\.1 502 [^]*\r\nContent-Security-Policy: default-src 'none';/);
    assert.match(broken, /<h1>502 Bad Gateway<\/h1><p>The service .* \w+<\/p>$/);
    assert.match(await ask('paused', 'text/html'), /<p>a&lt;b \$&amp; \{\{errorId\}\} \w+<\/p>$/);
  });

  it('changes neither JSON nor plain text, nor what the client did wrong', async () => {
    const json = await ask('broken', 'application/json');
    assert.equal(JSON.parse(json.slice(json.indexOf('\r\n\r\n'))).error, 'no-answer');
    assert.match(await ask('broken', '*/*'), /\r\nContent-Type: text\/plain/);
    assert.doesNotMatch(await ask('strict', 'text/html', '/b/../a'), /<p>.* \w+<\/p>$/);
  });
});

describe('paths that a gateway answers itself, of a share with rules', () => {
  let world: AccessWorld;
  before(async () => {
    world = await AccessWorld.start();
    const rules = rulesOf({
      basicAuth: [{ name: 'ann', passwordHash: cheapHashOf('right') }],
      publicPaths: ['/robots.txt'],
    });
    await world.serve('app', { rules, upstream: { answers: [...ANSWERS] } });
    const maintenance = { text: 'Secret plan', retrySeconds: 60 };
    await world.serve('paused', { rules, upstream: { maintenance, errorPage: '<p>Secret page' } });
  });
  after(() => world.close());

  it('obey them: only public paths are answered to everyone', async () => {
    assert.equal((await world.ask('app', { path: '/robots.txt' })).status, 200);
    assert.equal((await world.ask('app', { path: '/start' })).status, 401);
    const refused = await world.ask('paused', { path: '/x', lines: ['Accept: text/html'] });
    assert.equal(refused.status, 401);
    assert.doesNotMatch(refused.body, /Secret/);
    const lines = [basicLine('ann', 'right')];
    assert.equal((await world.ask('app', { path: '/start', lines })).status, 303);
    assert.equal((await world.ask('paused', { path: '/x', lines })).status, 503);
    assert.equal(world.hits('app') + world.hits('paused'), 0);
  });
});
