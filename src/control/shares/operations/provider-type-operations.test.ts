import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { PROVIDER_TYPES, type AuthProviderType } from '#domain/provider-types';
import { BASE_URL, openApiWorld, type ApiWorld } from './api-fixture.ts';

const URI = 'uri (http or https, without query, fragment or user name)';

const TYPES = ['OIDC', 'API_KEY', 'GOOGLE', 'GITHUB', 'MICROSOFT', 'GITLAB'];
const EXAMPLES = TYPES.map((type) => [type, PROVIDER_TYPES[type as AuthProviderType].example] as const);

type Json = Readonly<Record<string, unknown>>;

/** A validator of someone else, who reads only what is served. */
function validatorOf(schema: unknown): ValidateFunction {
  const ajv = new Ajv2020({ strict: true });
  ajv.addFormat('uri', (text: string) => URL.canParse(text));
  ajv.addFormat(
    'date-time',
    (text: string) => /T.*(?:Z|[+-]\d\d:\d\d)$/.test(text) && !isNaN(Date.parse(text)),
  );
  return ajv.compile(schema as object);
}

const oidc = { issuer: 'https://id.example', client_id: 'frontdoor' };
const login = { client_id: 'frontdoor', client_secret: 'a well kept secret' };
const key = { placement: 'header', name: 'X-Api-Key', keys: [{ name: 'ci' }] };

const TENANT = '5f1c2d3e-4a5b-4c6d-8e7f-901234567890';
const microsoft = { ...login, tenant: TENANT };
const tenants = { ...login, tenant: 'organizations', allowed_tenants: [TENANT] };

const GOOD: readonly (readonly [type: string, data: unknown])[] = [
  ...EXAMPLES,
  ['OIDC', oidc],
  ['OIDC', { ...oidc, issuer: 'http://localhost:8080/realms/a' }],
  ['OIDC', { ...oidc, issuer: 'https://[::1]:8443/' }],
  ['OIDC', { ...oidc, client_secret: 's', scopes: ['openid', 'email'], supports_pkce: true }],
  ['OIDC', { ...oidc, scopes: [], discovery_url: 'https://id.example/metadata?tenant=a' }],
  ['GOOGLE', login],
  ['GOOGLE', { ...login, issuer: 'http://127.0.0.1:9000' }],
  ['GITHUB', { ...login, scopes: ['read:user'] }],
  ['GITHUB', { ...login, base_url: 'https://git.example', api_url: 'https://git.example/api/v3' }],
  ['MICROSOFT', { ...microsoft, trust_email: true, authority: 'https://login.microsoftonline.us' }],
  ['GITLAB', { ...login, base_url: 'https://git.example/gitlab' }],
  ['MICROSOFT', tenants],
  ['MICROSOFT', { ...tenants, tenant: 'common', trust_email: false }],
  ['MICROSOFT', { ...login, tenant: 'consumers' }],
  ['API_KEY', key],
  ['API_KEY', { placement: 'query', name: 'api[key]', keys: [{ name: 'Büro' }] }],
  ['API_KEY', { placement: 'bearer', keys: [{ name: 'a' }, { name: 'b' }] }],
  ['API_KEY', { ...key, keys: [{ name: 'a', key: 'x'.repeat(16), expiresAt: '2030-01-01T00:00:00Z' }] }],
  ['API_KEY', { ...key, keys: [{ name: 'a', lastUsedAt: null }] }],
];

