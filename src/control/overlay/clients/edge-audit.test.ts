import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { after, before, test } from 'node:test';
import { ManualClock } from '#base';
import { makeKeyRequest } from '#sdk';
import { LogInLedger, verifyAudit } from '../../audit/mod.ts';
import {
  openEdgeFixture,
  rawRequest,
  type EdgeFixture,
  type Enrolled,
} from '../../ziti/client-api/edge-api-fixture.ts';

let fixture: EdgeFixture;
let organizationId: string;
before(async () => {
  fixture = await openEdgeFixture({ logIn: { perSecond: 1, burst: 3 } });
  const [frontdoorId] = fixture.frontdoorIds;
  const row = await fixture.store.db
    .selectFrom('frontdoor')
    .select('organization_id')
    .where('id', '=', frontdoorId)
    .executeTakeFirstOrThrow();
  organizationId = row.organization_id;
});
after(() => fixture.close());

const fingerprint = (pem: string) => new X509Certificate(pem).fingerprint.replaceAll(':', '').toLowerCase();

async function eventsAbout(actorId: string | null, chain = organizationId) {
  const rows = await fixture.store.db
    .selectFrom('audit_event')
    .selectAll()
    .where('organization_id', '=', chain)
    .where('actor_id', actorId === null ? 'is' : '=', actorId)
    .orderBy('sequence')
    .execute();
  return rows.map((row) => ({
    ...row,
    before: row.before === null ? null : (JSON.parse(row.before) as Record<string, unknown>),
    after: row.after === null ? null : (JSON.parse(row.after) as Record<string, unknown>),
  }));
}

/** Waits for events that are written beside the answers. */
async function eventually<T>(look: () => Promise<T | undefined>): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  const again = async (): Promise<void> => {
    const found = await look();
    if (found !== undefined) resolve(found);
  };
  fixture.store.onChange(() => again());
  await again();
  const deadline = setTimeout(() => reject(new Error('the event is missing')), 30_000);
  const found = await promise;
  clearTimeout(deadline);
  return found;
}

async function enrollmentOf(enrolled: Enrolled): Promise<string> {
  const row = await fixture.store.db
    .selectFrom('enrollment')
    .select('id')
    .where('identity_id', '=', enrolled.id)
    .executeTakeFirstOrThrow();
  return row.id;
}

test('an enrollment is recorded with the owner of its code, in the chain of its frontdoor; a gateway’s in the chain of the installation', async () => {
  const agent = await fixture.enroll('box');
  const [event, ...more] = await eventsAbout(await enrollmentOf(agent));
  assert.equal(more.length, 0);
  assert.deepEqual([event!.actor_kind, event!.action, event!.result], ['enrollment', 'enroll', 'ok']);
  assert.deepEqual([event!.target_kind, event!.target_id], ['environment', agent.id]);
  assert.partialDeepStrictEqual(event!.after, {
    name: 'box',
    frontdoorId: fixture.frontdoorIds[0],
    fingerprint: fingerprint(agent.identity.certPem),
  });
  const gateway = await fixture.enroll('gateway', 'gateway');
  const [other] = await eventsAbout(await enrollmentOf(gateway), '');
  assert.deepEqual([other!.action, other!.target_kind, other!.target_id], ['enroll', 'gateway', gateway.id]);
});

test('a change of an agent to its shares is recorded with before and after', async () => {
  const agent = await fixture.enroll('sharer');
  const share = {
    name: 'app',
    shareMode: 'public',
    backendMode: 'proxy',
    target: 'http://127.0.0.1:1',
  } as const;
  await agent.agentApi.createShare(share);
  await agent.agentApi.createShare({ ...share, target: 'http://127.0.0.1:2' });
  await agent.agentApi.releaseShare('app');
  await assert.rejects(agent.agentApi.releaseShare('app'));
  await assert.rejects(agent.agentApi.createShare({ ...share, name: 'www' }));
  const events = (await eventsAbout(agent.id)).filter(({ target_kind }) => target_kind === 'share');
  assert.deepEqual(
    events.map(({ action, target_id, before: was, after: is }) => [
      action,
      target_id,
      was?.['target'],
      is?.['target'],
    ]),
    [
      ['createShare', 'app', undefined, 'http://127.0.0.1:1'],
      ['takeBackShare', 'app', 'http://127.0.0.1:1', 'http://127.0.0.1:2'],
      ['releaseShare', 'app', 'http://127.0.0.1:2', undefined],
    ],
  );
  assert.ok(events.every(({ actor_kind, address }) => actor_kind === 'environment' && address !== null));
});

