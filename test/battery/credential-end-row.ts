/**
 * A22: each credential, each end of it, and what it opened: sessions at the console, streams, bearer tokens, invitations and
 * links of the Management API, and an open answer over a circuit. Nothing of it is used five seconds after the end.
 */
import { readFileSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { join } from 'node:path';
import { JsonClient, type JsonAnswer } from '#net/http';
import { hostOf, type BatteryProduct } from './battery-product.ts';
import { Tally, type BatteryRow } from './battery-row.ts';
import { HeadlessConsole } from './headless-console.ts';
import { RawOrigin } from './raw-origin.ts';
import { startSecondTenant } from './second-tenant.ts';

const MAX_MS = 5_000;
const LOOK_MS = 100;
const PASSWORD = 'plum giraffe engine 47';
const NEW_PASSWORD = 'seven small harbours';
const SCOPES = ['frontdoor.read', 'frontdoor.write', 'frontdoor.organization'];

type Call = (method: 'GET' | 'POST' | 'PATCH' | 'DELETE', path: string, body?: object) => Promise<JsonAnswer>;

interface Opened {
  readonly name: string;
  isUsed(): Promise<boolean>;
  close?(): void;
}

interface Place {
  readonly client: JsonClient;
  readonly baseUrl: string;
  readonly organizationId: string;
  readonly frontdoorId: string;
  /** With the first account. */
  readonly administer: Call;
}

interface Holder {
  /** By what the credential opened. */
  readonly calls: Readonly<Record<string, Call>>;
  readonly opened: readonly Opened[];
  end(): Promise<unknown>;
}

export const CREDENTIAL_END_ROW: BatteryRow = {
  id: 'A22',
  title: 'what a credential opened ends with it',
  run: async ({ quick, note }, product) => {
    const tally = new Tally();
    const { folder, control } = product.parts;
    const first = control.ready as unknown as Record<'apiUrl' | 'accountId' | 'apiToken', string>;
    const ca = readFileSync(join(folder, 'api-ca.pem'), 'utf8');
    const client = new JsonClient({ origin: first.apiUrl, ca });
    const administer = callWith(client, { authorization: `Basic ${first.accountId}:${first.apiToken}` });
    const { organizationId } = await done<{ organizationId: string }>(administer('GET', '/caller'));
    const { frontdoorId } = product.parts;
    const place: Place = { client, baseUrl: first.apiUrl, organizationId, frontdoorId, administer };
    const slowest: number[] = [];
    try {
      for (let round = 0; round < (quick ? 1 : 10); round += 1)
        for (const [name, hold] of Object.entries(HOLDERS))
          slowest.push(...(await checkHolder(tally, place, name, await hold(place))));
      slowest.push(await checkCircuit(tally, product));
    } finally {
      await client.close();
    }
    note(`the last use was ${Math.round(Math.max(...slowest))} ms after the end of its credential`);
    return tally;
  },
};

/** Returns how long after the end each thing was used. */
async function checkHolder(tally: Tally, place: Place, name: string, holder: Holder): Promise<number[]> {
  const opened = [...holder.opened];
  for (const [by, call] of Object.entries(holder.calls)) {
    opened.push({ name: by, isUsed: async () => (await call('GET', '/caller')).status === 200 });
    opened.push(await invitationOf(place, by, call), await linkOf(place, by, call));
  }
  for (const one of opened) tally.check(await one.isUsed(), `${name}: ${one.name} before`);
  await holder.end();
  const startMs = performance.now();
  const times = await Promise.all(opened.map((one) => lastUse(one, startMs)));
  for (const [i, one] of opened.entries()) {
    tally.check(times[i]! <= MAX_MS, `${name}: ${one.name}`, () => `used after ${Math.round(times[i]!)} ms`);
    one.close?.();
  }
  return times;
}

async function lastUse(one: Opened, startMs: number): Promise<number> {
  while (await one.isUsed()) {
    if (performance.now() - startMs > 2 * MAX_MS) return Infinity;
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
  return performance.now() - startMs;
}

function callWith(client: JsonClient, headers: Readonly<Record<string, string>>): Call {
  return (method, path, body) => client.request({ method, path, headers, body });
}

/** Throws for another status. */
async function done<T>(answer: Promise<JsonAnswer>): Promise<T> {
  const { status, text, json } = await answer;
  if (status >= 300) throw new Error(`${status} ${text}`);
  return json as T;
}

/** Whether the page of a link takes its code. It is not used up. */
async function takes(place: Place, page: string, link: string): Promise<boolean> {
  const code = link.split('#')[1]!;
  return (await new HeadlessConsole(place.client, place.baseUrl).post(page, { code })) === 200;
}

async function invitationOf(place: Place, by: string, call: Call): Promise<Opened> {
  const { link } = await done<{ link: string }>(call('POST', '/invitations', { name: 'x', role: 'reader' }));
  return { name: `invitation by ${by}`, isUsed: () => takes(place, '/welcome', link) };
}

async function linkOf(place: Place, by: string, call: Call): Promise<Opened> {
  const { id } = await person(place, 'reader');
  const { link } = await done<{ link: string }>(call('POST', `/people/${id}/password-link`));
  return { name: `link by ${by}`, isUsed: () => takes(place, '/new-password', link) };
}

async function person({ client, baseUrl, administer }: Place, role: 'reader' | 'administrator') {
  const email = `${crypto.randomUUID()}@example.com`;
  const { link } = await done<{ link: string }>(administer('POST', '/invitations', { name: 'Ann', role }));
  const browser = new HeadlessConsole(client, baseUrl);
  const form = { code: link.split('#')[1]!, name: 'Ann', email, password: PASSWORD };
  const status = await browser.post('/welcome', form);
  if (status !== 303) throw new Error(`the invitation was answered ${status}`);
  const { id } = await done<{ id: string }>(browser.call('GET', '/caller'));
  return { id, email, browser };
}

async function account(place: Place, end: 'rotated' | 'overlap' | 'deleted'): Promise<Holder> {
  const { client, organizationId, administer } = place;
  const body = { name: 'battery', organizationId, scopes: SCOPES };
  const { id, token } = await done<{ id: string; token: string }>(administer('POST', '/api-accounts', body));
  const browser = new HeadlessConsole(client, place.baseUrl);
  if ((await browser.post('/log-in', { name: id, password: token })) !== 303) throw new Error('no session');
  const path = `/api-accounts/${id}`;
  const authorization = `Basic ${id}:${token}`;
  return {
    calls: {
      token: callWith(client, { authorization }),
      session: (method, url, sent) => browser.call(method, url, sent),
    },
    opened: [await streamOf(place, authorization)],
    end: () =>
      end === 'deleted'
        ? administer('DELETE', path)
        : administer('POST', `${path}/rotate`, { overlapSeconds: end === 'overlap' ? 2 : 0 }).then(
            // What the overlap permits is no use after the end.
            () => new Promise((resolve) => setTimeout(resolve, end === 'overlap' ? 2_000 : 0)),
          ),
  };
}

async function oauthClient(place: Place): Promise<Holder> {
  const { client, organizationId, administer, baseUrl } = place;
  const wanted = { name: 'battery', organizationId, scopes: SCOPES };
  const made = await done<{ id: string; secret: string }>(administer('POST', '/oauth-clients', wanted));
  const grant = { grant_type: 'client_credentials', audience: `${baseUrl}/frontdoor` };
  const body = { ...grant, client_id: made.id, client_secret: made.secret };
  const issued = client.request({ method: 'POST', path: '/oauth/token', body });
  const authorization = `Bearer ${(await done<{ access_token: string }>(issued)).access_token}`;
  return {
    calls: { bearer: callWith(client, { authorization }) },
    opened: [await streamOf(place, authorization)],
    end: () => administer('POST', `/oauth-clients/${made.id}/rotate`, {}),
  };
}

async function administrator(place: Place, end: 'removed' | 'demoted' | 'password'): Promise<Holder> {
  const { id, email, browser } = await person(place, 'administrator');
  const call: Call = (method, path, body) => browser.call(method, path, body);
  const path = `/people/${id}`;
  if (end === 'demoted') {
    const opened = [await invitationOf(place, 'session', call), await linkOf(place, 'session', call)];
    return { calls: {}, opened, end: () => place.administer('PATCH', path, { role: 'reader' }) };
  }
  const other = new HeadlessConsole(place.client, place.baseUrl);
  if ((await other.post('/log-in', { name: email, password: PASSWORD })) !== 303)
    throw new Error('no session');
  const change = () => other.post('/password', { current: PASSWORD, password: NEW_PASSWORD });
  return {
    calls: { session: call },
    opened: [],
    end: end === 'removed' ? () => place.administer('DELETE', path) : change,
  };
}

const HOLDERS: Readonly<Record<string, (place: Place) => Promise<Holder>>> = {
  'account, rotated': (place) => account(place, 'rotated'),
  'account, overlap over': (place) => account(place, 'overlap'),
  'account, deleted': (place) => account(place, 'deleted'),
  'client, rotated': oauthClient,
  'person, removed': (place) => administrator(place, 'removed'),
  'person, demoted': (place) => administrator(place, 'demoted'),
  'person, another password': (place) => administrator(place, 'password'),
};

/** A stream of changes, which is used while it is open. */
async function streamOf({ client, frontdoorId }: Place, authorization: string): Promise<Opened> {
  const stop = new AbortController();
  const path = `/frontdoor/${frontdoorId}/changes`;
  const headers = { authorization, accept: 'text/event-stream' };
  const { bytes } = await client.stream({ method: 'GET', path, headers }, 60_000, stop.signal);
  let isOpen = true;
  const read = async () => {
    for await (const _chunk of bytes);
  };
  void read()
    .catch(() => {})
    .finally(() => (isOpen = false));
  return { name: 'stream', isUsed: async () => isOpen, close: () => stop.abort() };
}

/** The certificate of an agent ends with its environment, and with it the circuits to its shares. */
async function checkCircuit(tally: Tally, product: BatteryProduct): Promise<number> {
  const origin = await RawOrigin.start();
  const tenant = await startSecondTenant(product, 'a22');
  try {
    await product.share('a22', origin.port, tenant.agentSocket);
    origin.answer = (_request, socket) =>
      void socket.write('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf');
    const answer = httpRequest({
      host: '127.0.0.1',
      port: product.parts.port,
      path: '/',
      headers: { host: hostOf('a22') },
    });
    let isOpen = false;
    answer.on('response', (response) => {
      isOpen = true;
      response.on('error', () => {}).on('close', () => (isOpen = false));
      response.resume();
    });
    answer.on('error', () => (isOpen = false)).end();
    for (let looks = 0; !isOpen && looks < 100; looks += 1)
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    tally.check(isOpen, 'certificate: circuit before');
    await done(tenant.call('DELETE', `/environments/${tenant.environmentId}`));
    const ms = await lastUse({ name: 'circuit', isUsed: async () => isOpen }, performance.now());
    tally.check(ms <= MAX_MS, 'certificate: circuit', () => `open after ${Math.round(ms)} ms`);
    answer.destroy();
    return ms;
  } finally {
    await tenant.stop();
    await origin.close();
  }
}
