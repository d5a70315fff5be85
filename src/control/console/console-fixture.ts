/** A browser without a screen: it keeps the cookie of the console, and sends what browsers send. */
import type { FastifyInstance, InjectOptions, LightMyRequestResponse } from 'fastify';
import { parseAllowedNetworks, type Role } from '#domain';
import { EgressClient } from '#net';
import { ConsoleApp } from './app/console-app.ts';
import { openLoginParts, type LoginParts } from '../shares/logins/mod.ts';
import {
  BASE_URL,
  openApiWorld,
  type ApiWorld,
  type ApiWorldOptions,
} from '../shares/operations/api-fixture.ts';
import { createManagementApi } from '../shares/operations/mod.ts';
import { createInvitation } from '../credentials/people/mod.ts';
import { THE_INSTALLATION } from '../credentials/accounts/mod.ts';
import type { Store } from '../store/mod.ts';
import { consoleOf } from './console.ts';

export const CONSOLE_HOST = new URL(BASE_URL).host;
const SESSION = '__Host-frontdoor-console';
const LOG_IN_PASSWORD = 'plum giraffe engine 47';

export interface ConsoleWorld {
  readonly api: ApiWorld;
  readonly app: FastifyInstance;
  readonly program: ConsoleApp;
  readonly login: LoginParts;
  /** Opens another control plane over the same database, with a store of its own if one is given. The caller closes it. */
  openAnother(own?: Store): Promise<FastifyInstance>;
  /** Returns the code of an invitation. */
  invite(role: Role, name?: string, organizationId?: string): Promise<string>;
  /** Returns a browser in which an invited person is logged in. */
  person(role: Role, email: string): Promise<TestBrowser>;
  close(): Promise<void>;
}

/** `given` is the browser program. By default there is none: tests of the log-in need none. */
export async function openConsoleWorld(
  options: ApiWorldOptions = {},
  given?: ConsoleApp,
): Promise<ConsoleWorld> {
  const api = await openApiWorld(options);
  const { store, secrets, clock, catalog } = api;
  const { log } = api.options;
  const egress = new EgressClient({
    allowed: parseAllowedNetworks('--allow-egress', ['127.0.0.1:*', '[::1]:*']),
  });
  const login = await openLoginParts({
    store,
    secrets,
    catalog,
    egress,
    consoleUrl: () => `${BASE_URL}/console`,
    clock,
    log,
  });
  const own = () => ({ baseUrl: BASE_URL, port: 8_081, isTls: false });
  const program = given ?? (await ConsoleApp.open({ log, folders: [] }));
  const openOne = (ownStore: Store = store) => {
    const console = consoleOf({ store: ownStore, secrets, clock, log, login, own, app: program });
    return createManagementApi({ ...api.options, store: ownStore, console });
  };
  const app = await openOne();
  const invite = async (role: Role, name = 'Ann', organizationId = api.first.organizationId) => {
    const expiresAtMs = clock.nowMs() + 3_600_000;
    const wanted = { organizationId, name, email: null, role, maker: THE_INSTALLATION, expiresAtMs };
    const made = await store.transaction((trx) => createInvitation(trx, secrets, wanted, clock.nowMs()));
    return made!.code;
  };
  return {
    api,
    app,
    program,
    login,
    openAnother: openOne,
    invite,
    person: async (role, email) => {
      const browser = new TestBrowser(app);
      const name = email.split('@')[0]!;
      const code = await invite(role, name);
      const answer = await browser.post('/console/welcome', { code, name, email, password: LOG_IN_PASSWORD });
      if (answer.statusCode !== 303) throw new Error(answer.body);
      return browser;
    },
    close: async () => {
      await app.close();
      await login.close();
      await api.close();
    },
  };
}

export class TestBrowser {
  readonly #app: FastifyInstance;
  readonly #cookies = new Map<string, string>();
  /** `Set-Cookie` of the last answer that had one. */
  lastSetCookie = '';

  constructor(app: FastifyInstance) {
    this.#app = app;
  }

  /** `name=value` of the session's cookie. */
  get cookie(): string | undefined {
    const value = this.#cookies.get(SESSION);
    return value === undefined ? undefined : `${SESSION}=${value}`;
  }

  set cookie(pair: string | undefined) {
    if (pair === undefined) this.#cookies.delete(SESSION);
    else this.#cookies.set(SESSION, pair.slice(SESSION.length + 1));
  }

  /** Returns another browser with the cookies of this one. */
  copy(): TestBrowser {
    const made = new TestBrowser(this.#app);
    for (const [name, value] of this.#cookies) made.#cookies.set(name, value);
    return made;
  }

  get(url: string, headers: Readonly<Record<string, string>> = {}): Promise<LightMyRequestResponse> {
    return this.send({ method: 'GET', url, headers: { 'sec-fetch-site': 'same-origin', ...headers } });
  }

  /** Sends a form as the page of the console does. */
  post(
    url: string,
    fields: Readonly<Record<string, string>>,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<LightMyRequestResponse> {
    return this.send({
      method: 'POST',
      url,
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        origin: BASE_URL,
        'sec-fetch-site': 'same-origin',
        ...headers,
      },
      payload: new URLSearchParams(fields).toString(),
    });
  }

  logIn(name: string, password = LOG_IN_PASSWORD, to = ''): Promise<LightMyRequestResponse> {
    return this.post('/console/log-in', { name, password, to });
  }

  /** Calls an operation below `/console/api` as the script of the console does. */
  call(
    method: NonNullable<InjectOptions['method']>,
    path: string,
    body?: object,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<LightMyRequestResponse> {
    const json = body === undefined ? {} : { 'content-type': 'application/json' };
    return this.send({
      method,
      url: `/console/api${path}`,
      headers: { 'sec-fetch-site': 'same-origin', 'frontdoor-console': '1', ...json, ...headers },
      ...(body === undefined ? {} : { payload: JSON.stringify(body) }),
    });
  }

  async send(options: InjectOptions): Promise<LightMyRequestResponse> {
    const pairs = [...this.#cookies].map(([name, value]) => `${name}=${value}`);
    const cookie = pairs.length === 0 ? {} : { cookie: pairs.join('; ') };
    const headers = { host: CONSOLE_HOST, ...cookie, ...options.headers };
    const answer = await this.#app.inject({ ...options, headers });
    for (const line of [answer.headers['set-cookie'] ?? []].flat()) {
      this.lastSetCookie = line;
      const [, name, value] = /^([^=]*)=([^;]*)/.exec(line)!;
      if (value === '') this.#cookies.delete(name!);
      else this.#cookies.set(name!, value!);
    }
    return answer;
  }
}