test('a version is recorded when it changes', async () => {
  const agent = await fixture.enroll('versioned');
  const reportVersion = (version: string) =>
    rawRequest(fixture, {
      method: 'PUT',
      path: '/agent/v1/self',
      cert: agent.identity.certPem,
      key: agent.identity.keyPem,
      body: JSON.stringify({ version }),
    });
  for (const version of ['1.0.0', '1.0.0', '1.1.0']) assert.equal((await reportVersion(version)).status, 204);
  const events = await eventsAbout(agent.id);
  assert.deepEqual(
    events.map(({ action, before: was, after: is }) => [action, was?.['version'], is?.['version']]),
    [
      ['reportVersion', null, '1.0.0'],
      ['reportVersion', '1.0.0', '1.1.0'],
    ],
  );
});

test('a renewed certificate is recorded when it is issued, and the replaced one when it is removed', async () => {
  const agent = await fixture.enroll('renewing');
  const { csrPem, keyPem } = await makeKeyRequest(agent.id);
  const certPem = await agent.client.extendIdentity(csrPem);
  const old = fingerprint(agent.identity.certPem);
  const [renewal] = (await eventsAbout(agent.id)).filter(({ action }) => action === 'renewCertificate');
  assert.deepEqual(renewal!.before, { fingerprint: old });
  assert.partialDeepStrictEqual(renewal!.after, { fingerprint: fingerprint(certPem) });

  await rawRequest(fixture, { path: '/agent/v1/shares', cert: certPem, key: keyPem });
  const dropped = await eventually(async () => {
    const events = await eventsAbout(null);
    return events.find(({ action }) => action === 'dropReplacedCertificates');
  });
  assert.deepEqual([dropped.actor_kind, dropped.target_id], ['system', agent.id]);
  assert.deepEqual(dropped.before, { fingerprints: [old] });
});

test('a log-in is recorded, and those of the next hour from the same network together with the one after it', async () => {
  const { id, identity } = await fixture.enroll('restless');
  const logIn = async () => {
    const answer = await rawRequest(fixture, {
      method: 'POST',
      path: '/authenticate?method=cert',
      cert: identity.certPem,
      key: identity.keyPem,
    });
    return answer.status;
  };
  assert.deepEqual([await logIn(), await logIn(), await logIn()], [200, 200, 200]);
  const recorded = async () =>
    (await eventsAbout(id)).filter(({ action, result }) => action === 'logIn' && result === 'ok');
  assert.deepEqual(
    (await recorded()).map(({ occurrences }) => occurrences),
    [1],
  );
  fixture.clock.offsetMs = 3_600_000;
  assert.equal(await logIn(), 200);
  fixture.clock.offsetMs = 0;
  assert.deepEqual(
    (await recorded()).map(({ occurrences, target_kind }) => [occurrences, target_kind]),
    [
      [1, 'api-session'],
      [3, 'api-session'],
    ],
  );
});

test('log-ins from other networks, and of other identities, are recorded separately', () => {
  const clock = new ManualClock();
  const ledger = new LogInLedger(clock);
  const logIn = (id: string, address: string): number => {
    const occurrences = ledger.due(id, address);
    ledger.done(id, address, occurrences);
    return occurrences;
  };
  assert.deepEqual([logIn('a', '192.0.2.1'), logIn('a', '192.0.2.1'), logIn('a', '192.0.2.1')], [1, 0, 0]);
  assert.deepEqual([logIn('a', '192.0.2.2'), logIn('b', '192.0.2.1')], [1, 1]);
  assert.deepEqual([logIn('a', '2001:db8::1'), logIn('a', '2001:db8::2')], [1, 0]);
  clock.advance(3_600_000);
  assert.deepEqual([logIn('a', '192.0.2.1'), logIn('a', '192.0.2.1'), logIn('a', '2001:db8::3')], [3, 0, 2]);
});

