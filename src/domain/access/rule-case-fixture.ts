/** Every rule of a policy, every kind of guard, and callers with and without each credential: what tests cross. */
import { AUTH_PROVIDER_TYPES, hasKeys } from '../provider-types/provider-type-table.ts';
import type { ExplainedProvider, ExplainedRequest } from './access-explanation.ts';
import type { AccessRules } from './access-rules.ts';

export type AccessRuleName = Exclude<
  keyof AccessRules,
  'responseTimeoutMs' | 'contact' | 'cors' | 'hsts' | 'httpsRedirect'
>;

export const NOW_MS = 1_000_000;
const HOST = 'app.share.example';
const OTHER = 'https://other.example';
const CERTIFICATE = { authorities: ['PEM'], names: ['laptop'] };

/** Each rule with a value that names Ann, /public, 192.0.2.0/24 or the laptop. */
export const RULES: { readonly [R in AccessRuleName]: AccessRules[R] } = {
  emails: ['ann@example.com'],
  claims: [{ claim: 'groups', anyOf: ['ops'] }],
  basicAuth: [{ name: 'basil', passwordHash: 'x' }],
  clientCertificate: CERTIFICATE,
  ip: { allow: ['192.0.2.0/24'], deny: [] },
  publicPaths: ['/public'],
  expiresAtMs: NOW_MS,
  rateLimit: { requests: 1, perMs: 1_000 },
  session: { idleMs: 1_000, absoluteMs: 2_000 },
  allowedOrigins: [OTHER],
  allowPreflights: true,
};
export const NAMES = Object.keys(RULES) as AccessRuleName[];

export interface Setup {
  readonly name: string;
  readonly providers: readonly ExplainedProvider[];
  readonly rules: Partial<AccessRules>;
}

function providerOf(type: ExplainedProvider['type'], enabled = true): ExplainedProvider {
  const keys = hasKeys(type) ? [{ name: 'build', expiresAtMs: null }] : [];
  return { id: type, name: type.toLowerCase(), type, enabled, keys };
}

export const SETUPS: readonly Setup[] = [
  { name: 'no provider', providers: [], rules: {} },
  ...AUTH_PROVIDER_TYPES.map((type) => ({ name: type, providers: [providerOf(type)], rules: {} })),
  { name: 'OIDC and API_KEY', providers: [providerOf('OIDC'), providerOf('API_KEY')], rules: {} },
  { name: 'OIDC disabled', providers: [providerOf('OIDC', false), providerOf('API_KEY')], rules: {} },
  { name: 'Basic', providers: [], rules: { basicAuth: RULES.basicAuth } },
  { name: 'a certificate', providers: [], rules: { clientCertificate: CERTIFICATE } },
];

const CREDENTIALS: Readonly<Record<string, Partial<ExplainedRequest>>> = {
  nobody: {},
  'Ann of ops': { person: { email: 'ann@example.com', groups: ['ops'], claims: {} } },
  'Ann without groups': { person: { email: 'ann@example.com', groups: [], claims: {} } },
  'Eve of ops': { person: { email: 'eve@evil.example', groups: ['ops'], claims: {} } },
  'a person without email': { person: { email: null, groups: [], claims: {} } },
  'a key': { keyName: 'build' },
  'a wrong key': { keyName: 'other' },
  'a Basic user': { basicUser: 'basil' },
  'another Basic user': { basicUser: 'eve' },
};

/** Callers with and without each credential, certificate, network, path, origin and method. */
export const CALLERS: readonly ExplainedRequest[] = Object.values(CREDENTIALS).flatMap((credential) =>
  [undefined, 'laptop', 'stranger'].flatMap((certificateName) =>
    ['192.0.2.1', '198.51.100.1'].flatMap((address) =>
      ['/', '/public'].flatMap((target) =>
        [
          { method: 'GET', origin: undefined, isPreflight: false },
          { method: 'POST', origin: OTHER, isPreflight: false },
          { method: 'OPTIONS', origin: OTHER, isPreflight: true },
        ].map((request) => ({
          host: HOST,
          isSecure: true,
          nowMs: NOW_MS,
          providerId: undefined,
          person: undefined,
          keyName: undefined,
          basicUser: undefined,
          ...credential,
          certificateName,
          address,
          target,
          ...request,
        })),
      ),
    ),
  ),
);
