/**
 * Guarded shares with everything that they need: the parts of the product as processes, an OpenID provider, a
 * provider with GitHub's API, and a service behind every share. Users log in over TLS with certificates of a
 * test authority.
 */
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { callAgent } from '#cli';
import type { FirstStart } from '#control';
import { makeTestAuthority, type TestAuthority } from './certificates.ts';
import { callCommand } from './command-line.ts';
import { until } from './deadline.ts';
import { GITHUB_CLIENT, startGithubProvider, type GithubProvider } from './github-provider.ts';
import { startGuardedOrigin, type GuardedOrigin } from './guarded-origin.ts';
import {
  DEFAULT_CLIENT,
  startIdentityProvider,
  type IdentityProvider,
  type IdentityProviderUser,
} from './identity-provider.ts';
import { PartProcess } from './part-process.ts';
import { portOf, startSeparate, type ControlReady, type GatewayReady, type Separate } from './separate.ts';
import { Visitor, type Entrance } from './visitor.ts';

export interface IdentityWorld extends Entrance {
  readonly parts: Separate;
  readonly authority: TestAuthority;
  readonly provider: IdentityProvider;
  readonly github: GithubProvider;
  readonly origin: GuardedOrigin;
  /** A Management API call that has to succeed; its body. `path` without `/frontdoor/{id}`. */
  call<Body = unknown>(
    method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
    path: string,
    body?: object,
  ): Promise<Body>;
  /** Resolves to the id of the new resource. */
  addProvider(type: keyof typeof PROVIDER_DATA | 'API_KEY', name: string, data?: object): Promise<string>;
  /**
   * Creates a share with these providers and this policy. Resolves to its host once the gateway has received
   * all of it.
   */
  share(name: string, authProviderIds: readonly string[], policy?: object): Promise<string>;
  /** Another control plane over the same database, with the same key file. */
  startControl(name: string): Promise<PartProcess<ControlReady>>;
  /** Another gateway with an identity of its own, of the world's control plane or of another. */
  startGateway(name: string, control?: PartProcess<ControlReady>): Promise<SecondGateway>;
  visitor(): Visitor;
  close(): Promise<void>;
}

export interface IdentityWorldOptions {
  /** URL of a PostgreSQL database; an embedded one when absent. */
  readonly database?: string;
  readonly logLevel?: string;
  /** More of each part's environment. */
  readonly env?: Readonly<Record<string, string>>;
  /** More options of `frontdoor gateway`. */
  readonly gatewayArgs?: readonly string[];
}

export interface SecondGateway extends Entrance {
  readonly part: PartProcess<SecureReady>;
}

export interface SecureReady extends GatewayReady {
  readonly securePort: number;
}

export const ZONE = 'share.localhost';
/** Custom frontends of the tests lie below it. */
export const CUSTOM_ZONE = 'apps.example.test';

export const PEOPLE: readonly IdentityProviderUser[] = [
  { sub: 'ann', email: 'ann@example.com', name: 'Ann', groups: ['staff'] },
  { sub: 'bob', email: 'bob@elsewhere.test', name: 'Bob' },
  { sub: 'eve', email: 'eve@example.com', emailVerified: false },
];

/** Tests give it to shares as a domain of their own; the gateway has a certificate for it. */
export const OWN_DOMAIN = 'own.example.net';

/** What each type needs, but for addresses. */
const PROVIDER_DATA = {
  OIDC: { client_id: DEFAULT_CLIENT.id, client_secret: DEFAULT_CLIENT.secret },
  GOOGLE: { client_id: DEFAULT_CLIENT.id, client_secret: DEFAULT_CLIENT.secret },
  GITHUB: { client_id: GITHUB_CLIENT.id, client_secret: GITHUB_CLIENT.secret },
} as const;

/** Access log of the first gateway, in the folder of the parts. */
export const ACCESS_LOG = 'access.log';
const KEY_FILE = 'secrets.key';
const SHARED_MS = 45_000;

