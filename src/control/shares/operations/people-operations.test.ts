import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, it } from 'node:test';
import type { ConsoleSessionAnswer, InvitationAnswer, PersonAnswer } from '#contract/schemas';
import type { Role } from '#domain';
import {
  insertPerson,
  openConsoleSession,
  putPersonPassword,
  type PersonRecord,
  type SessionClient,
} from '../../credentials/people/mod.ts';
import { providerCredential } from '../../credentials/accounts/mod.ts';
import { putPersonTotp } from '../../credentials/people/person-totp-store.ts';
import { describeEachStore } from '../../store/engine/each-store-suite.ts';
import { BASE_URL, openApiWorld, type ApiWorld } from './api-fixture.ts';

const ADMINISTRATOR = 'frontdoor.read frontdoor.write frontdoor.organization';

interface Page<T> {
  readonly content: readonly T[];
  readonly totalElements: number;
}

describeEachStore('people', (open) => {
  let world: ApiWorld;
  let administrator: string;
  let reader: string;
  before(async () => {
    world = await openApiWorld({ open });
    const { organizationId } = world.first;
    administrator = (await world.addAccount(organizationId, ADMINISTRATOR)).authorization;
    reader = (await world.addAccount(organizationId, 'frontdoor.read')).authorization;
  });
  after(() => world.close());

  async function add(name: string, role: Role | null, organizationId = world.first.organizationId) {
    const wanted = { organizationId, name, email: `${name}@example.com`, role };
    return world.store.transaction((trx) => insertPerson(trx, { ...wanted, nowMs: world.clock.nowMs() }));
  }

  async function sessionOf(
    { id, organizationId }: PersonRecord,
    began: Partial<SessionClient> = {},
  ): Promise<string> {
    const owner = { kind: 'person', id, organizationId } as const;
    const client = { address: '192.0.2.7', browser: 'Chromium', ...began };
    const times = { nowMs: world.clock.nowMs(), idleMs: 3_600_000, lifetimeMs: 7_200_000 };
    const opened = await world.store.transaction(async (trx) => {
      const password = { personId: id, email: `${id}@example.com`, passwordHash: 'a hash' };
      await putPersonPassword(trx, password, 1);
      const enrolled = { secret: Buffer.from('secret'), lastStep: 0, recoveryCodes: [], enrolledAtMs: 1 };
      const factor = { personId: id, enrolled, pending: undefined, failedAttempts: 0, lockedUntilMs: 0 };
      if (began.secondFactor === true) await putPersonTotp(trx, world.secrets, factor, 1);
      return openConsoleSession(trx, world.secrets, owner, client, times);
    });
    return opened.id;
  }

  const call = (method: string, url: string, body?: unknown, authorization = administrator) =>
    world.call(method, url, { authorization, body });

  it('are listed by organization, also those who wait for a role, and found by name', async () => {
    await add('ann', 'editor');
    await add('bob', null);
    await add('eve', 'reader', world.other.organizationId);
    const listed = (await call('GET', '/people?sort=name')).body as Page<PersonAnswer>;
    const facts = listed.content.map(({ name, email, role, lastSeenAt }) => [name, email, role, lastSeenAt]);
    assert.deepEqual(facts, [
      ['ann', 'ann@example.com', 'editor', null],
      ['bob', 'bob@example.com', undefined, null],
    ]);
    const found = (await call('GET', '/people?name=BO')).body as Page<PersonAnswer>;
    assert.deepEqual([found.totalElements, found.content[0]?.name], [1, 'bob']);
  });

  it('get a role from administrators, who hand out no more than they have', async () => {
    const person = await add('carl', null);
    const path = `/people/${person.id}`;
    const changed = await call('PATCH', path, { role: 'administrator', name: 'Carl' });
    const { role, name } = changed.body as PersonAnswer;
    assert.deepEqual([changed.status, role, name], [200, 'administrator', 'Carl']);
    assert.equal((await call('PATCH', path, { role: 'operator' })).status, 403);
    const operator = await add('olga', 'operator');
    assert.equal((await call('PATCH', `/people/${operator.id}`, { role: 'reader' })).status, 403);
    assert.equal((await call('DELETE', `/people/${operator.id}`)).status, 403);
    assert.equal((await call('PATCH', path, { role: 'operator' }, world.authorization)).status, 200);
    const stale = { 'if-match': '"nothing"' };
    const refused = await world.call('DELETE', path, { authorization: world.authorization, headers: stale });
    assert.equal(refused.status, 412);
    assert.equal((await call('DELETE', path, undefined, world.authorization)).status, 204);
    assert.equal((await call('GET', path)).status, 404);
  });

  it('of another organization are not found', async () => {
    const stranger = await add('zoe', 'reader', world.other.organizationId);
    for (const id of [stranger.id, randomUUID(), 'x']) {
      for (const [method, body] of [['GET'], ['PATCH', { role: 'editor' }], ['DELETE']] as const) {
        const answer = await call(method, `/people/${id}`, body);
        const message = `Person ${id} not found`;
        assert.deepEqual([answer.status, answer.body], [404, { error: 'not_found', message }]);
      }
    }
    const url = `/people?organizationId=${world.other.organizationId}`;
    assert.equal((await call('GET', url)).status, 403);
    assert.equal((await call('GET', url, undefined, world.authorization)).status, 200);
  });

  it('are invited by a link that is shown once, and expires', async () => {
    const body = { name: 'Dan', email: 'Dan@Example.com', role: 'editor', lifetimeSeconds: 3_600 };
    const made = await call('POST', '/invitations', body);
    const { link, ...invitation } = made.body as InvitationAnswer & { link: string };
    assert.equal(made.status, 201);
    assert.match(link, new RegExp(`^${BASE_URL}/console/welcome#[\\w-]{43}$`));
    assert.equal(invitation.email, 'dan@example.com');
    assert.equal(Date.parse(invitation.expiresAt) - Date.parse(invitation.createdAt), 3_600_000);
    const listed = (await call('GET', '/invitations')).body as Page<InvitationAnswer>;
    assert.deepEqual(listed.content, [invitation]);
    const stored = JSON.stringify(await world.store.db.selectFrom('invitation').selectAll().execute());
    assert.ok(!stored.includes(link.split('#')[1]!));
    world.clock.advance(3_600_000);
    assert.equal(((await call('GET', '/invitations')).body as Page<unknown>).totalElements, 0);
    assert.equal((await call('DELETE', `/invitations/${invitation.id}`)).status, 404);
    for (const [status, wanted] of [
      [403, { name: 'x', role: 'operator' }],
      [403, { name: 'x', role: 'reader', organizationId: world.other.organizationId }],
      [400, { name: 'x', role: 'root' }],
      [400, { name: 'x', role: 'reader', email: 'no address' }],
      [400, { name: 'x', role: 'reader', lifetimeSeconds: 59 }],
    ] as const)
      assert.equal((await call('POST', '/invitations', wanted)).status, status, JSON.stringify(wanted));
  });

  it('who forgot their password get a link for a new one, from those who may give their role', async () => {
    const withPassword = async (name: string, role: Role) => {
      const person = await add(name, role);
      const password = { personId: person.id, email: `${name}@example.com`, passwordHash: 'x' };
      await world.store.transaction((trx) => putPersonPassword(trx, password, world.clock.nowMs()));
      return `/people/${person.id}/password-link`;
    };
    const path = await withPassword('ivy', 'administrator');
    const made = await call('POST', path);
    assert.equal(made.status, 200, made.text);
    const { link, expiresAt } = made.body as { link: string; expiresAt: string };
    assert.match(link, new RegExp(`^${BASE_URL}/console/new-password#[\\w-]{43}$`));
    assert.equal(Date.parse(expiresAt), world.clock.nowMs() + 3_600_000);
    assert.equal(made.headers['cache-control'], 'no-store');
    const stored = await world.store.db.selectFrom('person_password').selectAll().execute();
    assert.ok(!JSON.stringify(stored).includes(link.split('#')[1]!));
    const ofOperator = await withPassword('oda', 'operator');
    assert.equal((await call('POST', ofOperator)).status, 403);
    assert.equal((await call('POST', ofOperator, undefined, world.authorization)).status, 200);
    assert.equal((await call('POST', path, undefined, reader)).status, 403);
    const without = await add('pia', 'reader');
    assert.equal((await call('POST', `/people/${without.id}/password-link`)).status, 409);
    const stranger = await add('una', 'reader', world.other.organizationId);
    for (const id of [stranger.id, randomUUID(), 'x'])
      assert.equal((await call('POST', `/people/${id}/password-link`)).status, 404);
  });

  it('have sessions that administrators see and end, and readers only their own', async () => {
    const person = await add('fay', 'reader');
    const id = await sessionOf(person);
    const foreign = await sessionOf(await add('gil', 'reader', world.other.organizationId));
    const listed = (await call('GET', '/console-sessions')).body as Page<ConsoleSessionAnswer>;
    const [session] = listed.content;
    assert.deepEqual(
      [listed.totalElements, session?.id, session?.personId, session?.name, session?.browser],
      [1, id, person.id, 'fay', 'Chromium'],
    );
    assert.equal(
      ((await call('GET', '/console-sessions', undefined, reader)).body as Page<unknown>).totalElements,
      0,
    );
    assert.equal((await call('DELETE', `/console-sessions/${id}`, undefined, reader)).status, 404);
    assert.equal((await call('DELETE', `/console-sessions/${foreign}`)).status, 404);
    assert.equal((await call('DELETE', `/console-sessions/${id}`)).status, 204);
    assert.equal((await call('DELETE', `/console-sessions/${id}`)).status, 404);
    await sessionOf(person);
    assert.equal((await call('DELETE', `/people/${person.id}`)).status, 204);
    assert.equal(((await call('GET', '/console-sessions')).body as Page<unknown>).totalElements, 0);
  });

  it('have sessions that are found by how they began', async () => {
    const person = await add('hal', 'reader');
    const door = `/frontdoor/${world.first.frontdoorId}`;
    const provider = {
      name: 'idp',
      type: 'OIDC',
      data: { issuer: 'https://idp.example.com', client_id: 'c', client_secret: 'very-secret-indeed' },
    };
    const { body: made } = await world.call('POST', `${door}/auth-providers`, { body: provider });
    const authProviderId = (made as { id: string }).id;
    const logIn = await world.call('POST', '/console-log-ins', { body: { authProviderId } });
    const credential = providerCredential((logIn.body as { id: string }).id, 1);
    const ids = {
      password: await sessionOf(person),
      'second-factor': await sessionOf(person, { secondFactor: true }),
      provider: await sessionOf(person, { authProviderId, credential }),
    };
    const found = async (query: string) => {
      const { body } = await call('GET', `/console-sessions?${query}`);
      return (body as Page<ConsoleSessionAnswer>).content.map(({ id }) => id);
    };
    for (const [logIn, id] of Object.entries(ids)) assert.deepEqual(await found(`logIn=${logIn}`), [id]);
    assert.deepEqual(await found('logIn=token'), []);
    assert.deepEqual(await found(`authProviderId=${authProviderId.toUpperCase()}`), [ids.provider]);
    assert.equal((await call('GET', '/console-sessions?logIn=luck')).status, 400);
  });
});
