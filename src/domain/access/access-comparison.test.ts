// Two sets of rules are compared by what was recorded; where records do not say enough, the outcome is unknown.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AccessComparer, type RecordedRequest } from './access-comparison.ts';
import type { ExplainedProvider } from './access-explanation.ts';
import { OPEN_RULES, type AccessRules } from './access-rules.ts';

const oidc: ExplainedProvider = { id: 'o', name: 'staff', type: 'OIDC', enabled: true, keys: [] };
const keys: ExplainedProvider = {
  id: 'k',
  name: 'machines',
  type: 'API_KEY',
  enabled: true,
  keys: [{ name: 'night build', expiresAtMs: null }],
};
const record: RecordedRequest = {
  host: 'app.share.example',
  method: 'GET',
  target: '/orders?page=1',
  origin: undefined,
  isPreflight: false,
  address: '192.0.2.7',
  atMs: 1_000,
  identity: 'u1 <ann@example.com>',
  decision: 'session',
};
const staff = [{ claim: 'groups', anyOf: ['staff'] }];
const admins = [{ claim: 'groups', anyOf: ['admins'] }];
const certificate = { authorities: ['PEM'], names: ['ann'] };

function compared(
  before: Partial<AccessRules> | null,
  after: Partial<AccessRules> | null,
  more: Partial<RecordedRequest> = {},
) {
  const whole = (rules: Partial<AccessRules> | null) => (rules === null ? null : { ...OPEN_RULES, ...rules });
  const found = new AccessComparer(whole(before), whole(after)).compare([oidc, keys], { ...record, ...more });
  if (found.outcome !== 'different') return found.outcome;
  return [found.before.reason, found.after.reason];
}

test('addresses, times, paths and e-mail addresses are decided from the record', () => {
  const denied = { ip: { allow: [], deny: ['192.0.2.0/24'] } };
  assert.equal(compared(null, { emails: ['*@example.com'] }), 'same');
  assert.deepEqual(compared(null, denied), ['session', 'address-denied']);
  assert.deepEqual(compared(denied, null, { decision: 'address-denied', identity: null }), [
    'address-denied',
    'login',
  ]);
  assert.deepEqual(compared(null, { expiresAtMs: 1_000 }), ['session', 'access-expired']);
  assert.equal(compared(null, { expiresAtMs: 1_001 }), 'same');
  assert.deepEqual(compared(null, { emails: ['*@example.org'] }), ['session', 'email-not-allowed']);
  assert.equal(compared(null, { emails: ['u1@example.org'] }, { identity: 'u1@example.org' }), 'same');
  const anonymous = { identity: null, decision: 'login-choice' };
  assert.deepEqual(compared(null, { publicPaths: ['/orders'] }, anonymous), ['login', 'public-path']);
  assert.equal(compared(null, { publicPaths: ['/orders'] }), 'same', 'who was admitted is admitted');
});

test('keys and basic users are those that were recorded', () => {
  const key = { identity: 'night build', decision: 'api-key night build' };
  assert.equal(compared(null, { emails: ['*@example.org'], claims: staff }, key), 'same');
  const basic = { identity: 'ann', decision: 'basic ann' };
  const ann = { basicAuth: [{ name: 'ann', passwordHash: '' }] };
  assert.deepEqual(compared(ann, null, basic), ['basic ann', 'credential-wrong']);
  assert.equal(compared(ann, ann, basic), 'same');
});

test('groups are known as far as the decision shows them', () => {
  assert.equal(compared({ claims: staff }, { claims: staff }), 'same');
  assert.equal(compared({ claims: staff }, null), 'same');
  assert.deepEqual(compared({ claims: staff }, null, { decision: 'claim-not-met' }), [
    'claim-not-met',
    'session',
  ]);
  assert.equal(compared({ claims: staff }, { claims: admins }), 'unknown');
  assert.equal(compared(null, { claims: staff }), 'unknown');
  const shut = { claims: admins, emails: ['*@example.org'] };
  assert.deepEqual(compared({ claims: staff }, shut), ['session', 'email-not-allowed']);
});

test('so are certificates', () => {
  const rules = { clientCertificate: certificate };
  assert.equal(compared(rules, rules), 'same');
  assert.equal(compared(rules, null), 'same');
  assert.equal(compared(null, rules), 'unknown');
  const missing = { decision: 'certificate-missing', identity: null };
  assert.equal(compared(rules, rules, missing), 'same');
  assert.deepEqual(compared(rules, null, missing), ['certificate-missing', 'login']);
});

test('other auth providers keep whom they identify, too, and ask everyone else', () => {
  const comparer = new AccessComparer(null, null);
  const other: ExplainedProvider = { ...oidc, id: 'g', name: 'guests' };
  const found = (
    before: readonly ExplainedProvider[],
    after: readonly ExplainedProvider[],
    more: Partial<RecordedRequest> = {},
  ) => {
    const compared = comparer.compare(before, { ...record, ...more }, after);
    if (compared.outcome !== 'different') return compared.outcome;
    return [compared.before.reason, compared.after.reason];
  };
  const anonymous = { identity: null, decision: 'network' };
  assert.deepEqual(found([], [oidc], anonymous), ['network', 'login']);
  assert.deepEqual(found([], [keys], anonymous), ['network', 'credential-missing']);
  assert.equal(found([oidc], [oidc, other]), 'same');
  assert.deepEqual(found([oidc], [other]), ['session', 'login']);
  assert.deepEqual(found([oidc], [keys]), ['session', 'credential-missing']);
  assert.equal(found([oidc], []), 'same', 'the request comes in, though nobody is asked');
  assert.equal(found([oidc, other], [other]), 'unknown', 'the record does not name the provider');
  assert.equal(found([{ ...oidc, enabled: false }, other], [other]), 'same', 'one was disabled');
  const build = { identity: 'night build', decision: 'api-key night build' };
  assert.equal(found([oidc, keys], [keys], build), 'same');
  const namesake = { ...keys, id: 'n' };
  assert.deepEqual(found([keys], [namesake], build), ['api-key night build', 'credential-missing']);
  const stranger = { identity: null, decision: 'login' };
  assert.equal(found([oidc], [other], stranger), 'same');
  assert.deepEqual(found([oidc], [], stranger), ['login', 'network']);
});
