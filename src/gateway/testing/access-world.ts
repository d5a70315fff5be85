/** A gateway with access rules for tests: plain and TLS ports, a scripted control plane, counting origins, a clock. */
import { createHmac, generateKeyPairSync, randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { connect, createSecureContext, type SecureContext, type TLSSocket } from 'node:tls';
import { ManualClock } from '#base';
import { OPEN_RULES, type AccessRules } from '#domain/access';
import type { GatewayDelta, GatewayKeys, GatewayProvider, GatewayShare } from '#domain/gateway-shapes';
import { makeTestAuthority, type TestIdentity } from '../../../test/support/certificates.ts';
import type { GatewayAccess as Access } from '../access/gateway-access.ts';
import type { GatewayAccessOptions } from '../access/gateway-access-options.ts';
import { GatewayAccess } from '../access/gateway-access.ts';
import { SESSION_COOKIE } from '../access/own-cookies.ts';
import type { GatewayOptions } from '../gateway.ts';
import { systemTime, type GatewayTime } from '../gateway-time.ts';
import type { TlsSettings } from '../tls-front.ts';
import { GatewayWorld, once, logInto, shareOf, type LogEntry } from './gateway-world.ts';
import { RawClient } from './raw-client.ts';
import { ScriptedControl } from './scripted-control.ts';

export interface ParsedAnswer {
  readonly status: number;
  /** The first value of each header, by lower-case name. */
  readonly headers: ReadonlyMap<string, string>;
  readonly setCookies: readonly string[];
  readonly body: string;
}

export interface Asked {
  readonly host?: string;
  readonly path?: string;
  readonly method?: string;
  /** Header lines without line ends. */
  readonly lines?: readonly string[];
  readonly isPlain?: boolean;
  readonly http10?: boolean;
  /** Sent to a gateway that requests a certificate. */
  readonly identity?: TestIdentity;
}

/** What an origin received. */
export interface Seen {
  readonly method: string;
  readonly url: string;
  readonly rawHeaders: readonly string[];
  readonly headers: IncomingMessage['headers'];
}

const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const PEPPER = randomBytes(32);

export const KEYS: GatewayKeys = {
  apiKeyPepper: PEPPER.toString('base64'),
  identityKeys: [
    {
      kid: 'identity-1',
      privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }),
      publicJwk: publicKey.export({ format: 'jwk' }) as Record<string, unknown>,
    },
  ],
};

export function rulesOf(more: Partial<AccessRules> = {}): AccessRules {
  return { ...OPEN_RULES, ...more };
}

export function keyRecord(
  name: string,
  key: string,
  expiresAtMs: number | null = null,
): NonNullable<GatewayProvider['apiKeys']>['keys'][number] {
  return { name, hmac: createHmac('sha256', PEPPER).update(key).digest('hex'), expiresAtMs };
}

export function providerOf(id: string, more: Partial<GatewayProvider> = {}): GatewayProvider {
  return {
    id,
    frontdoorId: 'frontdoor',
    name: `Provider ${id}`,
    type: 'OIDC',
    enabled: true,
    version: 1,
    apiKeys: null,
    tokens: null,
    ...more,
  };
}

export function keyProviderOf(
  id: string,
  apiKeys: Partial<NonNullable<GatewayProvider['apiKeys']>>,
  more: Partial<GatewayProvider> = {},
): GatewayProvider {
  const all = { placement: 'header' as const, name: 'X-Api-Key', keys: [], ...apiKeys };
  return providerOf(id, { type: 'API_KEY', apiKeys: all, ...more });
}

export class AccessWorld {
  readonly world: GatewayWorld;
  readonly access: Access;
  readonly control: ScriptedControl;
  readonly clock: ManualClock;
  readonly records: readonly LogEntry[];
  /** By share name. */
  readonly seen = new Map<string, Seen[]>();

  private constructor(
    world: GatewayWorld,
    access: Access,
    control: ScriptedControl,
    clock: ManualClock,
    records: readonly LogEntry[],
  ) {
    this.world = world;
    this.access = access;
    this.control = control;
    this.clock = clock;
    this.records = records;
  }

  static async start(
    options: Partial<GatewayAccessOptions> = {},
    tls: Partial<TlsSettings> = {},
    time: GatewayTime = systemTime,
    gateway: Partial<GatewayOptions> = {},
    hasProxyHeaders = false,
  ): Promise<AccessWorld> {
    const clock = new ManualClock(Date.now());
    const control = new ScriptedControl(() => clock.nowMs());
    const records: LogEntry[] = [];
    const port: { secure?: number | undefined } = {};
    const access = new GatewayAccess({
      control,
      publicHttpsPort: () => port.secure,
      log: logInto(records),
      clock,
      monotonicMs: () => clock.nowMs(),
      ...options,
    });
    const authority = await makeTestAuthority();
    const defaultCertificate = await authority.issue('gateway', { dns: ['*.share.localhost'] });
    const world = await GatewayWorld.start({
      access,
      log: logInto(records),
      time,
      secure: {
        host: '127.0.0.1',
        port: 0,
        hasProxyHeaders,
        tls: { defaultCertificate, certificateFor: certificateBy(defaultCertificate), ...tls },
      },
      ...gateway,
    });
    port.secure = world.gateway.securePort;
    access.replaceAll({ providers: [], zones: ['share.localhost'], keys: KEYS });
    access.onContact();
    control.onEnded = (id) => access.change(deltaOf({ endedSessions: [id] }));
    return new AccessWorld(world, access, control, clock, records);
  }

