// A guarded share redirects nobody to a foreign address, whatever the return address of a log-in, the path or the
// host headers of a request.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { askBytes, statusOf } from '../battery/bytes-client.ts';
import type { IdentityWorld } from '../support/identity-world.ts';
import { releaseWorld, sharedIdentityWorld } from '../support/shared-world.ts';
import { HOST_LINES, REQUEST_TARGETS, RETURN_TARGETS } from '../support/redirect-case-table.ts';
import { goThroughProvider } from '../support/login-browser.ts';

describe('a redirect of a guarded share', () => {
  let world: IdentityWorld;
  let host: string;
  let own: string;
  before(async () => {
    world = await sharedIdentityWorld();
    host = await world.share('guarded', [await world.addProvider('OIDC', 'staff')]);
    own = `https://${host}:${world.securePort}`;
  });
  after(releaseWorld);

  /** As a browser reads it: to this share, to its log-in host, or to the provider with our own address in it. */
  function checkLocation(location: string, name: string): URL {
    const url = new URL(location, own);
    const login = `https://oauth.share.localhost:${world.securePort}`;
    assert.ok([own, login, world.provider.issuer].includes(url.origin), `${name} leads to ${location}`);
    const back = url.searchParams.get('redirect_uri');
    if (back !== null) assert.equal(new URL(back).origin, login, name);
    return url;
  }

  /** From the first redirect through the provider to the page; every step is looked at. False: refused at once. */
  async function follow(target: string, name: string): Promise<boolean> {
    const visitor = world.visitor();
    const started = await visitor.ask(host, target);
    if (started.status === 400) return false;
    assert.equal(started.status, 302, name);
    checkLocation(started.location, name);
    const back = checkLocation((await goThroughProvider(started.location, { user: 'ann' })).href, name);
    const returned = await visitor.ask(back.hostname, back.pathname + back.search);
    const { hostname, pathname, search } = checkLocation(returned.location, name);
    // An address beside the code is not followed either.
    const done = await visitor.ask(hostname, `${pathname}${search}&to=https://evil.test/`);
    assert.equal(done.status, 303, `${name}: ${done.text}`);
    assert.equal(checkLocation(done.location, name).origin, own, name);
    assert.match(done.location, /^\/(?![/\\])/, name);
    return true;
  }

  it('leads to the share, for any return address of a log-in', async () => {
    let followed = 0;
    for (const target of RETURN_TARGETS) {
      if (await follow(`/.frontdoor/login?to=${target}`, `to=${target}`)) followed += 1;
    }
    assert.equal(followed, RETURN_TARGETS.length);
  });

  it('leads to the share, for any path of the request', async () => {
    const followed: string[] = [];
    for (const target of REQUEST_TARGETS) {
      if (target.startsWith('/') && (await follow(target, target))) followed.push(target);
      const text = await askPlain(target, [`Host: ${host}`]);
      checkAnswer(text, `${target} over plain HTTP`);
    }
    // The others are no targets of a request.
    assert.equal(followed.length, 6, followed.join(' '));
  });

  it('leads to the share, for any host headers of the request', async () => {
    for (const lines of HOST_LINES) {
      const named = lines.map((line) => line.replace('HOST', host));
      const name = lines.join(', ');
      checkAnswer(await askPlain('/page', named), `${name} over plain HTTP`);
      const tls = { ca: world.ca, servername: host };
      const request = requestOf('/page', named);
      checkAnswer(await askBytes({ port: world.securePort, tls }, request), name);
      checkAnswer(
        await askBytes({ port: world.securePort, tls }, requestOf('/.frontdoor/login?to=/page', named)),
        `${name} at the log-in`,
      );
    }
    assert.ok(RETURN_TARGETS.length + REQUEST_TARGETS.length + HOST_LINES.length >= 60);
  });

  function checkAnswer(text: string, name: string): void {
    assert.ok(statusOf(text) >= 300 && statusOf(text) < 500, `${name}: ${text.slice(0, 200)}`);
    const [head = ''] = text.split('\r\n\r\n');
    const locations = head.split('\r\n').filter((line) => /^(?:location|refresh|link):/i.test(line));
    assert.ok(locations.length <= 1, name);
    for (const line of locations) checkLocation(line.slice(line.indexOf(':') + 1).trim(), name);
  }

  function requestOf(target: string, lines: readonly string[]): string {
    const all = [...lines, 'Accept: text/html', 'Sec-Fetch-Mode: navigate', 'Connection: close'];
    return `GET ${target} HTTP/1.1\r\n${all.join('\r\n')}\r\n\r\n`;
  }

  function askPlain(target: string, lines: readonly string[]): Promise<string> {
    return askBytes({ port: world.plainPort }, requestOf(target, lines));
  }
});
