// Two control planes over one PostgreSQL, as processes: a change at one is in effect at the other and at the programs
// that are connected to the other. The configuration of router, gateway and agent names only the second one, B.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { JsonClient } from '#net/http';
import { until } from '../support/deadline.ts';
import { postgresSkip } from '../support/postgres.ts';
import { startPrivateService, type PrivateService } from '../support/private-service.ts';
import { startReplicated, type Replicated } from '../support/replicated.ts';
import { httpGet } from '../support/world.ts';

const EFFECT_MS = 10_000;
const BACK_MS = 30_000;

describe('two control planes over one database', { skip: postgresSkip }, () => {
  let service: PrivateService;
  let world: Replicated;
  let frontdoor: string;
  let environmentId: string;
  before(async () => {
    service = await startPrivateService();
    world = await startReplicated();
    frontdoor = `/frontdoor/${world.credentials.frontdoorId}`;
    environmentId = world.agent.ready.environmentId;
  });
  after(async () => {
    await world?.stop();
    await service.close();
  });

  const both = (): [Replicated['a'], Replicated['b']] => [world.a, world.b];
  const statusOf = async (host: string): Promise<number> =>
    (await httpGet(world.port, host, '/').catch(() => ({ status: 0 }))).status;
  const served = (name: string, status: number, withinMs = EFFECT_MS): Promise<unknown> =>
    until(
      `${name} answers ${status}`,
      () => statusOf(`${name}.share.localhost`),
      (got) => got === status,
      withinMs,
    );
  const share = (name: string) => ({
    environmentId,
    name,
    shareMode: 'public',
    backendMode: 'proxy',
    target: `http://127.0.0.1:${service.port}`,
  });
  const shareAt = async (at: Replicated['a'], token: string) =>
    (await world.call(at, 'GET', `${frontdoor}/shares/${token}`)).json as { status?: string };

  test('started at once on an empty database they are one installation: one organization, one authority, secrets shown once', async () => {
    // That one alone showed the secrets, the world made sure of.
    const { organizationId } = world.credentials;
    const bundles: string[] = [];
    for (const at of both()) {
      const { json } = await world.call(at, 'GET', '/organizations');
      assert.deepEqual(
        (json as { content: { id: string }[] }).content.map(({ id }) => id),
        [organizationId],
      );
      const edge = new JsonClient({ origin: at.ready.edgeApiUrl, ca: world.authorityPem });
      bundles.push((await edge.request({ method: 'GET', path: '/.well-known/est/cacerts' })).text);
      await edge.close();
    }
    assert.equal(bundles[0], bundles[1]);
  });

  test('what is created, changed, rotated, revoked or deleted at one holds at the other on the next call', async () => {
    const { organizationId } = world.credentials;
    const accounts = '/api-accounts';
    for (const [here, there] of [
      [world.a, world.b],
      [world.b, world.a],
    ] as const) {
      const seen = async (authorization: string): Promise<number> =>
        (await world.call(there, 'GET', frontdoor, { authorization })).status;
      for (let round = 0; round < 5; round += 1) {
        const made = await world.call(here, 'POST', accounts, {
          body: { name: `account ${round}`, organizationId },
        });
        assert.equal(made.status, 201, made.text);
        const { id, token } = made.json as { id: string; token: string };
        assert.equal(await seen(`Basic ${id}:${token}`), 200);
        const rotated = await world.call(here, 'POST', `${accounts}/${id}/rotate`);
        const { token: newer } = rotated.json as { token: string };
        assert.equal(await seen(`Basic ${id}:${token}`), 401);
        assert.equal(await seen(`Basic ${id}:${newer}`), 200);
        const overlap = { body: { overlapSeconds: 3_600 } };
        const kept = await world.call(here, 'POST', `${accounts}/${id}/rotate`, overlap);
        const { token: newest } = kept.json as { token: string };
        assert.equal(await seen(`Basic ${id}:${newer}`), 200);
        assert.equal(await seen(`Basic ${id}:${newest}`), 200);
        await world.call(here, 'DELETE', `${accounts}/${id}/previous-token`);
        assert.equal(await seen(`Basic ${id}:${newer}`), 401);
        await world.call(here, 'DELETE', `${accounts}/${id}`);
        assert.equal(await seen(`Basic ${id}:${newest}`), 401);

        const other = await world.call(here, 'POST', '/frontdoor', {
          body: { name: 'another', organizationId },
        });
        const { id: otherId } = other.json as { id: string };
        assert.equal((await world.call(there, 'GET', `/frontdoor/${otherId}`)).status, 200);
        await world.call(here, 'DELETE', `/frontdoor/${otherId}`);
        assert.equal((await world.call(there, 'GET', `/frontdoor/${otherId}`)).status, 403);
      }
    }
  });

  test('a bearer token of one is good at the other, and its caller is refused there as soon as it is revoked', async () => {
    const clients = '/oauth-clients';
    const { organizationId } = world.credentials;
    const made = await world.call(world.a, 'POST', clients, { body: { name: 'a client', organizationId } });
    const { id, secret } = made.json as { id: string; secret: string };
    const audience = `${world.a.ready.apiUrl}/frontdoor`;
    const answer = await world.call(world.a, 'POST', '/oauth/token', {
      authorization: null,
      body: { grant_type: 'client_credentials', client_id: id, client_secret: secret, audience },
    });
    assert.equal(answer.status, 200, answer.text);
    const authorization = `Bearer ${(answer.json as { access_token: string }).access_token}`;
    for (const at of both())
      assert.equal((await world.call(at, 'GET', frontdoor, { authorization })).status, 200);
    await world.call(world.a, 'DELETE', `${clients}/${id}`);
    for (const at of [...both()].reverse())
      assert.equal((await world.call(at, 'GET', frontdoor, { authorization })).status, 401);
  });

  test('a share made through A is hosted at the router and served by the gateway of B, and both give the same answers about it', async () => {
    const made = await world.call(world.a, 'POST', `${frontdoor}/shares`, { body: share('app') });
    assert.equal(made.status, 201, made.text);
    await served('app', 200);
    for (const at of both())
      await until(
        'DEPLOYED',
        () => shareAt(at, 'app'),
        ({ status }) => status === 'DEPLOYED',
        EFFECT_MS,
      );
    // The answers are equal, except for the addresses of each control plane itself.
    for (const path of ['/shares/app', '/environments', `/agents/${environmentId}/status`])
      await until(
        `both give the same answer to ${path}`,
        () => Promise.all(both().map(async (at) => (await world.call(at, 'GET', frontdoor + path)).json)),
        ([a, b]) => isDeepStrictEqual(a, b),
        EFFECT_MS,
      );
    await until(
      'ACTIVE at A',
      async () => (await world.call(world.a, 'GET', `${frontdoor}/environments/${environmentId}`)).json,
      (json) => (json as { status: string }).status === 'ACTIVE',
      EFFECT_MS,
    );
  });

  test('a failure that B measures is reported by A as well, and so is the recovery', async () => {
    await world.call(world.a, 'POST', `${frontdoor}/shares`, {
      body: { ...share('broken'), target: 'http://127.0.0.1:1' },
    });
    await until(
      'FAILED at A',
      () => shareAt(world.a, 'broken'),
      ({ status }) => status === 'FAILED',
    );
    const failure = (value: object) => (value as { failure?: { lastError: string } }).failure?.lastError;
    // The next try may fail in another way: of both at once.
    await until(
      'the same failure at both',
      async () => (await Promise.all(both().map((at) => shareAt(at, 'broken')))).map(failure),
      ([a, b]) => a !== undefined && a === b,
      EFFECT_MS,
    );
    await world.call(world.a, 'PATCH', `${frontdoor}/shares/broken`, {
      body: { target: `http://127.0.0.1:${service.port}` },
    });
    await until(
      'DEPLOYED at A',
      () => shareAt(world.a, 'broken'),
      ({ status }) => status === 'DEPLOYED',
    );
    await world.call(world.a, 'DELETE', `${frontdoor}/shares/broken`);
    await served('broken', 404);
  });

  test('a policy or custom frontend of A is in effect at the gateway of B, within five seconds of the answer', async () => {
    const answers = (host: string, status: number) =>
      until(
        `${host} answers ${status}`,
        () => statusOf(host),
        (got) => got === status,
      );
    const policy = `${frontdoor}/shares/app/policy`;
    await world.call(world.a, 'PUT', policy, { body: { ipDeny: ['127.0.0.0/8'] } });
    await answers('app.share.localhost', 403);
    const frontends = await world.call(world.a, 'GET', `${frontdoor}/frontends`);
    const body = { hostname: 'apps.example', frontendId: (frontends.json as { id: string }[])[0]!.id };
    const made = await world.call(world.a, 'POST', `${frontdoor}/custom-frontends`, { body });
    assert.equal(made.status, 201, made.text);
    const { id } = made.json as { id: string };
    assert.equal((await world.call(world.b, 'POST', `/hostname-claims/${id}/grant`)).status, 200);
    await answers('app.apps.example', 403);
    await world.call(world.a, 'PUT', policy, { body: {} });
    await answers('app.share.localhost', 200);
    await answers('app.apps.example', 200);
    assert.equal((await world.call(world.b, 'DELETE', `${frontdoor}/custom-frontends/${id}`)).status, 204);
    await answers('app.apps.example', 404);
    await answers('app.share.localhost', 200);
  });

  test('each continues alone when the other is killed, and is joined again when it is back', async () => {
    await world.a.kill();
    assert.equal((await world.call(world.b, 'GET', frontdoor)).status, 200);
    assert.equal(
      (await world.call(world.b, 'POST', `${frontdoor}/shares`, { body: share('alone') })).status,
      201,
    );
    await served('alone', 200);
    await world.a.start();
    await until(
      'DEPLOYED at A',
      () => shareAt(world.a, 'alone'),
      ({ status }) => status === 'DEPLOYED',
      BACK_MS,
    );

    await served('app', 200);
    await world.b.kill();
    assert.equal(await statusOf('app.share.localhost'), 200);
    assert.equal((await world.call(world.a, 'GET', frontdoor)).status, 200);
    assert.equal((await world.call(world.a, 'DELETE', `${frontdoor}/shares/alone`)).status, 204);
    // The router's file names B; A it has learned of, and continues with.
    await until(
      'DEPLOYED at A alone',
      () => shareAt(world.a, 'app'),
      ({ status }) => status === 'DEPLOYED',
      BACK_MS,
    );
    await world.b.start();
    for (const at of both())
      await until(
        'DEPLOYED',
        () => shareAt(at, 'app'),
        ({ status }) => status === 'DEPLOYED',
        BACK_MS,
      );
    await served('alone', 404);
    await served('app', 200);
  });

  test('an environment that is deleted at A loses its channel to the router of B, its shares and its place in the API', async () => {
    const deleted = await world.call(world.a, 'DELETE', `${frontdoor}/environments/${environmentId}`);
    assert.equal(deleted.status, 204);
    assert.equal(
      (await world.call(world.b, 'GET', `${frontdoor}/environments/${environmentId}`)).status,
      404,
    );
    await served('app', 404);
    await until(
      'the end of its channel',
      () => world.router.output,
      (text) => text.includes('API session ended'),
      EFFECT_MS,
    );
  });
});
