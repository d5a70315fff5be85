/**
 * The console of a world that has one resource of each kind, and the addresses of all its pages. The test chooses the names
 * of the resources.
 */
import assert from 'node:assert/strict';
import { createServer, type IncomingMessage } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';
import type { Page, Route } from 'playwright-core';
import { startConsoleBrowser, type ConsoleBrowser, type StartedConsole } from './console-browser.ts';
import { answerCalls } from './console-visits.ts';
import { holdWorld } from './held-world.ts';
import { eventually, httpGet } from './world.ts';

export type ApiBody = Readonly<Record<string, unknown>>;
type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export interface FilledConsole extends StartedConsole {
  /** Parameters of the addresses of pages, by their names there. */
  readonly ids: Readonly<Record<string, string>>;
  /** A call of the Management API by its whole path, which succeeds. */
  api(method: Method, path: string, body?: unknown): Promise<ApiBody>;
  /** The path of a page of the ids, from its route: `/mesh/routers/$routerId`. */
  pathOf(route: string): string;
  /** Answers to requests through the gateway to the share `app`. */
  visit(path: string, headers?: Readonly<Record<string, string>>): ReturnType<typeof httpGet>;
}

export interface FilledOptions {
  /** The name of each resource that may have any. */
  readonly name?: (kind: string) => string;
  /** What the service behind the share answers. */
  readonly answer?: (request: IncomingMessage) => { readonly type: string; readonly body: string };
  readonly world?: Parameters<typeof startConsoleBrowser>[0];
}

const APP = 'app.share.localhost';
/** The service behind the share does not answer a request for it, which is a failure of the share. */
const FAILS = '/fails';

/** It ends every place of a document that a text can be in, and runs if any of it is taken for markup. */
export const SCRIPT = `'"></title></style><script>xss=1</script><img src=x onerror=xss=1>`;

/** For files that change nothing of it: all of a process share one, whose names are hostile. */
export const sharedFilledConsole = (): Promise<FilledConsole> =>
  holdWorld(async () => {
    const world = await startFilledConsole({
      name: (kind) => `${kind} ${SCRIPT}`,
      answer: () => ({ type: 'text/html', body: `<h1>${SCRIPT}</h1>` }),
    });
    return { world, tidy: async () => {}, close: () => world.close() };
  });

