// Enrollments by other parties, and policies of log-in, on PostgreSQL, whose changes reach the model later.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { until } from '../../../../test/support/deadline.ts';
import { postgresSkip, sharedPostgres } from '../../../../test/support/postgres.ts';
import { openThirdParty } from '../../../../test/support/third-party.ts';
import { rawRequest } from '../client-api/edge-api-fixture.ts';
import { openPostgresStore } from '../../store/engine/postgres-store.ts';
import {
  AUDIENCE,
  ISSUER,
  JWKS,
  openExternalIssuer,
  type ExternalIssuer,
} from './external-issuer-fixture.ts';
import { openManagementFixture, type ManagementFixture } from './management-fixture.ts';

describe('enrollments on PostgreSQL', { skip: postgresSkip }, () => {
  let api: ManagementFixture;
  let issuer: ExternalIssuer;

  before(async () => {
    const url = await (await sharedPostgres()).createDatabase();
    issuer = await openExternalIssuer();
    api = await openManagementFixture(issuer.egress, () => openPostgresStore({ url, poolSize: 3 }));
  });
  after(() => api?.close());

  const statusOf = async (request: Omit<Parameters<typeof rawRequest>[1], 'method'>): Promise<number> =>
    (await rawRequest(api, { method: 'POST', body: '{}', ...request })).status;
  /** Repeats a call until the model has the changes before it. */
  const becomes = (wanted: number, call: () => Promise<number>): Promise<unknown> =>
    until(`status ${wanted}`, call, (status) => status === wanted);

  test('an authority enrolls, and its end ends the sessions of its certificates', async () => {
    const party = await openThirdParty('partner');
    const id = await api.make('cas', {
      name: 'partner',
      certPem: party.certificatePem,
      isAuthEnabled: true,
      isAutoCaEnrollmentEnabled: true,
      isOttCaEnrollmentEnabled: true,
    });
    const shown = () => api.call('GET', `cas/${id}`);
    const { verificationToken } = (await shown()).data as unknown as { verificationToken: string };
    const { token } = (await api.logIn()).data;
    const proof = (await party.issue(verificationToken)).cert;
    const path = `/edge/management/v1/cas/${id}/verify`;
    const headers = { 'zt-session': token, 'content-type': 'text/plain' };
    assert.equal(await statusOf({ path, headers, body: proof }), 200);
    const own = await party.issue('machine');
    await becomes(200, () => statusOf({ path: '/enroll?method=ca', ...own }));
    assert.equal(await statusOf({ path: '/enroll?method=ca', ...own }), 409);
    const logIn = () => statusOf({ path: '/edge/client/v1/authenticate?method=cert', ...own });
    await becomes(200, logIn);
    assert.equal((await api.call('DELETE', `cas/${id}`)).status, 200);
    await becomes(401, logIn);
    assert.deepEqual(await api.store.db.selectFrom('api_session').select('id').execute(), []);
    assert.deepEqual(await api.store.db.selectFrom('certificate').select('fingerprint').execute(), []);
  });

  test('a token makes one identity however often it is sent at once, until a policy forbids its log-in', async () => {
    const policyId = await api.make('auth-policies', {
      name: 'tokens',
      primary: { extJwt: { allowed: true } },
    });
    const signer = { name: 'idp', issuer: ISSUER, audience: AUDIENCE, jwksEndpoint: JWKS, enabled: true };
    await api.make('external-jwt-signers', {
      ...signer,
      claimsProperty: 'email',
      useExternalId: true,
      enrollToTokenEnabled: true,
      enrollAuthPolicyId: policyId,
    });
    const email = '50%_of!ada@example.com';
    const headers = { authorization: `Bearer ${await issuer.token({ claims: { email } })}` };
    const enroll = () => statusOf({ path: '/enroll/token', headers });
    await until(
      'the signer',
      () => Promise.resolve(api.model.edge.count('external-jwt-signer')),
      (count) => count === 1,
    );
    const statuses = await Promise.all([enroll(), enroll(), enroll()]);
    assert.deepEqual(
      statuses.sort((a, b) => a - b),
      [200, 409, 409],
    );
    const logIn = () => statusOf({ path: '/edge/client/v1/authenticate?method=ext-jwt', headers });
    await becomes(200, logIn);
    const forbidding = { primary: { extJwt: { allowed: false } } };
    assert.equal((await api.call('PATCH', `auth-policies/${policyId}`, forbidding)).status, 200);
    await becomes(401, logIn);
    assert.deepEqual(await api.store.db.selectFrom('api_session').select('id').execute(), []);
  });
});
