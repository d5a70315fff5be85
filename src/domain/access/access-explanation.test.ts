// An explanation goes the way that gateways go, and says each step.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { explainAccess, type ExplainedProvider, type ExplainedRequest } from './access-explanation.ts';
import { OPEN_RULES, type AccessRules } from './access-rules.ts';
import { compileRules } from './compiled-rules.ts';

const request: ExplainedRequest = {
  host: 'app.share.example',
  method: 'GET',
  target: '/',
  origin: undefined,
  isPreflight: false,
  address: undefined,
  isSecure: true,
  nowMs: 0,
  providerId: undefined,
  person: undefined,
  keyName: undefined,
  basicUser: undefined,
  certificateName: undefined,
};
const person = { email: 'ann@example.com', groups: [], claims: {} };
const oidc: ExplainedProvider = { id: 'o', name: 'staff', type: 'OIDC', enabled: true, keys: [] };
const keys: ExplainedProvider = {
  id: 'k',
  name: 'machines',
  type: 'API_KEY',
  enabled: true,
  keys: [{ name: 'build', expiresAtMs: 100 }],
};

function explain(
  rules: Partial<AccessRules>,
  providers: readonly ExplainedProvider[],
  more: Partial<ExplainedRequest> = {},
) {
  return explainAccess(compileRules({ ...OPEN_RULES, ...rules }), providers, { ...request, ...more });
}
function shortly(...given: Parameters<typeof explain>) {
  const { decision, status, reason } = explain(...given);
  return [decision, status, reason];
}

test('a share without rules admits everyone, with the reason', () => {
  assert.deepEqual(explainAccess(compileRules(null), [], request), {
    decision: 'allow',
    status: null,
    reason: 'open',
    steps: [
      { rule: 'time', outcome: 'skipped', detail: 'no end' },
      { rule: 'address', outcome: 'skipped', detail: 'no rules on addresses' },
      { rule: 'certificate', outcome: 'skipped', detail: 'none is required' },
      { rule: 'path', outcome: 'skipped', detail: 'no public paths' },
      {
        rule: 'identity',
        outcome: 'skipped',
        detail: 'no auth provider and no basic user: every caller is admitted',
      },
      { rule: 'rate', outcome: 'skipped', detail: 'no limit' },
      { rule: 'admission', outcome: 'decided', detail: 'forwarded to the service' },
    ],
  });
});

test('the first rule that refuses decides, in the order of gateways, public paths or not', () => {
  const all: Partial<AccessRules> = {
    expiresAtMs: 50,
    ip: { allow: ['10.0.0.0/8'], deny: [] },
    clientCertificate: { authorities: ['PEM'], names: ['a'] },
    publicPaths: ['/health'],
  };
  const good = { address: '10.0.0.1', certificateName: 'a', target: '/health' };
  assert.deepEqual(shortly(all, [oidc], good), ['allow', null, 'public-path']);
  assert.deepEqual(shortly(all, [oidc], { ...good, nowMs: 50, address: '::1' })[2], 'access-expired');
  assert.deepEqual(shortly(all, [oidc], { ...good, address: '::1' })[2], 'address-not-allowed');
  assert.deepEqual(shortly(all, [oidc], { ...good, certificateName: undefined })[2], 'certificate-missing');
  assert.deepEqual(shortly(all, [oidc], { ...good, certificateName: 'b' })[2], 'certificate-not-allowed');
  assert.deepEqual(shortly(all, [oidc], { ...good, target: '/x//health' })[2], 'path-ambiguous');
  const { address: _, ...unknown } = good;
  const { steps } = explain(all, [oidc], unknown);
  assert.ok(steps.some(({ rule, outcome }) => rule === 'address' && outcome === 'skipped'));
});

test('a caller without credentials is redirected to log in, to HTTPS or to a choice, or gets the missing kind', () => {
  const github: ExplainedProvider = { ...oidc, id: 'g', name: 'hub', type: 'GITHUB' };
  const off = { ...oidc, enabled: false };
  assert.deepEqual(shortly({}, [oidc]), ['login', 302, 'login']);
  assert.deepEqual(shortly({}, [oidc], { isSecure: false }), ['login', 302, 'login']);
  assert.deepEqual(shortly({}, [oidc, github]), ['login', 200, 'login']);
  assert.deepEqual(shortly({}, [oidc, off]), ['login', 302, 'login']);
  assert.deepEqual(shortly({}, [off, keys]), ['unavailable', 503, 'login-not-available']);
  for (const [providers, more] of [
    [[oidc], { method: 'POST' }],
    [[keys], {}],
  ] as const)
    assert.deepEqual(shortly({}, providers, more), ['unauthenticated', 401, 'credential-missing']);
  for (const providers of [[off], [{ ...keys, enabled: false }]])
    assert.deepEqual(shortly({}, providers, { method: 'POST' }), [
      'unauthenticated',
      401,
      'provider-disabled',
    ]);
  const basic = { basicAuth: [{ name: 'ann', passwordHash: '' }] };
  assert.deepEqual(shortly(basic, []), ['unauthenticated', 401, 'credential-missing']);
});

