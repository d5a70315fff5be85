import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo, Server } from 'node:net';
import { test, type TestContext } from 'node:test';
import { makeTestAuthority } from '../../support/certificates.ts';
import { BrowserWalk } from './browser-walk.ts';

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

async function serve(t: TestContext, server: Server & { closeAllConnections(): void }): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

test('a walk follows redirects from TLS to plain HTTP and back, each host gets its own cookies only', async (t) => {
  const { cert, key, ca } = await (
    await makeTestAuthority()
  ).issue('x', { dns: ['*.zone.example', 'share.zone.example'] });
  const seen: string[] = [];
  const note = ({ headers, url }: IncomingMessage): void => {
    seen.push(`${headers.host?.split(':')[0]}${url} ${headers.cookie ?? '-'}`);
  };
  const secure: Answer = (request, response) => {
    note(request);
    if (request.url === '/start') {
      const location = `http://localhost:${plainPort}/who`;
      response.writeHead(302, { location, 'set-cookie': ['pre=1; Path=/; Secure', 'old=1; Max-Age=0'] });
    } else if (request.url === '/callback') {
      const location = `https://share.zone.example:${securePort}/end`;
      response.writeHead(303, { location, 'set-cookie': 'of-oauth=2' });
    } else response.writeHead(200, { 'set-cookie': 'session=3' });
    response.end();
  };
  const plain: Answer = (request, response) => {
    note(request);
    response.writeHead(302, { location: `https://oauth.zone.example:${securePort}/callback` });
    response.end();
  };
  const securePort = await serve(t, createSecureServer({ cert, key }, secure));
  const plainPort = await serve(t, createServer(plain));
  const browser = new BrowserWalk(ca);
  assert.deepEqual(await browser.open(`https://share.zone.example:${securePort}/start`), {
    status: 200,
    at: `https://share.zone.example:${securePort}/end`,
  });
  assert.deepEqual(seen, [
    'share.zone.example/start -',
    'localhost/who -',
    'oauth.zone.example/callback -',
    'share.zone.example/end pre=1',
  ]);
  assert.equal(browser.cookie('share.zone.example', 'session'), '3');
  assert.equal(browser.cookie('oauth.zone.example', 'session'), undefined);
});

test('redirects without end are an error that does not show the query', async (t) => {
  const port = await serve(
    t,
    createServer((_request, response) => {
      response.writeHead(302, { location: '/again?code=secret' }).end();
    }),
  );
  const walk = new BrowserWalk('').open(`http://localhost:${port}/`);
  await assert.rejects(walk, (error: Error) => {
    assert.match(error.message, /redirects, the last to .*\/again$/);
    return true;
  });
});
