// Cookies do not know ports: browsers send the cookie of the console to every server of its host. The gateway keeps it from
// the services behind shares, and keeps services from setting it; a cookie that came from elsewhere opens nothing.
import assert from 'node:assert/strict';
import { createServer, request, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { within } from '../support/deadline.ts';
import { openWorld, type World, type WorldAgent } from '../support/world.ts';

const NAME = '__Host-frontdoor-console';
const PLANTED = 'A'.repeat(43);

describe('the cookie of the console at other ports', () => {
  let world: World;
  let agent: WorldAgent;
  let service: Server;
  let host: string;
  const seen: (string | undefined)[] = [];

  before(async () => {
    world = await openWorld();
    service = createServer((incoming, answer) => {
      seen.push(incoming.headers.cookie);
      answer.setHeader('set-cookie', [
        `${NAME}=${PLANTED}; Path=/; Secure; HttpOnly; SameSite=Strict`,
        ` ${NAME}=${PLANTED}; Path=/; Secure`,
        `=${NAME}=${PLANTED}; Path=/; Secure`,
        `__host-frontdoor-console=${PLANTED}; Path=/; Secure`,
        'own=1',
      ]);
      answer.end('ok');
    });
    await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve));
    agent = await world.startAgent('site');
    const { port } = service.address() as AddressInfo;
    const { share } = await agent.share(`http://127.0.0.1:${port}`, { name: 'evil' });
    host = new URL(share.endpoints[0]!).hostname;
    await world.get(host, '/');
    seen.length = 0;
  });
  after(async () => {
    await agent?.close();
    service?.close();
    await world?.close();
  });

  function ask(
    port: number,
    headers: Readonly<Record<string, string>>,
    path = '/',
  ): Promise<IncomingMessage> {
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    request({ host: '127.0.0.1', port, path, headers }, resolve).on('error', reject).end();
    return within(`an answer of port ${port}`, promise);
  }

  async function logIn(): Promise<string> {
    const { accountId: name, apiToken: password } = world.credentials;
    const { apiUrl, consoleUrl } = world.up.control;
    const answer = await fetch(`${consoleUrl}/log-in`, {
      method: 'POST',
      redirect: 'manual',
      headers: { origin: apiUrl },
      body: new URLSearchParams({ name, password }),
    });
    return answer.headers.get('set-cookie')!.split(';')[0]!;
  }

  it('does not reach services behind shares, in any place of the header', async () => {
    const cookie = await logIn();
    const { httpPort } = world.up;
    for (const [sent, received] of [
      [cookie, undefined],
      [`a=1; ${cookie}; b=2`, 'a=1; b=2'],
      [`${cookie};a=1`, 'a=1'],
      [`a=1;  ${cookie} ; ${cookie}`, 'a=1'],
    ] as const) {
      const answer = await ask(httpPort, { host, cookie: sent });
      answer.resume();
      assert.equal(answer.statusCode, 200);
      assert.equal(seen.at(-1)?.replaceAll(/;\s*/g, '; '), received, sent.replace(cookie, '…'));
    }
    assert.ok(!seen.some((text) => text?.includes(cookie.split('=')[1]!)));
  });

  it('cannot be set by services behind shares', async () => {
    const answer = await ask(world.up.httpPort, { host });
    answer.resume();
    assert.deepEqual(answer.headers['set-cookie'], ['own=1']);
  });

  it('opens nothing if a service has made it up, and nothing beside the console', async () => {
    const { apiUrl } = world.up.control;
    const api = new URL(apiUrl);
    const own = { host: api.host, origin: apiUrl };
    const at = (cookie: string, path: string) => ask(Number(api.port), { ...own, cookie }, path);
    const cookie = await logIn();
    for (const [sent, path, status] of [
      [`${NAME}=${PLANTED}`, '/console/api/caller', 401],
      [`${NAME}=${PLANTED}; ${cookie}`, '/console/api/caller', 401],
      [`${cookie}; ${NAME}=`, '/console/api/caller', 401],
      [cookie.replace(NAME, 'frontdoor-console'), '/console/api/caller', 401],
      [cookie.replace(NAME, NAME.toLowerCase()), '/console/api/caller', 401],
      [cookie, '/caller', 401],
      [cookie, '/console/api/caller', 200],
    ] as const) {
      const answer = await at(sent, path);
      answer.resume();
      assert.equal(answer.statusCode, status, `${path} ${sent.replaceAll(cookie, '…')}`);
    }
  });
});
