// Enrollment by password: a token, once, for one user name.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { createEnrollment, mintJti } from '../../overlay/enrollments/mod.ts';
import { openEdgeFixture, rawRequest, type EdgeFixture } from './edge-api-fixture.ts';

let fixture: EdgeFixture;

before(async () => {
  fixture = await openEdgeFixture();
});
after(() => fixture.close());

async function enrollmentFor(username: string): Promise<{ id: string; token: string }> {
  const { store, secrets, clock } = fixture;
  const id = randomUUID();
  const row = { id, kind: 'edge', frontdoor_id: null, name: username, agent_version: null } as const;
  await store.transaction(async (trx, touch) => {
    await trx
      .insertInto('identity')
      .values({ ...row, created_at: 1 })
      .execute();
    touch('identity', id);
  });
  const { enrollment } = await createEnrollment(store.db, secrets, {
    kind: 'edge-password',
    ownerId: null,
    identityId: id,
    ttlMs: 900_000,
    nowMs: clock.nowMs(),
    username,
  });
  return { id, token: mintJti(secrets, enrollment.id) };
}

async function post(path: string, body: unknown) {
  const answer = await rawRequest(fixture, { path, method: 'POST', body: JSON.stringify(body) });
  const json = answer.json as { data: Record<string, unknown>; error: { code: string } };
  return { status: answer.status, json };
}

const enroll = (token: string, body: unknown) => post(`/enroll?method=updb&token=${token}`, body);

test('a token sets the password of its user name once, which logs in then', async () => {
  const { id, token } = await enrollmentFor('ada');
  for (const body of [{}, { password: 'tiny' }, { password: 'long enough', username: 'other' }])
    assert.deepEqual((await enroll(token, body)).json.error.code, 'COULD_NOT_VALIDATE');
  const race = Array.from({ length: 4 }, () =>
    post(`/edge/client/v1/enroll/updb?token=${token}`, { username: 'ada', password: 'long enough' }),
  );
  const answers = await Promise.all(race);
  const statuses = answers.map(({ status }) => status).sort((a, b) => a - b);
  assert.deepEqual(statuses, [200, 400, 400, 400]);
  const [made] = answers.filter(({ status }) => status === 200);
  assert.deepEqual(made!.json.data, { username: 'ada' });
  const login = { username: 'ada', password: 'long enough' };
  const { status, json } = await post('/authenticate?method=password', login);
  assert.deepEqual([status, json.data['identityId']], [200, id]);
});

test('a token of another kind, or an unknown one, sets nothing', async () => {
  const { token } = await enrollmentFor('bob');
  const certificate = await fixture.enrollment();
  for (const wrong of [certificate.jti, 'x', ''])
    assert.equal(
      (await enroll(wrong, { password: 'long enough' })).json.error.code,
      'INVALID_ENROLLMENT_TOKEN',
    );
  const asCertificate = await post(`/enroll?method=ott&token=${token}`, 'a request');
  assert.equal(asCertificate.json.error.code, 'INVALID_ENROLLMENT_TOKEN');
});

test('a user name that another identity has is refused, and the token stays', async () => {
  const [first, second] = [await enrollmentFor('carol'), await enrollmentFor('carol')];
  assert.equal((await enroll(first.token, { password: 'long enough' })).status, 200);
  assert.equal((await enroll(second.token, { password: 'long enough' })).status, 409);
  assert.equal((await enroll(second.token, { password: 'long enough' })).status, 409);
});