const BAD: readonly (readonly [type: string, data: unknown, message: string])[] = [
  ['OIDC', {}, 'Value for data.issuer must be of uri'],
  ['OIDC', { issuer: oidc.issuer }, 'Value for data.client_id must be of string'],
  ['OIDC', { ...oidc, issuer: 5 }, 'Value for data.issuer must be of string'],
  ['OIDC', { ...oidc, issuer: '' }, 'Value for data.issuer must be of uri'],
  ['OIDC', { ...oidc, issuer: 'id.example' }, 'Value for data.issuer must be of uri'],
  ['OIDC', { ...oidc, issuer: '/realms/a' }, 'Value for data.issuer must be of uri'],
  ['OIDC', { ...oidc, issuer: 'ftp://id.example' }, `Value for data.issuer must be of ${URI}`],
  ['OIDC', { ...oidc, issuer: 'javascript:alert(1)' }, `Value for data.issuer must be of ${URI}`],
  ['OIDC', { ...oidc, issuer: 'https://a b' }, 'Value for data.issuer must be of uri'],
  ['OIDC', { ...oidc, issuer: 'https://user:word@id.example' }, `Value for data.issuer must be of ${URI}`],
  ['OIDC', { ...oidc, issuer: 'https://id.example?x=1' }, `Value for data.issuer must be of ${URI}`],
  ['OIDC', { ...oidc, client_id: '' }, 'Value for data.client_id must be of string of 1 to 1000 characters'],
  ['OIDC', { ...oidc, client_id: null }, 'Value for data.client_id must be of string'],
  ['OIDC', { ...oidc, client_secret: 7 }, 'Value for data.client_secret must be of string'],
  ['OIDC', { ...oidc, scopes: 'openid' }, 'Value for data.scopes must be of array'],
  ['OIDC', { ...oidc, scopes: [1] }, 'Value for data.scopes.0 must be of string'],
  ['OIDC', { ...oidc, scopes: ['openid', null] }, 'Value for data.scopes.1 must be of string'],
  ['OIDC', { ...oidc, supports_pkce: 'true' }, 'Value for data.supports_pkce must be of boolean'],
  ['OIDC', { ...oidc, discovery_url: 'id.example' }, 'Value for data.discovery_url must be of uri'],
  ['OIDC', { ...oidc, isuer: 'x' }, 'Value for data.isuer must be of issuer, scopes, client_id'],
  ['GOOGLE', { client_id: 'a' }, 'Value for data.client_secret must be of string'],
  [
    'GOOGLE',
    { ...login, base_url: 'https://a' },
    'Value for data.base_url must be of issuer, scopes, client_id',
  ],
  ['GITHUB', { ...login, api_url: 'here' }, 'Value for data.api_url must be of uri'],
  ['OIDC', { ...oidc, trust_email: 'yes' }, 'Value for data.trust_email must be of boolean'],
  ['GITHUB', { client_secret: 'a' }, 'Value for data.client_id must be of string'],
  ['GITLAB', { ...login, base_url: 'git.example' }, 'Value for data.base_url must be of uri'],
  ['MICROSOFT', login, 'Value for data.tenant must be of string'],
  [
    'MICROSOFT',
    { ...login, tenant: 'contoso.com' },
    'Value for data.tenant must be of tenant (the id of a tenant, common, organizations or consumers)',
  ],
  ['MICROSOFT', { ...login, tenant: 'common' }, 'Value for data.allowed_tenants must be of array'],
  [
    'MICROSOFT',
    { ...tenants, allowed_tenants: [] },
    'Value for data.allowed_tenants must be of array of 1 to 1000 items',
  ],
  [
    'MICROSOFT',
    { ...tenants, allowed_tenants: ['*'] },
    'Value for data.allowed_tenants.0 must be of tenant id (a UUID)',
  ],
  [
    'MICROSOFT',
    { ...microsoft, allowed_tenants: [TENANT] },
    'Value for data.allowed_tenants must be of nothing, because the tenant is neither organizations nor common',
  ],
  ['MICROSOFT', { ...tenants, trust_email: true }, 'Value for data.trust_email must be of false'],
  [
    'MICROSOFT',
    { ...login, tenant: 'consumers', trust_email: true },
    'Value for data.trust_email must be of false',
  ],
  ['API_KEY', { placement: 'header', name: 'X' }, 'Value for data.keys must be of array'],
  ['API_KEY', { name: 'X', keys: key.keys }, 'Value for data.placement must be of string'],
  ['API_KEY', { ...key, placement: 'body' }, 'Value for data.placement must be of header or query or bearer'],
  ['API_KEY', { placement: 'header', keys: key.keys }, 'Value for data.name must be of string'],
  ['API_KEY', { placement: 'query', keys: key.keys }, 'Value for data.name must be of string'],
  [
    'API_KEY',
    { ...key, name: 'X Key' },
    "Value for data.name must be of header name (letters, digits and !#$%&'*+.^_`|~-)",
  ],
  [
    'API_KEY',
    { ...key, name: 'X[Key]' },
    "Value for data.name must be of header name (letters, digits and !#$%&'*+.^_`|~-)",
  ],
  ['API_KEY', { ...key, keys: [] }, 'Value for data.keys must be of array of 1 to 1000 items'],
  ['API_KEY', { ...key, keys: [{}] }, 'Value for data.keys.0.name must be of string'],
  ['API_KEY', { ...key, keys: ['ci'] }, 'Value for data.keys.0 must be of object'],
  [
    'API_KEY',
    { ...key, keys: [{ name: 'a\u0000b' }] },
    'Value for data.keys.0.name must be of key name (1 to 100 characters, no control characters)',
  ],
  [
    'API_KEY',
    { ...key, keys: [{ name: 'a\ud800b' }] },
    'Value for data.keys.0.name must be of key name (1 to 100 characters, no control characters)',
  ],
  [
    'API_KEY',
    { ...key, keys: [{ name: 'a', key: 'short' }] },
    'Value for data.keys.0.key must be of key (16 to 300 visible ASCII characters)',
  ],
  [
    'API_KEY',
    { ...key, keys: [{ name: 'a', key: 'x'.repeat(16) + ' ' }] },
    'Value for data.keys.0.key must be of key (16 to 300 visible ASCII characters)',
  ],
  [
    'API_KEY',
    { ...key, keys: [{ name: 'a', key: 'ü'.repeat(16) }] },
    'Value for data.keys.0.key must be of key (16 to 300 visible ASCII characters)',
  ],
  [
    'API_KEY',
    { ...key, keys: [{ name: 'a', expiresAt: 'soon' }] },
    'Value for data.keys.0.expiresAt must be of date-time (ISO 8601 with a time zone, as 2030-01-01T00:00:00Z)',
  ],
  [
    'API_KEY',
    { ...key, keys: [{ name: 'a', expiresAt: 5 }] },
    'Value for data.keys.0.expiresAt must be of string',
  ],
  [
    'API_KEY',
    { ...key, keys: [{ name: 'a', kye: 'x' }] },
    'Value for data.keys.0.kye must be of key, name, expiresAt',
  ],
];