test('refusals are recorded: of enrollments with their true reason, of machines in the chain of their frontdoor', async () => {
  const { jti } = await fixture.enrollment();
  const { csrPem } = await makeKeyRequest('x');
  const enroll = (token: string, body: string) =>
    rawRequest(fixture, { method: 'POST', path: `/enroll?method=ott&token=${token}`, body });
  assert.equal((await enroll(jti, 'nonsense')).status, 400);
  assert.equal((await enroll(jti, csrPem)).status, 200);
  assert.equal((await enroll(jti, csrPem)).status, 400);
  assert.equal((await enroll('unknown', csrPem)).status, 400);
  const logIn = { method: 'POST', path: '/edge/client/v1/authenticate?method=cert' };
  assert.equal((await rawRequest(fixture, logIn)).status, 401);
  const agent = await fixture.enroll('curious');
  const own = { cert: agent.identity.certPem, key: agent.identity.keyPem };
  assert.equal((await rawRequest(fixture, { path: '/gateway/v1/shares', ...own })).status, 403);
  // Not recorded, because no identity was refused.
  assert.equal((await rawRequest(fixture, { path: '/nowhere', ...own })).status, 404);

  const refusals = async (actorId: string | null, chain: string) =>
    (await eventsAbout(actorId, chain)).filter(({ result }) => result === 'refused');
  const strangers = await eventually(async () => {
    const found = await refusals(null, '');
    return found.length >= 4 ? found : undefined;
  });
  assert.deepEqual(
    strangers.map(({ actor_kind, action, reason }) => [actor_kind, action, reason]),
    [
      ['anonymous', 'enroll', 'COULD_NOT_PROCESS_CSR'],
      ['anonymous', 'enroll', 'ENROLLMENT_USED'],
      ['anonymous', 'enroll', 'ENROLLMENT_UNKNOWN'],
      ['anonymous', 'logIn', 'INVALID_AUTH'],
    ],
  );
  const [curious] = await eventually(async () => {
    const found = await refusals(agent.id, organizationId);
    return found.length > 0 ? found : undefined;
  });
  assert.deepEqual(
    [curious!.actor_kind, curious!.action, curious!.reason],
    ['environment', 'GET /gateway/v1/shares', 'FORBIDDEN'],
  );
  const all = JSON.stringify(await fixture.store.db.selectFrom('audit_event').selectAll().execute());
  assert.ok(!all.includes(jti));
  for (const chain of ['', organizationId]) {
    assert.equal((await verifyAudit(fixture.store.db, fixture.secrets, chain)).valid, true);
  }
});

test('a log-in with a certificate that has expired, or that was replaced, names whose it is and why', async () => {
  const agent = await fixture.enroll('late');
  const { certPem: cert, keyPem: key } = agent.identity;
  const logIn = () =>
    rawRequest(fixture, { method: 'POST', path: '/edge/client/v1/authenticate?method=cert', cert, key });
  const reasons = async (): Promise<string[]> =>
    (await eventsAbout(agent.id)).filter(({ result }) => result === 'refused').map(({ reason }) => reason!);
  const year = 366 * 86_400_000;
  fixture.clock.offsetMs += year;
  const expired = await logIn();
  fixture.clock.offsetMs -= year;
  assert.equal(expired.status, 401);
  assert.match(expired.text, /certificate has expired/);
  await fixture.store.transaction(async (trx, touch) => {
    await trx.deleteFrom('certificate').where('identity_id', '=', agent.id).execute();
    touch('identity', agent.id);
  });
  const replaced = await logIn();
  assert.equal(replaced.status, 401);
  assert.match(replaced.text, /certificate is no longer known/);
  const found = await eventually(async () => {
    const all = await reasons();
    return all.length === 2 ? all : undefined;
  });
  assert.deepEqual(found.toSorted(), ['certificate-has-expired', 'certificate-is-no-longer-known']);
  assert.ok(fixture.logged.some((line) => line.includes('log-in refused') && line.includes(agent.id)));
});
