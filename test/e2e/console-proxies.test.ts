// The console behind nginx and behind haproxy, with TLS and a path of its own: log-in, cookie, checks of origin and host,
// redirects, streams, log-out. A wrong --public-api-url never leads in circles: the page says what to do.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { definedFields, silentLog } from '#base';
import { parseTrustedProxies } from '#domain/proxies';
import { parsePublicApiUrl, startControlPlane, type ControlPlane } from '#control';
import { OutwardDialer } from '#net';
import { JsonClient } from '#net/http';
import { browserSkip, startBrowser, type LocalBrowser, type Person } from '../support/browser.ts';
import { buildConsoleNow } from '../support/built-console.ts';
import { makeTestAuthority, type TestIdentity } from '../support/certificates.ts';
import { within } from '../support/deadline.ts';
import { freePort } from '../support/free-port.ts';
import {
  PROXY_NAMES,
  proxySkip,
  startReverseProxy,
  type ReverseProxyOptions,
} from '../support/reverse-proxy.ts';

const HOST = 'front.test';
const PASSWORD = 'seven small harbours';
/** The name that browsers send is on this machine. */
const outward = new OutwardDialer({
  lookup: (_host, _options, done) => setImmediate(done, null, [{ address: '127.0.0.1', family: 4 }]),
});
const COOKIE = '__Host-frontdoor-console';
const FORM = { 'content-type': 'application/x-www-form-urlencoded' };

interface Site {
  readonly control: ControlPlane;
  /** The origin that browsers see. */
  readonly origin: string;
  close(): Promise<void>;
}

interface SiteOptions extends Pick<ReverseProxyOptions, 'name' | 'replacesHost' | 'removedPrefix'> {
  /** For the origin that browsers see; undefined: the option is not given. */
  readonly publicApiUrl: (origin: string) => string | undefined;
  readonly tls?: TestIdentity;
}

async function openSite({ publicApiUrl, ...options }: SiteOptions): Promise<Site> {
  const folder = mkdtempSync(join(tmpdir(), 'frontdoor-proxied-'));
  const port = await freePort();
  const origin = `${options.tls === undefined ? 'http' : 'https'}://${HOST}:${port}`;
  const url = publicApiUrl(origin);
  const control = await startControlPlane({
    dataDir: folder,
    listenHost: '127.0.0.1',
    advertiseHost: 'localhost',
    zone: 'share.localhost',
    apiPort: 0,
    edgeApiPort: 0,
    ctrlPort: 0,
    frontendUrls: () => [],
    log: silentLog,
    publicApiUrl: url === undefined ? undefined : parsePublicApiUrl(url),
    trustedProxies: parseTrustedProxies('127.0.0.1'),
  });
  const serverPort = Number(new URL(control.apiUrl).port);
  const proxy = await startReverseProxy({ ...options, port, serverPort });
  return {
    control,
    origin,
    close: async () => {
      await proxy.close();
      await control.close();
      rmSync(folder, { recursive: true });
    },
  };
}

let certificate: TestIdentity;
before(async () => {
  await buildConsoleNow();
  certificate = await (await makeTestAuthority()).issue(HOST, { dns: [HOST, `app.${HOST}`, 'evil.test'] });
});

function clientOf({ origin }: Site): JsonClient {
  return new JsonClient({ origin, ca: certificate.ca, outward });
}