export async function startFilledConsole({
  name = (kind) => `the ${kind}`,
  answer = () => ({ type: 'application/json', body: '{"hello":"world"}' }),
  world: worldOptions = {},
}: FilledOptions = {}): Promise<FilledConsole> {
  const service = createServer((request, response) => {
    if (request.url === FAILS) {
      response.destroy();
      return;
    }
    const { type, body } = answer(request);
    response.setHeader('content-type', type).end(body);
  }).listen(0, '127.0.0.1');
  await once(service, 'listening');
  const consoles = await startConsoleBrowser(worldOptions);
  const { world } = consoles;
  const { accountId, apiToken } = world.credentials;
  const authorization = `Basic ${btoa(`${accountId}:${apiToken}`)}`;
  const api: FilledConsole['api'] = async (method, path, body) => {
    const response = await fetch(`${world.up.control.baseUrl}${path}`, {
      method,
      headers: { authorization, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    assert.ok(response.ok, `${method} ${path}: ${response.status} ${text}`);
    return text === '' ? {} : (JSON.parse(text) as ApiBody);
  };
  const visit: FilledConsole['visit'] = (path, headers) => httpGet(world.up.httpPort, APP, path, headers);

  const close = async () => {
    service.closeAllConnections();
    service.close();
    await consoles.close();
  };
  const target = `http://127.0.0.1:${(service.address() as AddressInfo).port}`;
  try {
    const ids = await fill({ ...consoles, api, visit }, name, target);
    return {
      ...consoles,
      ids,
      api,
      visit,
      pathOf: (route) =>
        route.replaceAll(/\$(\w+)/g, (_match, parameter: string) => {
          const isUnrouted = parameter === 'errorId' && route.startsWith('/mesh/');
          const id = ids[isUnrouted ? 'unroutedId' : parameter];
          assert.ok(id !== undefined, `the world has no ${parameter}`);
          return id;
        }),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

type Filling = ConsoleBrowser & Pick<FilledConsole, 'api' | 'visit'>;

async function fill(
  consoles: Filling,
  name: (kind: string) => string,
  target: string,
): Promise<Readonly<Record<string, string>>> {
  const { world, api, visit } = consoles;
  const { frontdoorId, organizationId } = world.credentials;
  const idOf = async (path: string, body: unknown): Promise<string> =>
    String((await api('POST', path, body))['id']);
  const base = `/frontdoor/${frontdoorId}`;
  const { environmentId } = await world.startAgent('laptop', ['127.0.0.1:*']);
  await api('PATCH', `${base}/environments/${environmentId}`, { name: name('agent') });
  const share = { environmentId, backendMode: 'proxy', target };
  await api('POST', `${base}/shares`, { ...share, name: 'app', shareMode: 'public' });
  await api('POST', `${base}/shares`, { ...share, name: 'secret', shareMode: 'private' });
  await api('POST', `${base}/shares`, {
    ...share,
    name: 'broken',
    shareMode: 'public',
    target: 'http://127.0.0.1:9',
  });
  await api('PUT', `${base}/shares/app/inspector`, { enabled: true });
  const providerId = await idOf(`${base}/auth-providers`, {
    name: name('provider'),
    type: 'API_KEY',
    data: { placement: 'header', name: 'x-key', keys: [{ name: name('key') }] },
  });
  const identity = (kind: string) => ({
    name: name(kind),
    type: 'OIDC',
    data: {
      issuer: 'https://login.filled.example',
      client_id: 'console',
      client_secret: 'filled-console-secret',
    },
  });
  const identityId = await idOf(`${base}/auth-providers`, identity('identity'));
  // People do not log in at the console with this one yet.
  await api('POST', `${base}/auth-providers`, identity('other identity'));
  const policyId = await idOf(`${base}/policies`, { name: name('policy'), ipAllow: ['127.0.0.0/8'] });
  await api('POST', '/console-log-ins', { organizationId, authProviderId: identityId, roles: [] });
  await api('POST', `${base}/shares`, { ...share, name: 'given-up', shareMode: 'public' });
  await api('DELETE', `${base}/shares/given-up`);
  const frontends = await api('GET', `${base}/frontends`);
  const domainId = await idOf(`${base}/custom-frontends`, {
    hostname: 'apps.filled.example',
    frontendId: idOfFirst(frontends, 'id'),
  });
  await api('POST', `${base}/shares/app/domains`, { hostname: 'shop.filled.example' });
  const [newAccountId, clientId, otherOrganizationId, routerId, gatewayId, serviceId] = await Promise.all([
    idOf('/api-accounts', { name: name('account'), organizationId, scopes: ['frontdoor.read'] }),
    idOf('/oauth-clients', { name: name('client'), organizationId, scopes: ['frontdoor.read'] }),
    idOf('/organizations', { name: name('organization') }),
    idOf('/fabric/routers', { name: name('router') }),
    idOf('/fabric/gateways', { name: name('gateway') }),
    idOf('/fabric/services', { name: name('service') }),
  ]);
  const overlap = { overlapSeconds: 3_600 };
  await api('POST', `/api-accounts/${newAccountId}/rotate`, overlap);
  await api('POST', `/oauth-clients/${clientId}/rotate`, overlap);
  const terminator = { serviceId, routerId, address: 'tcp:127.0.0.1:9' };
  const terminatorId = await idOf('/fabric/terminators', terminator);
  const destinationId = await idOf('/notification-destinations', {
    name: name('pager'),
    url: 'https://hooks.filled.example/pager',
    organizationId,
  });
  await api('PUT', '/event-export', { url: 'https://collector.filled.example/events', enabled: false });
  await api('POST', `${base}/agents/enrollments`);
  await api('POST', '/invitations', { name: name('guest'), role: 'reader', organizationId });
  const requests = await eventually(
    async () => {
      await visit(`/orders?${encodeURIComponent(name('query'))}`, { 'x-test': name('header') });
      return api('GET', `${base}/shares/app/inspector/requests`);
    },
    ({ totalElements }) => Number(totalElements) > 0,
  );
  await visit(FAILS);
  await eventually(
    () => api('GET', `${base}/failures?shareToken=app`),
    ({ totalElements }) => Number(totalElements) > 0,
  );
  await eventually(
    () => httpGet(world.up.httpPort, 'broken.share.localhost', '/'),
    ({ status }) => status >= 500,
  );
  // Without further visits: more failures than a page shows would add the controls that turn pages.
  const failed = await eventually(
    () => api('GET', `${base}/failures?shareToken=broken`),
    ({ totalElements }) => Number(totalElements) > 0,
  );
  const unknown = await httpGet(world.up.httpPort, 'nobody.share.localhost', '/');
  const [unroutedId] = /\b[0-9a-f]{24}\b/.exec(String(unknown.body)) ?? [];
  assert.ok(unroutedId !== undefined, String(unknown.body));
  const personId = await join(consoles, api, name('person'));
  return {
    frontdoorId,
    environmentId,
    providerId,
    policyId,
    domainId,
    clientId,
    routerId,
    gatewayId,
    serviceId,
    terminatorId,
    token: 'app',
    accountId: newAccountId,
    organizationId: otherOrganizationId,
    errorId: idOfFirst(failed, 'errorId'),
    requestId: idOfFirst(requests, 'id'),
    personId,
    unroutedId,
    destinationId,
  };
}

function idOfFirst(page: ApiBody, field: string): string {
  const entries = (Array.isArray(page) ? page : page['content']) as readonly ApiBody[];
  return String(entries[0]![field]);
}

/** The routes of the program that runs in the page, without the frames around pages: `/mesh/routers/$routerId`. */
export async function routesOf(page: Page): Promise<readonly string[]> {
  const paths = await page.evaluate<readonly string[]>(
    `Object.entries(globalThis.__TSR_ROUTER__.routesByPath).map(([path]) => path)`,
  );
  return [...new Set(paths.map((path) => (path === '/' ? path : path.replace(/\/$/, ''))))];
}

/** A person who has followed an invitation; returns the id. */
async function join(
  { consoleUrl }: ConsoleBrowser,
  api: FilledConsole['api'],
  name: string,
): Promise<string> {
  const email = 'joined@example.com';
  const { link } = await api('POST', '/invitations', { name, role: 'reader' });
  const code = String(link).split('#')[1]!;
  const answer = await fetch(`${consoleUrl}/welcome`, {
    method: 'POST',
    redirect: 'manual',
    headers: { origin: new URL(consoleUrl).origin },
    body: new URLSearchParams({ code, name, email, password: 'plum giraffe engine 47' }),
  });
  assert.equal(answer.status, 303, await answer.text());
  const { content } = await api('GET', `/people?sort=createdAt,desc`);
  return String((content as readonly ApiBody[]).find((person) => person['email'] === email)!['id']);
}

/** The window in which someone logs in again closes itself. */
const CLOSES = '/logged-in-again';

/** A page of an operator, and the routes of all pages. `answer` answers the calls of the API. */
export async function everyPage(
  consoles: FilledConsole,
  test: TestContext,
  answer?: (route: Route) => Promise<void>,
) {
  const person = await consoles.person(test, 'operator');
  if (answer !== undefined) await answerCalls(person.page, answer);
  await person.open('/settings/keys');
  const routes = (await routesOf(person.page)).filter((route) => route !== CLOSES);
  assert.ok(routes.length > 40, `${routes.length} routes`);
  return { ...person, routes };
}