describe('types of auth providers', () => {
  let world: ApiWorld;
  let base: string;
  const documents = new Map<string, Json>();

  before(async () => {
    world = await openApiWorld();
    base = `/frontdoor/${world.first.frontdoorId}`;
    for (const type of TYPES) {
      const { body } = await world.call('GET', `${base}/auth-provider-types/${type}/schema`);
      documents.set(type, body as Json);
    }
  });
  after(() => world.close());

  it('are listed with a name for people and a description', async () => {
    const { status, body } = await world.call('GET', `${base}/auth-provider-types`);
    assert.equal(status, 200);
    const list = body as Json[];
    assert.deepEqual(
      list.map(({ type }) => type),
      TYPES,
    );
    for (const entry of list) {
      assert.deepEqual(Object.keys(entry), ['type', 'displayName', 'description']);
      assert.ok(String(entry['displayName']).length > 2 && String(entry['description']).length > 20);
    }
  });

  it('are read one by one with type and description', async () => {
    for (const type of TYPES) {
      const { status, body } = await world.call('GET', `${base}/auth-provider-types/${type}`);
      assert.equal(status, 200);
      assert.deepEqual(Object.keys(body as Json), ['type', 'description']);
      assert.equal((body as Json)['type'], type);
    }
  });

  it('that are unknown are missing, in any spelling', async () => {
    for (const type of ['SAML', 'oidc', 'toString', '__proto__', 'OIDC%20']) {
      const paths = [
        `${base}/auth-provider-types/${type}`,
        `${base}/auth-provider-types/${type}/schema`,
        `/schemas/auth-providers/${type}`,
      ];
      for (const path of paths) {
        const { status, body } = await world.call('GET', path);
        assert.equal(status, 404, path);
        const message = `Auth provider type ${decodeURIComponent(type)} not found`;
        assert.deepEqual(body, { error: 'not_found', message });
      }
    }
  });

  it('have a JSON Schema document that is served at its $id without credentials', async () => {
    for (const [type, document] of documents) {
      assert.equal(document['$schema'], 'https://json-schema.org/draft/2020-12/schema');
      assert.equal(document['$id'], `${BASE_URL}/schemas/auth-providers/${type}`);
      assert.equal(document['type'], 'object');
      assert.ok(Array.isArray(document['required']) && typeof document['properties'] === 'object');
      const path = `/schemas/auth-providers/${type}`;
      const open = await world.call('GET', path, { authorization: null });
      assert.equal(open.status, 200);
      assert.deepEqual(open.body, document);
      const closed = `${base}/auth-provider-types/${type}/schema`;
      assert.equal((await world.call('GET', closed, { authorization: null })).status, 401);
    }
  });

  it('of OpenID Connect require issuer and client_id and allow what logins need', () => {
    const schema = documents.get('OIDC') as { required: unknown; properties: Record<string, Json> };
    assert.deepEqual(schema.required, ['issuer', 'client_id']);
    const { issuer, client_id, scopes, client_secret, supports_pkce, discovery_url } = schema.properties;
    assert.deepEqual([issuer?.['type'], issuer?.['format']], ['string', 'uri']);
    assert.equal(client_id?.['type'], 'string');
    assert.deepEqual(
      [scopes?.['type'], (scopes?.['items'] as Json | undefined)?.['type']],
      ['array', 'string'],
    );
    assert.equal(client_secret?.['type'], 'string');
    assert.equal(supports_pkce?.['type'], 'boolean');
    assert.deepEqual([discovery_url?.['type'], discovery_url?.['format']], ['string', 'uri']);
  });

  it('validate data by the very schema that is served, as any validator would', async () => {
    const validators = new Map([...documents].map(([type, document]) => [type, validatorOf(document)]));
    const path = `${base}/auth-providers`;
    for (const [type, data] of GOOD) {
      const validate = validators.get(type)!;
      assert.equal(
        validate(data),
        true,
        `${type} ${JSON.stringify(data)}: ${JSON.stringify(validate.errors)}`,
      );
      const made = await world.call('POST', path, { body: { name: 'x', type, data } });
      assert.equal(made.status, 201, made.text);
      const { id, data: shown } = made.body as { id: string; data: unknown };
      assert.equal(validate(shown), true, `the answer: ${JSON.stringify(shown)}`);
      const read = await world.call('GET', `${path}/${id}`);
      assert.equal(validate((read.body as Json)['data']), true, `what is read: ${read.text}`);
    }
    for (const [type, data, message] of BAD) {
      const what = `${type} ${JSON.stringify(data)}`;
      assert.equal(validators.get(type)!(data), false, what);
      const { status, body } = await world.call('POST', path, { body: { name: 'x', type, data } });
      assert.equal(status, 400, what);
      assert.deepEqual(body, { error: 'invalid_request', message }, what);
    }
  });
});