export async function startIdentityWorld(options: IdentityWorldOptions = {}): Promise<IdentityWorld> {
  const { database, logLevel, env = {}, gatewayArgs = [] } = options;
  const folder = mkdtempSync(join(tmpdir(), 'frontdoor-identity-'));
  const file = (name: string): string => join(folder, name);
  const [provider, github, origin, authority] = await Promise.all([
    startIdentityProvider({ users: PEOPLE }),
    startGithubProvider(),
    startGuardedOrigin(),
    makeTestAuthority(),
  ]);
  const certificates = file('certificates');
  mkdirSync(certificates);
  for (const zone of [ZONE, CUSTOM_ZONE, OWN_DOMAIN]) {
    const { cert, key } = await authority.issue(zone, { dns: [zone, `*.${zone}`] });
    writeFileSync(join(certificates, `${zone}.crt`), cert);
    writeFileSync(join(certificates, `${zone}.key`), key, { mode: 0o600 });
  }
  // Tests ask the plain port, too.
  const secure = ['--https-port', '0', '--tls-dir', certificates, '--https-redirect', 'off'];
  const networks = [provider.port, github.port].flatMap((port) => [`127.0.0.1:${port}`, `[::1]:${port}`]);
  const egress = networks.flatMap((network) => ['--allow-egress', network]);
  const closeAround = async (): Promise<void> => {
    await Promise.all([provider.close(), github.close(), origin.close()]);
    rmSync(folder, { recursive: true, force: true });
  };
  let parts: Separate;
  try {
    parts = await startSeparate({
      folder,
      env,
      logLevel,
      gatewayArgs: [...secure, '--access-log', file(ACCESS_LOG), ...gatewayArgs],
      controlArgs: [...egress, ...(database === undefined ? [] : ['--database', database])],
    });
  } catch (error) {
    await closeAround();
    throw error;
  }
  const others: Pick<PartProcess, 'stop'>[] = [];
  const entrance: Entrance = {
    ca: authority.ca,
    plainPort: parts.port,
    securePort: (parts.gateway.ready as SecureReady).securePort,
  };
  const call: IdentityWorld['call'] = async (method, path, body) => {
    const answer = await parts.call(method, path, body);
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`);
    return answer.json as never;
  };
  const world: IdentityWorld = {
    ...entrance,
    parts,
    authority,
    provider,
    github,
    origin,
    call,
    addProvider: async (type, name, data = {}) => {
      const addresses = {
        OIDC: { issuer: provider.issuer },
        GOOGLE: { issuer: provider.issuer },
        GITHUB: { base_url: github.url, api_url: github.url },
        API_KEY: {},
      }[type];
      const own = type === 'API_KEY' ? {} : PROVIDER_DATA[type];
      const body = { name, type, data: { ...own, ...addresses, ...data } };
      return (await call<{ id: string }>('POST', '/auth-providers', body)).id;
    },
    share: async (name, authProviderIds, policy) => {
      const share = { op: 'share', mode: 'public', target: origin.target, name, grants: [] } as const;
      await callAgent(parts.agentSocket, share, SHARED_MS);
      const host = `${name}.${ZONE}`;
      const nobody = new Visitor(entrance);
      const statusOf = async (): Promise<number> =>
        (await nobody.ask(host, '/ready', { plain: true, navigates: false })).status;
      await until(`${host} is served`, statusOf, (status) => status === 200, SHARED_MS);
      const put = (body: object) => call('PUT', `/shares/${name}/policy`, body);
      const becomes = (wanted: number) =>
        until(`${host} answers ${wanted}`, statusOf, (status) => status === wanted, SHARED_MS);
      if (authProviderIds.length > 0) {
        // Rules about people need the providers. Gateways receive changes in order: one that opens the share has its policy.
        await call('PATCH', `/shares/${name}`, { authProviderIds });
        if (policy !== undefined) await put({ ...policy, expiresAt: '2000-01-01T00:00:00Z' });
        if (policy !== undefined) await becomes(403);
      }
      if (policy !== undefined) await put(policy);
      if (authProviderIds.length > 0) await becomes(401);
      return host;
    },
    startControl: async (name) => {
      if (database === undefined) throw new Error('a database of its own has one control plane');
      mkdirSync(file(name), { mode: 0o700 });
      copyFileSync(join(folder, 'control', KEY_FILE), join(folder, name, KEY_FILE));
      const part = new PartProcess<ControlReady>({
        name,
        readyFile: file(`${name}.json`),
        args: () => [
          'control',
          '--data-dir',
          file(name),
          '--zone',
          ZONE,
          '--ready-file',
          file(`${name}.json`),
          '--api-port',
          '0',
          '--edge-api-port',
          '0',
          '--ctrl-port',
          '0',
          '--database',
          database,
          ...egress,
        ],
      });
      others.push(part);
      await part.start();
      return part;
    },
    startGateway: async (name, control = parts.control) => {
      const jwt = file(`${name}.jwt`);
      const { accountId, apiToken } = parts.control.ready as ControlReady & FirstStart;
      await callCommand(['fabric', 'gateway', 'create', name, '--out', jwt, '--ca', file('api-ca.pem')], {
        FRONTDOOR_API_URL: control.ready.apiUrl,
        FRONTDOOR_ACCOUNT_ID: accountId,
        FRONTDOOR_API_TOKEN: apiToken,
      });
      const part = new PartProcess<SecureReady>({
        name,
        readyFile: file(`${name}.json`),
        args: () => [
          'gateway',
          '--data-dir',
          file(name),
          '--enrollment-jwt',
          jwt,
          '--http-port',
          '0',
          ...secure,
          '--ready-file',
          file(`${name}.json`),
        ],
      });
      others.push(part);
      const { gatewayUrl, securePort } = await part.start();
      return { part, ca: authority.ca, plainPort: Number(portOf(gatewayUrl)), securePort };
    },
    visitor: () => new Visitor(entrance),
    close: async () => {
      try {
        for (const part of others.toReversed()) await part.stop();
        await parts.stop();
      } finally {
        await closeAround();
      }
    },
  };
  return world;
}