test('keys and basic users pass by their names, and beside log-ins are not held to e-mail rules', () => {
  const rules = { emails: ['*@example.com'], basicAuth: [{ name: 'ann', passwordHash: '' }] };
  assert.deepEqual(shortly(rules, [oidc, keys], { keyName: 'build' }), ['allow', null, 'api-key build']);
  assert.deepEqual(shortly(rules, [oidc, keys], { keyName: 'build', nowMs: 100 })[2], 'credential-wrong');
  assert.deepEqual(
    shortly(rules, [oidc, keys], { keyName: 'build', providerId: 'o' })[2],
    'credential-wrong',
  );
  const off = { ...keys, enabled: false };
  assert.deepEqual(shortly(rules, [oidc, off], { keyName: 'build' })[2], 'provider-disabled');
  assert.deepEqual(shortly(rules, [oidc], { basicUser: 'ann' }), ['allow', null, 'basic ann']);
  assert.deepEqual(shortly(rules, [oidc], { basicUser: 'bob' })[2], 'credential-wrong');
});

test('rules about people admit nobody where no provider proves people, whatever the credential', () => {
  const basicAuth = [{ name: 'ann', passwordHash: '' }];
  const claims = [{ claim: 'groups', anyOf: ['staff'] }];
  const refused = ['refuse', 403, 'person-unprovable'];
  for (const rules of [{ emails: ['*@example.com'] }, { claims }]) {
    assert.deepEqual(shortly(rules, []), refused);
    assert.deepEqual(shortly(rules, [keys], { keyName: 'build' }), refused);
    assert.deepEqual(shortly({ ...rules, basicAuth }, [], { basicUser: 'ann' }), refused);
    assert.deepEqual(shortly(rules, [], { person }), refused);
    assert.equal(shortly(rules, [{ ...oidc, enabled: false }])[2], 'login-not-available');
  }
});

test('a person needs an enabled provider that logs in, and all of the rules', () => {
  const rules = { emails: ['*@example.com'], claims: [{ claim: 'groups', anyOf: ['staff', 'ops'] }] };
  const inStaff = { ...person, groups: ['staff'] };
  assert.deepEqual(shortly(rules, [oidc], { person: inStaff }), ['allow', null, 'session']);
  assert.deepEqual(shortly(rules, [keys], { person: inStaff })[2], 'person-unprovable');
  assert.deepEqual(shortly({}, [keys], { person: inStaff })[2], 'credential-wrong');
  assert.deepEqual(shortly(rules, [oidc], { person: inStaff, providerId: 'x' })[2], 'credential-wrong');
  assert.deepEqual(
    shortly(rules, [{ ...oidc, enabled: false }], { person: inStaff })[2],
    'provider-disabled',
  );
  assert.deepEqual(shortly(rules, [oidc], { person: { ...inStaff, email: null } })[2], 'email-missing');
  const { steps } = explain(rules, [oidc], { person });
  assert.deepEqual(steps.at(-1), {
    rule: 'claims',
    outcome: 'decided',
    detail: 'groups is none of staff, ops',
  });
});

test('answers of the gateway itself need no identity, where one can log in', () => {
  const target = '/.frontdoor/login?code=x';
  assert.deepEqual(shortly({ publicPaths: ['/*'] }, [oidc], { target }), ['allow', null, 'own-path']);
  assert.deepEqual(shortly({}, [keys], { target })[2], 'credential-missing');
});

test('a limit is explained, not counted', () => {
  const { decision, steps } = explain({ rateLimit: { requests: 5, perMs: 60_000 } }, []);
  assert.equal(decision, 'allow');
  assert.ok(
    steps.some(({ detail }) => detail === '5 requests in 60 s, counted for the address; beyond that 429'),
  );
});
