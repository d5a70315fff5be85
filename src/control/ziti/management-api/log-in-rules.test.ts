// Rules of an authentication policy that act at each log-in and at each refresh of tokens.
import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { after, before, test } from 'node:test';
import { enrollIdentity } from '#sdk';
import { rawRequest } from '../client-api/edge-api-fixture.ts';
import { OidcFlow } from '../client-api/oidc-flow-fixture.ts';
import { openManagementFixture, type ManagementFixture } from './management-fixture.ts';

const MINUTE_MS = 60_000;

let api: ManagementFixture;

before(async () => {
  api = await openManagementFixture();
});
after(() => api.close());

/** Enrolls an identity, and returns how it logs in with its certificate. */
async function machine(name: string, authPolicyId?: string) {
  const id = await api.make('identities', { name, type: 'User', enrollment: { ott: true }, authPolicyId });
  const { jwt } = (await api.call('GET', `identities/${id}`)).data.enrollment.ott;
  const { identity } = await enrollIdentity({ jwt });
  const client = { cert: identity.certPem, key: identity.keyPem };
  const flow = new OidcFlow(api, client);
  return {
    id,
    flow,
    endsAtMs: Date.parse(new X509Certificate(identity.certPem).validTo),
    async logIn(at: 'client' | 'management' = 'client') {
      const path = `/edge/${at}/v1/authenticate?method=cert`;
      return (await rawRequest(api, { method: 'POST', path, body: '{}', ...client })).status;
    },
    async byOidc() {
      return flow.step('cert', { id: await flow.begin('cert') });
    },
  };
}

/** Changes the policy as an administrator who has just logged in. */
async function change(policyId: string, fields: object): Promise<void> {
  const { token } = (await api.logIn()).data;
  assert.equal((await api.call('PATCH', `auth-policies/${policyId}`, fields, token)).status, 200);
}

const policyOf = (name: string, primary: object, secondary: object = {}) =>
  api.make('auth-policies', { name, primary, secondary });

test('an expired certificate logs in and refreshes while the policy permits it, and no longer', async () => {
  const policy = await policyOf('machines', { cert: { allowed: true } });
  const { flow, endsAtMs, logIn, byOidc } = await machine('old', policy);
  api.clock.offsetMs = endsAtMs - Date.now() - MINUTE_MS;
  const tokens = await flow.tokens(await byOidc());
  assert.equal(await flow.services(tokens), 200);
  api.clock.offsetMs += 2 * MINUTE_MS;
  assert.deepEqual([await logIn(), (await byOidc()).status, await flow.services(tokens)], [401, 401, 401]);
  assert.deepEqual((await flow.refresh(tokens)).json, { error: 'invalid_grant' });

  await change(policy, { primary: { cert: { allowExpiredCerts: true } } });
  assert.deepEqual([await logIn(), (await byOidc()).status, await flow.services(tokens)], [200, 302, 200]);
  assert.equal((await flow.refresh(tokens)).status, 200);

  await change(policy, { primary: { cert: { allowExpiredCerts: false } } });
  assert.deepEqual([await logIn(), (await byOidc()).status, await flow.services(tokens)], [401, 401, 401]);
  await change(policy, { primary: { cert: { allowExpiredCerts: true } } });
  assert.equal((await flow.refresh(tokens)).status, 400, 'the session has ended');
  api.clock.offsetMs = 0;
});