for (const name of PROXY_NAMES) {
  describe(`the console behind ${name}`, { skip: proxySkip(name) }, () => {
    let site: Site;
    let client: JsonClient;
    let base: string;
    before(async () => {
      const publicApiUrl = (origin: string) => `${origin}/base`;
      site = await openSite({ name, publicApiUrl, tls: certificate });
      base = `${site.origin}/base/console`;
      client = clientOf(site);
    });
    after(async () => {
      await client?.close();
      await site?.close();
    });

    const send = (
      method: 'GET' | 'POST',
      path: string,
      headers: Record<string, string> = {},
      body?: string,
    ) => {
      const own = { host: new URL(base).host, origin: site.origin };
      return client.request({ method, path: `/base/console${path}`, headers: { ...own, ...headers }, body });
    };

    /** Returns the cookie of a new session of the first account. */
    async function logIn(to = ''): Promise<{ readonly cookie: string; readonly location: string }> {
      const { accountId, apiToken } = site.control.firstStart!;
      const form = new URLSearchParams({ name: accountId, password: apiToken, to }).toString();
      const { status, headers } = await send('POST', '/log-in', FORM, form);
      assert.equal(status, 303);
      return { cookie: String(headers['set-cookie']).split(';')[0]!, location: String(headers.location) };
    }

    it(
      'takes people in and lets them out, under its own address alone',
      { skip: browserSkip },
      async (test) => {
        const browser = await startBrowser([HOST]);
        test.after(() => browser.close());
        const person = await browser.person(`console behind ${name}`);
        const { page, context } = person;
        await page.goto(site.control.consoleLink!);
        await page.fill('#email', 'ann@example.com');
        await page.fill('#name', 'Ann');
        await page.fill('#password', PASSWORD);
        await page.click('button:not([type])');
        await page.waitForURL(base);
        const [cookie] = (await context.cookies()).filter((each) => each.name === COOKIE);
        assert.deepEqual(
          [cookie?.domain, cookie?.path, cookie?.secure, cookie?.httpOnly, cookie?.sameSite],
          [HOST, '/', true, true, 'Strict'],
        );
        await page.goto(`${base}/account`);
        await page.click('button:text("Sign out")');
        await page.waitForURL(`${base}/log-in`);
        assert.deepEqual(
          (await context.cookies()).filter((each) => each.name === COOKIE),
          [],
        );
        await page.fill('#name', 'ann@example.com');
        await page.fill('#password', PASSWORD);
        await page.click('button:not([type])');
        await page.waitForURL(base);
        await page.goto(`${base}/account`);
        assert.match((await page.textContent('main')) ?? '', /Ann.*Sign out/s);
        await page.goto(`${base}/shares`);
        await page.waitForSelector('#root > :not(style, #coming)');
        const steps = await person.steps();
        assert.deepEqual(
          steps.filter((step) => !step.split(' ')[2]!.startsWith(base)),
          [],
        );
        await person.close();
      },
    );

    it('knows its pages from those of others, and its name from other names', async () => {
      const { cookie } = await logIn();
      const json = { cookie, 'content-type': 'application/json', 'frontdoor-console': '1' };
      const invite = (headers: Record<string, string>) =>
        send('POST', '/api/invitations', { ...json, ...headers }, '{"name":"x","role":"reader"}');
      const port = new URL(base).port;
      for (const origin of [
        'https://evil.test',
        `https://app.${HOST}:${port}`,
        `https://${HOST}`,
        site.origin.replace('https', 'http'),
        'null',
      ]) {
        assert.equal((await invite({ origin })).status, 403, origin);
        assert.equal((await send('POST', '/log-out', { ...FORM, cookie, origin }, '')).status, 403, origin);
      }
      for (const host of ['evil.test', `evil.test:${port}`, `app.${HOST}:${port}`, HOST])
        for (const path of ['/log-in', '/api/caller'])
          assert.equal((await send('GET', path, { host, cookie })).status, 421, `${host} ${path}`);
      assert.equal((await send('GET', '/api/caller', { cookie })).status, 200);
      assert.equal((await invite({})).status, 201);
    });

    it('redirects to its own path, and to nothing else', async () => {
      assert.equal((await send('GET', '')).headers.location, '/base/console/log-in');
      const wanted = '/base/console/shares?page=2';
      const { cookie, location } = await logIn(wanted);
      assert.equal(location, `/base/console/logged-in?to=${encodeURIComponent(wanted)}`);
      for (const [to, expected] of [
        [wanted, wanted],
        ['https://evil.test/base/console', '/base/console'],
        ['//evil.test/base/console', '/base/console'],
        ['/console', '/base/console'],
        ['/base/console/../../docs', '/base/console'],
      ] as const) {
        const answer = await send('GET', `/logged-in?to=${encodeURIComponent(to)}`, { cookie });
        assert.deepEqual([answer.status, answer.headers.location], [303, expected], to);
      }
    });

    it('shows the address of the client, whatever the client claims', async () => {
      const { accountId, apiToken } = site.control.firstStart!;
      const asked = request({
        host: '127.0.0.1',
        port: new URL(base).port,
        localAddress: '127.0.0.9',
        method: 'POST',
        path: '/base/console/log-in',
        ca: certificate.ca,
        servername: HOST,
        headers: {
          ...FORM,
          host: new URL(base).host,
          origin: site.origin,
          'x-forwarded-for': '192.0.2.66',
        },
      });
      asked.end(new URLSearchParams({ name: accountId, password: apiToken, to: '' }).toString());
      const [response] = (await within('the log-in', once(asked, 'response'))) as [IncomingMessage];
      assert.equal(response.resume().statusCode, 303);
      const api = new JsonClient({ origin: new URL(site.control.apiUrl).origin });
      const headers = { authorization: `Basic ${accountId}:${apiToken}` };
      const listed = await api.request({ method: 'GET', path: '/base/console-sessions', headers });
      await api.close();
      const { content } = listed.json as { content: { address: string }[] };
      assert.deepEqual(
        content.filter(({ address }) => address !== '127.0.0.1').map(({ address }) => address),
        ['127.0.0.9'],
      );
    });

    it('streams changes within a second, and ends the stream with the log-out', async () => {
      const { cookie } = await logIn();
      const { frontdoorId, accountId, apiToken } = site.control.firstStart!;
      const asked = request({
        host: '127.0.0.1',
        port: new URL(base).port,
        path: `/base/console/api/frontdoor/${frontdoorId}/changes`,
        ca: certificate.ca,
        servername: HOST,
        headers: { cookie, host: new URL(base).host, origin: site.origin, accept: 'text/event-stream' },
      });
      asked.end();
      const [response] = (await within('the stream', once(asked, 'response'))) as [IncomingMessage];
      assert.equal(response.statusCode, 200);
      response.setEncoding('utf8').on('error', () => {});
      let text = '';
      const ended = new Promise((resolve) => response.once('close', resolve));
      response.on('data', (chunk: string) => (text += chunk));
      const seen = async (pattern: RegExp): Promise<void> => {
        while (!pattern.test(text)) await within(`${pattern}`, once(response, 'data'));
      };
      await seen(/^id: /m);
      const api = new JsonClient({ origin: new URL(site.control.apiUrl).origin });
      for (let at = 0; at < 5; at += 1) {
        const data = { placement: 'header', name: 'X-Key', keys: [{ name: 'a' }] };
        const made = await api.request({
          method: 'POST',
          path: `/base/frontdoor/${frontdoorId}/auth-providers`,
          headers: { authorization: `Basic ${accountId}:${apiToken}` },
          body: { name: `keys ${at}`, type: 'API_KEY', data },
        });
        const startMs = performance.now();
        await seen(new RegExp((made.json as { id: string }).id));
        assert.ok(performance.now() - startMs < 1_000, `${performance.now() - startMs} ms`);
      }
      await api.close();
      const out = await send('POST', '/log-out', { ...FORM, cookie }, '');
      assert.deepEqual([out.status, out.headers.location], [303, '/base/console/log-in']);
      const startMs = performance.now();
      await within('the end of the stream', ended);
      assert.ok(performance.now() - startMs < 5_000, `${performance.now() - startMs} ms`);
    });
  });
}

