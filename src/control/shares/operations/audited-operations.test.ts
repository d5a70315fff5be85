import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { tmpdir } from 'node:os';
import { after, before, describe, it } from 'node:test';
import { sql } from 'kysely';
import { silentLog } from '#base';
import { operations } from '#contract';
import { verifyAudit } from '../../audit/mod.ts';
import { loadAuthorities } from '../../pki/authority-generations.ts';
import { insertSession } from '../logins/login-sessions.ts';
import { insertPerson, openConsoleSession, putPersonPassword } from '../../credentials/people/mod.ts';
import { failedDelivery } from '../notifications/delivery-fixture.ts';
import { putInspected } from '../records/request-record-store.ts';
import { putPersonTotp } from '../../credentials/people/person-totp-store.ts';
import { BASE_URL, openApiWorld, type ApiWorld } from './api-fixture.ts';
import { circuitView } from './fabric-view-fixture.ts';

/** A call that succeeds, and the organization whose audit trail records it; '' for the installation's. */
interface Change {
  readonly path: string;
  readonly body?: unknown;
  readonly chain: string;
}

describe('every operation that changes something', () => {
  let world: ApiWorld;
  before(async () => {
    world = await openApiWorld();
  });
  after(() => world.close());

  /** Makes what the operation needs; by its id, so that a new operation without an entry fails. */
  const changes: Readonly<Record<string, () => Change | Promise<Change>>> = {
    createFrontdoor: () => ({ path: '/frontdoor', body: { name: 'x', ...own() }, chain: mine() }),
    deleteFrontdoor: async () => ({
      path: `/frontdoor/${await made('/frontdoor', { name: 'x', ...own() })}`,
      chain: mine(),
    }),
    changeFrontdoor: async () => ({
      path: `/frontdoor/${await made('/frontdoor', { name: 'x', ...own() })}`,
      body: { name: 'y' },
      chain: mine(),
    }),
    changeEnvironment: async () => ({
      path: door(`/environments/${await environment()}`),
      body: { name: 'y' },
      chain: mine(),
    }),
    deleteEnvironment: async () => ({ path: door(`/environments/${await environment()}`), chain: mine() }),
    createEnrollment: () => ({ path: door('/agents/enrollments'), chain: mine() }),
    cancelEnrollment: async () => {
      await made(door('/agents/enrollments'), {});
      const { body } = await world.call('GET', door('/agents/enrollments?size=1'));
      const [{ id }] = (body as { content: [{ id: string }] }).content;
      return { path: door(`/agents/enrollments/${id}`), chain: mine() };
    },
    deleteAgent: async () => ({ path: door(`/agents/${await environment()}`), chain: mine() }),
    createShare: async () => ({ path: door('/shares'), body: await newShare(), chain: mine() }),
    changeShare: async () => ({
      path: door(`/shares/${await share()}`),
      body: { target: 'http://127.0.0.1:4000' },
      chain: mine(),
    }),
    deleteShare: async () => ({ path: door(`/shares/${await share()}`), chain: mine() }),
    setInspector: async () => ({
      path: door(`/shares/${await share()}/inspector`),
      body: { enabled: true },
      chain: mine(),
    }),
    setRequestLog: async () => ({ path: door('/request-log'), body: { enabled: true }, chain: mine() }),
    deleteInspectedRequests: async () => ({
      path: door(`/shares/${await share()}/inspector/requests`),
      chain: mine(),
    }),
    replayInspectedRequest: async () => {
      const token = await share();
      const id = await inspected(token);
      return { path: door(`/shares/${token}/inspector/requests/${id}/replay`), body: {}, chain: mine() };
    },
    replaceSharePolicy: async () => ({
      path: door(`/shares/${await share()}/policy`),
      body: { ipDeny: ['192.0.2.0/24'], basicAuth: [{ name: 'ann', password: 'very-secret-indeed' }] },
      chain: mine(),
    }),
    replaceShareUpstream: async () => ({
      path: door(`/shares/${await share()}/upstream`),
      body: { hostHeader: 'target' },
      chain: mine(),
    }),
    changeShareUpstream: async () => ({
      path: door(`/shares/${await share()}/upstream`),
      body: { hostHeader: 'localhost' },
      chain: mine(),
    }),
    resetShareUpstream: async () => ({ path: door(`/shares/${await share()}/upstream`), chain: mine() }),
    addShareDomain: async () => ({
      path: door(`/shares/${await share()}/domains`),
      body: { hostname: `${randomUUID()}.example.org` },
      chain: mine(),
    }),
    removeShareDomain: async () => {
      const path = door(`/shares/${await share()}/domains`);
      const hostname = `${randomUUID()}.example.org`;
      const { status, text } = await world.call('POST', path, { body: { hostname } });
      assert.equal(status, 201, text);
      return { path: `${path}/${hostname}`, chain: mine() };
    },
    createCustomFrontend: async () => ({
      path: door('/custom-frontends'),
      body: await newCustomFrontend(),
      chain: mine(),
    }),
    changeCustomFrontend: async () => ({
      path: door(`/custom-frontends/${await made(door('/custom-frontends'), await newCustomFrontend())}`),
      body: { authProviderIds: [] },
      chain: mine(),
    }),
    deleteCustomFrontend: async () => ({
      path: door(`/custom-frontends/${await made(door('/custom-frontends'), await newCustomFrontend())}`),
      chain: mine(),
    }),
    grantHostname: async () => {
      const id = await made(door('/custom-frontends'), await newCustomFrontend());
      return { path: `/hostname-claims/${id}/grant`, chain: mine() };
    },
    withdrawHostname: async () => {
      const id = await made(door('/custom-frontends'), await newCustomFrontend());
      await world.grant(id);
      return { path: `/hostname-claims/${id}/grant`, chain: mine() };
    },
    createPolicy: () => ({ path: door('/policies'), body: { name: randomUUID() }, chain: mine() }),
    replacePolicy: async () => ({ path: await policy(), body: { ipDeny: ['192.0.2.0/24'] }, chain: mine() }),
    deletePolicy: async () => ({ path: await policy(), chain: mine() }),
    createAuthProvider: () => ({ path: door('/auth-providers'), body: newProvider, chain: mine() }),
    changeAuthProvider: async () => ({ path: await provider(), body: { enabled: false }, chain: mine() }),
    replaceAuthProvider: async () => ({ path: await provider(), body: newProvider, chain: mine() }),
    deleteAuthProvider: async () => ({ path: await provider(), chain: mine() }),
    checkAuthProviderDraft: () => ({
      path: door('/auth-provider-check'),
      body: { type: 'GITHUB', data: { client_id: 'c', client_secret: 'very-secret-indeed' } },
      chain: mine(),
    }),
    endLoginSessions: async () => {
      const path = await provider();
      await session(path);
      return { path: `${path}/sessions?subject=ann`, chain: mine() };
    },
    endLoginSession: async () => {
      const path = await provider();
      return { path: `${path}/sessions/${await session(path)}`, chain: mine() };
    },
    releaseRestingName: async () => {
      const name = `resting-${randomUUID().slice(0, 8)}`;
      const { status } = await world.call('POST', door('/shares'), { body: { ...(await newShare()), name } });
      assert.equal(status, 201);
      assert.equal((await world.call('DELETE', door(`/shares/${name}`))).status, 204);
      const { body } = await world.call('GET', '/resting-names?size=1000');
      const rested = (body as { content: { name: string }[] }).content.find((each) =>
        each.name.includes(name),
      );
      return { path: `/resting-names/${rested!.name}`, chain: mine() };
    },
    createOrganization: () => ({ path: '/organizations', body: { name: 'x' }, chain: 'its own' }),
    changeOrganization: async () => {
      const id = await organization();
      return { path: `/organizations/${id}`, body: { name: 'y' }, chain: id };
    },
    deleteOrganization: async () => {
      const id = await organization();
      return { path: `/organizations/${id}`, chain: id };
    },
    changeOrganizationSettings: async () => {
      const id = await organization();
      return { path: `/organizations/${id}/settings`, body: { tokenExchange: true }, chain: id };
    },
    replaceSignInPage: async () => {
      const id = await organization();
      return { path: `/organizations/${id}/sign-in-page`, body: { title: 'y' }, chain: id };
    },
    ...callerChanges('ApiAccount', '/api-accounts'),
    ...callerChanges('OauthClient', '/oauth-clients'),
    changePerson: async () => ({
      path: `/people/${await person()}`,
      body: { role: 'editor' },
      chain: mine(),
    }),
    deletePerson: async () => ({ path: `/people/${await person()}`, chain: mine() }),
    removePersonSecondFactor: async () => {
      const id = await person();
      const enrolled = { secret: new Uint8Array(20), lastStep: 0, recoveryCodes: [], enrolledAtMs: 0 };
      const totp = { personId: id, enrolled, pending: undefined, failedAttempts: 0, lockedUntilMs: 0 };
      await world.store.transaction((trx) => putPersonTotp(trx, world.secrets, totp, 0));
      return { path: `/people/${id}/second-factor`, chain: mine() };
    },
    createPasswordLink: async () => {
      const id = await person();
      const password = { personId: id, email: `${id}@example.com`, passwordHash: 'x' };
      await world.store.transaction((trx) => putPersonPassword(trx, password, 0));
      return { path: `/people/${id}/password-link`, chain: mine() };
    },
    createInvitation: () => ({ path: '/invitations', body: { name: 'Ann', role: 'reader' }, chain: mine() }),
    deleteInvitation: async () => ({
      path: `/invitations/${await made('/invitations', { name: 'Ann', role: 'reader' })}`,
      chain: mine(),
    }),
    createNotificationDestination: () => ({
      path: '/notification-destinations',
      body: newDestination,
      chain: mine(),
    }),
    changeNotificationDestination: async () => ({
      path: await destination(),
      body: { enabled: false },
      chain: mine(),
    }),
    rotateNotificationSecret: async () => ({ path: `${await destination()}/rotate`, chain: mine() }),
    deleteNotificationDestination: async () => ({ path: await destination(), chain: mine() }),
    testNotificationDestination: async () => ({ path: `${await destination()}/test`, chain: mine() }),
    retryNotificationDelivery: async () => {
      const path = await destination();
      const id = await failedDelivery(world.store.db, path.split('/').at(-1)!);
      return { path: `${path}/deliveries/${id}/retry`, chain: mine() };
    },
    setEventExport: async () => ({ path: await eventExport(), body: newExport, chain: '' }),
    deleteEventExport: async () => ({ path: await eventExport(), chain: '' }),
    testEventExport: async () => ({ path: `${await eventExport()}/test`, chain: '' }),
    createConsoleLogIn: async () => ({
      path: '/console-log-ins',
      body: { authProviderId: (await provider()).split('/').at(-1) },
      chain: mine(),
    }),
    deleteConsoleLogIn: async () => {
      const body = { authProviderId: (await provider()).split('/').at(-1) };
      return { path: `/console-log-ins/${await made('/console-log-ins', body)}`, chain: mine() };
    },
    endConsoleSession: async () => {
      const owner = { kind: 'person', id: await person(), organizationId: mine() } as const;
      const client = { address: '127.0.0.1', browser: 'a browser' };
      const times = { nowMs: world.clock.nowMs(), idleMs: 1_000, lifetimeMs: 1_000 };
      const password = { personId: owner.id, email: `${owner.id}@example.com`, passwordHash: 'a hash' };
      const { id } = await world.store.transaction(async (trx) => {
        await putPersonPassword(trx, password, 1);
        return openConsoleSession(trx, world.secrets, owner, client, times);
      });
      return { path: `/console-sessions/${id}`, chain: mine() };
    },
    endOtherConsoleSessions: () => ({ path: '/console-sessions/end-others', chain: mine() }),
    rotateSigningKey: () => {
      // The newest one has to be in use.
      world.clock.advance(3_600_000);
      return { path: '/signing-keys', chain: '' };
    },
    rotateAuthority: async () => {
      await firstAuthorities();
      return { path: '/authorities/rotation', body: { kind: 'intermediate' }, chain: '' };
    },
    advanceAuthority: async () => {
      await firstAuthorities();
      // A rotation of another test may not be done.
      await world.call('POST', '/authorities/rotation', { body: { kind: 'intermediate' } });
      return { path: '/authorities/rotation/next-step', chain: '' };
    },
    rotateSealingKey: () => ({ path: '/sealing-key/rotation', chain: '' }),
    createRouter: () => ({ path: '/fabric/routers', body: { name: 'x' }, chain: '' }),
    changeRouter: async () => ({
      path: `/fabric/routers/${await made('/fabric/routers', { name: `changed-${randomUUID()}` })}`,
      body: { roleAttributes: ['site'] },
      chain: '',
    }),
    deleteRouter: async () => ({
      path: `/fabric/routers/${await made('/fabric/routers', { name: 'x' })}`,
      chain: '',
    }),
    createGateway: () => ({ path: '/fabric/gateways', body: { name: 'x' }, chain: '' }),
    deleteGateway: async () => ({
      path: `/fabric/gateways/${await made('/fabric/gateways', { name: 'x' })}`,
      chain: '',
    }),
    endCircuit: () => {
      world.fabric.circuitList.push(circuitView('c1'));
      return { path: '/fabric/circuits/c1', chain: '' };
    },
    createFabricService: () => ({ path: '/fabric/services', body: newService(), chain: '' }),
    changeFabricService: async () => ({
      path: `/fabric/services/${await made('/fabric/services', newService())}`,
      body: { terminatorStrategy: 'random' },
      chain: '',
    }),
    deleteFabricService: async () => ({
      path: `/fabric/services/${await made('/fabric/services', newService())}`,
      chain: '',
    }),
    createTerminator: async () => ({ path: '/fabric/terminators', body: await newTerminator(), chain: '' }),
    changeTerminator: async () => ({
      path: `/fabric/terminators/${await made('/fabric/terminators', await newTerminator())}`,
      body: { cost: 5 },
      chain: '',
    }),
    deleteTerminator: async () => ({
      path: `/fabric/terminators/${await made('/fabric/terminators', await newTerminator())}`,
      chain: '',
    }),
    inspectRouters: () => ({ path: '/fabric/inspect', body: { names: ['links'] }, chain: '' }),
    issueToken: () => ({
      path: '/oauth/token',
      body: {
        grant_type: 'client_credentials',
        client_id: world.first.clientId,
        client_secret: world.first.clientSecret,
        audience: `${BASE_URL}/frontdoor`,
      },
      chain: mine(),
    }),
  };

  const firstAuthorities = async (): Promise<void> => {
    await world.store.db.deleteFrom('authority').execute();
    const shelf = {
      db: world.store.db,
      secrets: world.secrets,
      folder: tmpdir(),
      nowMs: world.clock.nowMs(),
    };
    await loadAuthorities(shelf, 'test.frontdoor', silentLog);
  };
  const mine = (): string => world.first.organizationId;
  const own = () => ({ organizationId: mine() });
  const door = (path: string): string => `/frontdoor/${world.first.frontdoorId}${path}`;
  const made = async (path: string, body: unknown): Promise<string> => {
    const answer = await world.call('POST', path, { body });
    assert.equal(answer.status, 201, answer.text);
    return (answer.body as { id: string }).id;
  };
  const newService = () => ({ name: `service ${randomUUID()}` });
  const newTerminator = async () => ({
    serviceId: await made('/fabric/services', newService()),
    routerId: await made('/fabric/routers', { name: 'x' }),
    address: 'tcp:127.0.0.1:5432',
  });
  const environment = () => world.addEnvironment('env');
  const organization = () => made('/organizations', { name: 'x' });
  const newProvider = {
    name: 'idp',
    type: 'OIDC',
    data: { issuer: 'https://idp.example.com', client_id: 'c', client_secret: 'very-secret-indeed' },
  };
  const provider = async () => door(`/auth-providers/${await made(door('/auth-providers'), newProvider)}`);
  const policy = async () => door(`/policies/${await made(door('/policies'), { name: randomUUID() })}`);
  const newDestination = { name: 'pager', url: 'https://hooks.example.com/a' };
  const destination = async () =>
    `/notification-destinations/${await made('/notification-destinations', newDestination)}`;
  const newExport = { url: 'https://collector.example.com/a', secret: 'very-secret-indeed' };
  const eventExport = async () => {
    await world.call('PUT', '/event-export', { body: newExport });
    return '/event-export';
  };
  const newCustomFrontend = async () => {
    const { body } = await world.call('GET', door('/frontends'));
    return { hostname: `${randomUUID()}.example.com`, frontendId: (body as { id: string }[])[0]!.id };
  };
  const newShare = async () => ({
    environmentId: await environment(),
    shareMode: 'public',
    backendMode: 'proxy',
    target: 'http://127.0.0.1:3000',
  });
  const share = async () => {
    const answer = await world.call('POST', door('/shares'), { body: await newShare() });
    return (answer.body as { token: string }).token;
  };

  const shareId = async (token: string): Promise<string> => {
    const query = world.store.db.selectFrom('share').select('id').where('token', '=', token);
    return (await query.executeTakeFirstOrThrow()).id;
  };
  const session = async (providerPath: string): Promise<string> => {
    const providerId = providerPath.split('/').at(-1)!;
    const sessionShare = await shareId(await share());
    const made = await world.store.transaction(async (trx, touch) =>
      insertSession(trx, touch, world.secrets, {
        shareId: sessionShare,
        host: 'app.share.localhost',
        providerId,
        providerVersion: 1,
        absoluteMs: 86_400_000,
        nowMs: world.clock.nowMs(),
        identity: {
          providerId,
          kind: 'session',
          subject: 'ann',
          email: null,
          name: null,
          groups: [],
          claims: {},
        },
      }),
    );
    return made.session.id;
  };

  const inspected = async (token: string): Promise<string> => {
    const message = { headers: [], body: '', bodyBytes: 0, isTruncated: false };
    const id = randomUUID();
    const record = {
      id,
      replayOf: null,
      at: world.clock.nowMs(),
      shareId: await shareId(token),
      frontdoorId: '',
      method: 'GET',
      host: 'a',
      target: '/',
      client: '',
      identity: null,
      decision: 'open',
      status: 200,
      failure: null,
      traceId: null,
      timings: { decidedMs: 0, circuitMs: 0, firstByteMs: 0, doneMs: 0 },
      request: message,
      answer: message,
    };
    await putInspected(world.store, { records: [record], frontdoorOf: () => world.first.frontdoorId });
    return id;
  };

  function callerChanges(kind: string, path: string): Readonly<Record<string, () => Promise<Change>>> {
    const inAnother = async () => {
      const organizationId = await organization();
      const body = { name: 'x', organizationId };
      return { organizationId, body };
    };
    const ofAnother = (suffix: string) => async () => {
      const { organizationId, body } = await inAnother();
      return { path: `${path}/${await made(path, body)}${suffix}`, chain: organizationId };
    };
    return {
      [`create${kind}`]: async () => {
        const { organizationId, body } = await inAnother();
        return { path, body, chain: organizationId };
      },
      [`change${kind}`]: async () => ({ ...(await ofAnother('')()), body: { name: 'y' } }),
      [`rotate${kind}`]: ofAnother('/rotate'),
      [`endPrevious${kind === 'ApiAccount' ? 'Token' : 'Secret'}`]: async () => {
        const { organizationId, body } = await inAnother();
        const one = `${path}/${await made(path, body)}`;
        const { status } = await world.call('POST', `${one}/rotate`, { body: { overlapSeconds: 86_400 } });
        assert.equal(status, 200);
        return {
          path: `${one}/previous-${kind === 'ApiAccount' ? 'token' : 'secret'}`,
          chain: organizationId,
        };
      },
      [`delete${kind}`]: ofAnother(''),
    };
  }

  async function person(): Promise<string> {
    const wanted = { organizationId: mine(), name: 'Ann', email: null, role: 'reader' } as const;
    const { id } = await world.store.transaction((trx) =>
      insertPerson(trx, { ...wanted, nowMs: world.clock.nowMs() }),
    );
    return id;
  }

  // Other operations with the scope for reading change nothing, whatever their method.
  const changing = operations.filter(
    ({ id, method, scope }) =>
      method !== 'GET' && (scope !== 'frontdoor.read' || /^end(Other)?ConsoleSessions?$/.test(id)),
  );
  const calls = (path: string, method: string, body: unknown) =>
    world.call(method, path, {
      body,
      ...(path === '/oauth/token' ? { authorization: null } : {}),
    });
  const lastEvents = async () => {
    const rows = await world.store.db
      .selectFrom('audit_head')
      .select(['organization_id', 'sequence'])
      .execute();
    return new Map(rows.map((row) => [row.organization_id, row.sequence]));
  };

  it('is known here', () => {
    assert.deepEqual(Object.keys(changes).toSorted(), changing.map(({ id }) => id).toSorted());
  });

  for (const { id, method, answer } of changing) {
    it(`leaves one event, in the transaction of the change: ${id}`, async () => {
      const { path, body, chain } = await changes[id]!();
      const heads = await lastEvents();
      const given = await calls(path, method, body);
      assert.equal(given.status, answer.status, given.text);
      const added = await world.store.db.selectFrom('audit_event').selectAll().orderBy('at').execute();
      const news = added.filter((row) => row.sequence > (heads.get(row.organization_id) ?? 0));
      assert.equal(news.length, 1, JSON.stringify(news));
      const [event] = news;
      const expectedChain = chain === 'its own' ? (given.body as { id: string }).id : chain;
      assert.equal(event!.organization_id, expectedChain);
      assert.equal(event!.action, id);
      assert.equal(event!.result, 'ok');
      assert.equal(event!.address, '127.0.0.1');
      assert.equal(event!.at, world.clock.nowMs());
      assert.ok(event!.target_kind && event!.target_id);
      const actor = [event!.actor_kind, event!.actor_id];
      const isLogIn = id === 'issueToken';
      assert.deepEqual(
        actor,
        isLogIn ? ['client', world.first.clientId] : ['account', world.first.accountId],
      );
      if (method === 'DELETE') assert.ok(event!.before !== null && event!.after === null);
      if (method === 'POST' && !isLogIn) assert.ok(event!.after !== null);
      if (method === 'PATCH' || method === 'PUT') assert.ok(event!.before !== null && event!.after !== null);
      assert.ok(!`${event!.before}${event!.after}`.includes('very-secret-indeed'));
      assert.equal((await verifyAudit(world.store.db, world.secrets, expectedChain)).valid, true);
    });
  }

  it('changes nothing when its event cannot be written', async () => {
    const { db } = world.store;
    const tables = await sql<{ name: string }>`select name from sqlite_master where type = 'table'`.execute(
      db,
    );
    const everything = async () => {
      const rows = tables.rows.map(({ name }) => sql`select * from ${sql.table(name)}`.execute(db));
      // The use of the account itself is no part of the change.
      const withoutUse = (key: string, value: unknown) => (key === 'last_used_at' ? undefined : value);
      return JSON.stringify(
        (await Promise.all(rows)).map((result) => result.rows),
        withoutUse,
      );
    };
    for (const { id, method } of changing) {
      const { path, body } = await changes[id]!();
      const before = await everything();
      await sql`create trigger refuse before insert on audit_event begin select raise(abort, 'full'); end`.execute(
        db,
      );
      const given = await calls(path, method, body);
      assert.equal(given.status, 500, `${id}: ${given.text}`);
      assert.equal(await everything(), before, id);
      await sql`drop trigger refuse`.execute(db);
    }
  });
});