  get securePort(): number {
    return this.world.gateway.securePort!;
  }

  /** Advances the clock while the control plane stays in contact. */
  advance(ms: number): void {
    this.clock.advance(ms);
    this.access.onContact();
  }

  setProviders(...providers: readonly GatewayProvider[]): void {
    for (const { id, version } of providers) this.control.versions.set(id, version);
    this.access.change(deltaOf({ providers }));
  }

  /** Publishes a share whose origin records its requests. */
  async serve(name: string, more: Partial<GatewayShare> = {}): Promise<void> {
    const seen: Seen[] = [];
    this.seen.set(name, seen);
    await this.world.serve(
      name,
      ({ method = '', url = '', rawHeaders, headers }, response) => {
        seen.push({ method, url, rawHeaders, headers });
        response.setHeader('Origin-Was', name);
        response.end(`origin of ${name}`);
      },
      more,
    );
  }

  /** Publishes the same share, changed. */
  publish(name: string, more: Partial<GatewayShare>): void {
    this.world.publish(shareOf(name, more));
    this.access.change(deltaOf({}));
  }

  hits(name: string): number {
    return this.seen.get(name)?.length ?? 0;
  }

  /** Returns the last request that the origin received. */
  last(name: string): Seen {
    const seen = this.seen.get(name)?.at(-1);
    if (seen === undefined) throw new Error(`the origin of ${name} received no request`);
    return seen;
  }

  /** Returns the cookie line of a person who is logged in at a share's host. */
  sessionLine(
    name: string,
    providerId: string,
    more: Parameters<ScriptedControl['openSession']>[0] | object = {},
  ): string {
    const host = `${name}.share.localhost`;
    return `Cookie: ${SESSION_COOKIE}=${this.control.openSession({ shareId: `id-${name}`, host, providerId, ...more })}`;
  }

  async client(host: string, isPlain = false, identity?: TestIdentity): Promise<RawClient> {
    if (isPlain) return this.world.client();
    const socket: TLSSocket = connect({
      port: this.securePort,
      host: '127.0.0.1',
      servername: host,
      rejectUnauthorized: false,
      cert: identity?.cert,
      key: identity?.key,
    });
    await once(socket, 'secureConnect');
    return this.world.own(new RawClient(socket));
  }

  /** Sends one request on a connection of its own, over TLS by default. */
  async ask(name: string, asked: Asked = {}): Promise<ParsedAnswer> {
    const { host = `${name}.share.localhost`, isPlain = false, identity } = asked;
    const client = await this.client(host, isPlain, identity);
    client.send(requestText(host, asked));
    const answer = await client.ended();
    client.close();
    return parseAnswer(answer);
  }

  async close(): Promise<void> {
    await this.world.close();
    await this.access.close();
  }
}

export const BROWSER_LINE = 'Accept: text/html,application/xhtml+xml,*/*;q=0.8';

export function requestText(host: string, { path = '/', method = 'GET', lines = [], http10 }: Asked): string {
  const all = [`Host: ${host}`, 'Connection: close', ...lines];
  return `${method} ${path} HTTP/1.${http10 === true ? 0 : 1}\r\n${all.join('\r\n')}\r\n\r\n`;
}

export function parseAnswer(text: string): ParsedAnswer {
  const end = text.indexOf('\r\n\r\n');
  const [first = '', ...lines] = text.slice(0, end).split('\r\n');
  const headers = new Map<string, string>();
  const setCookies: string[] = [];
  for (const line of lines) {
    const colon = line.indexOf(':');
    const name = line.slice(0, colon).toLowerCase();
    const value = line.slice(colon + 1).trim();
    if (name === 'set-cookie') setCookies.push(value);
    if (!headers.has(name)) headers.set(name, value);
  }
  return { status: Number(first.split(' ')[1] ?? -1), headers, setCookies, body: text.slice(end + 4) };
}

export function deltaOf(more: Partial<GatewayDelta>): GatewayDelta {
  return { type: 'delta', version: 1, set: [], removed: [], ...more };
}

/** Returns a context that requests certificates of the authorities, if there are any. */
function certificateBy({ cert, key }: TestIdentity) {
  return (_name: string, authorities?: readonly string[]): SecureContext | undefined =>
    authorities === undefined ? undefined : createSecureContext({ cert, key, ca: [...authorities] });
}