describe(
  'a console whose proxy and --public-api-url differ',
  { skip: proxySkip('nginx') || browserSkip },
  () => {
    let browser: LocalBrowser;
    const closers: (() => Promise<void>)[] = [];
    before(async () => {
      browser = await startBrowser([HOST]);
      closers.push(() => browser.close());
    });
    after(async () => {
      for (const close of closers.toReversed()) await close();
    });

    /** Opens a page, and returns what it shows after all redirects, and the person who sees it. */
    async function open(
      options: Omit<SiteOptions, 'name'>,
      path: string,
    ): Promise<{ readonly site: Site; readonly person: Person; readonly text: string }> {
      const site = await openSite({ name: 'nginx', ...options });
      const person = await browser.person('console behind a proxy that differs');
      closers.push(async () => {
        await person.close();
        await site.close();
      });
      await person.page.goto(site.origin + path);
      const text = (await person.page.textContent('body')) ?? '';
      assert.ok((await person.steps()).length <= 2, 'no circles');
      return { site, person, text };
    }

    it('names the option when it is missing, or has another name', async () => {
      for (const publicApiUrl of [() => undefined, () => 'https://other.test']) {
        const { text } = await open({ publicApiUrl, tls: certificate }, '/console');
        assert.match(text, /does not answer under this name.*--public-api-url/s);
      }
    });

    it('asks nobody for a password where browsers keep no session', async () => {
      const plain = await open({ publicApiUrl: (origin) => origin }, '/console');
      assert.match(plain.text, /not encrypted.*https:\/\//s);
      assert.equal(await plain.person.page.$('input'), null);
      const welcome = await plain.person.page.goto(`${plain.site.origin}/console/welcome#code`);
      assert.equal(welcome?.status(), 403);
      assert.equal(await plain.person.page.$('input'), null);
    });

    it('names the scheme that the option needs', async () => {
      const publicApiUrl = (origin: string) => origin.replace('https', 'http');
      const { text } = await open({ publicApiUrl, tls: certificate }, '/console');
      assert.match(text, /proxy serves this page.*--public-api-url.*must also start with https:/s);
    });

    it('names its path when the proxy takes it away, or knows another', async () => {
      const removed = await open(
        { publicApiUrl: (origin) => `${origin}/base`, removedPrefix: '/base', tls: certificate },
        '/base/console/log-in',
      );
      assert.match(removed.text, /The console is at \/base\/console\..*--public-api-url/);
      const missing = await open({ publicApiUrl: (origin) => origin, tls: certificate }, '/base/console');
      assert.match(missing.text, /The console is at \/console\..*--public-api-url/);
    });

    it('names the header that the proxy replaces, when a page calls the API', async () => {
      const { site } = await open(
        { publicApiUrl: () => undefined, replacesHost: true, tls: certificate },
        '/console',
      );
      const client = clientOf(site);
      const answer = await client.request({
        method: 'POST',
        path: '/console/api/invitations',
        headers: definedFields({
          host: new URL(site.origin).host,
          origin: site.origin,
          'sec-fetch-site': 'same-origin',
          'frontdoor-console': '1',
        }),
        body: {},
      });
      assert.equal(answer.status, 403);
      assert.match(answer.text, /--public-api-url.*header Host/);
      await client.close();
    });
  },
);
