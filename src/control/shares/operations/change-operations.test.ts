// Streams of changes: what they contain, how they are resumed, and when they end.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { FastifyInstance } from 'fastify';
import { postgresSkip } from '../../../../test/support/postgres.ts';
import { silentLog } from '#base';
import { attachModel, OverlayModel } from '../../overlay/model/mod.ts';
import { describeEachStore, newPostgresPlace } from '../../store/engine/each-store-suite.ts';
import { openStore } from '../../store/mod.ts';
import { openApiWorld, type ApiWorld } from './api-fixture.ts';
import { openStream, type StreamReader } from './event-stream-fixture.ts';
import { createManagementApi } from './management-api.ts';
import { openShareCatalog } from '../catalog/catalog-loader.ts';

const LISTEN = { host: '127.0.0.1', port: 0 };

interface ChangeEvent {
  readonly event: string;
  readonly data: string;
}

function eventsIn(text: string): ChangeEvent[] {
  return [...text.matchAll(/event: (\w+)\ndata: (.*)\n\n/g)].map(([, event, data]) => ({
    event: event!,
    data: data!,
  }));
}

const lastIdIn = (text: string): string => [...text.matchAll(/^id: (.*)$/gm)].at(-1)![1]!;

describeEachStore('the stream of changes', (open) => {
  let world: ApiWorld;
  let environmentId: string;
  before(async () => {
    world = await openApiWorld({ open });
    await world.app.listen(LISTEN);
    environmentId = await world.addEnvironment('laptop');
  });
  after(() => world.close());

  const follow = (
    headers: Readonly<Record<string, string>> = {},
    path = `/frontdoor/${world.first.frontdoorId}/changes`,
  ): Promise<StreamReader> => openStream(world.app, path, { authorization: world.authorization, ...headers });

  async function createShare(name: string): Promise<void> {
    const body = {
      name,
      environmentId,
      shareMode: 'public',
      backendMode: 'proxy',
      target: 'http://127.0.0.1:1',
    };
    const answer = await world.call('POST', `/frontdoor/${world.first.frontdoorId}/shares`, { body });
    assert.equal(answer.status, 201, answer.text);
  }

  it('names kind and id of what was created, changed, deleted or measured, and nothing else', async () => {
    const stream = await follow();
    assert.equal(stream.response.headers['content-type'], 'text/event-stream');
    await stream.until(/^id: /m);
    await createShare('one');
    await stream.until(/"one"/);
    await world.call('POST', '/fabric/routers', { body: { name: 'elsewhere' } });
    await world.call('DELETE', `/frontdoor/${world.first.frontdoorId}/shares/one`);
    world.measured('identity', environmentId);
    const text = await stream.until(new RegExp(environmentId));
    assert.deepEqual(eventsIn(text), [
      { event: 'change', data: '{"kind":"share","id":"one"}' },
      { event: 'change', data: '{"kind":"share","id":"one"}' },
      { event: 'change', data: `{"kind":"environment","id":"${environmentId}"}` },
    ]);
    stream.response.destroy();
  });

  it('resumes after the last event, and resets a reader whose position is not known', async () => {
    const stream = await follow();
    await stream.until(/^id: /m);
    await createShare('two');
    const id = lastIdIn(await stream.until(/"two"/));
    stream.response.destroy();
    await createShare('three');
    const resumed = await follow({ 'last-event-id': id });
    assert.deepEqual(eventsIn(await resumed.until(/"three"/)), [
      { event: 'change', data: '{"kind":"share","id":"three"}' },
    ]);
    resumed.response.destroy();

    const lost = await follow({ 'last-event-id': '0123456789ab-7' });
    await lost.until(/event: reset/);
    await createShare('four');
    assert.deepEqual(
      eventsIn(await lost.until(/"four"/)).map(({ event }) => event),
      ['reset', 'change'],
    );
    lost.response.destroy();
    assert.equal((await follow({ 'last-event-id': '7' })).response.statusCode, 400);
  });

  it('reports the frontdoors of the organization that are made, renamed and deleted, and no others', async () => {
    const stream = await follow();
    await stream.until(/^id: /m);
    const { organizationId } = world.first;
    const made = await world.call('POST', '/frontdoor', { body: { name: 'Other', organizationId } });
    const { id } = made.body as { id: string };
    const event = `{"kind":"frontdoor","id":"${id}"}`;
    await stream.until(new RegExp(event));
    await world.call('PATCH', `/frontdoor/${id}`, { body: { name: 'Another' } });
    await stream.until(new RegExp(`${event}[^]*${event}`));
    await world.call('DELETE', `/frontdoor/${id}`);
    const text = await stream.until(new RegExp(`${event}[^]*${event}[^]*${event}`));
    assert.deepEqual(new Set(eventsIn(text).map(({ data }) => data)), new Set([event]));
    stream.response.destroy();
  });

  it('of several frontdoors names the owner of each change, leaves out foreign ones, and lasts without frontdoors', async () => {
    const { organizationId, frontdoorId } = world.first;
    const made = await world.call('POST', '/frontdoor', { body: { name: 'Brief', organizationId } });
    const { id } = made.body as { id: string };
    const foreign = '0190a0c0-0000-7000-8000-000000000000';
    const several = await follow(
      {},
      `/changes?frontdoorIds=${frontdoorId},${id},${foreign},x&installation=true`,
    );
    const none = await follow({}, '/changes');
    await Promise.all([several.until(/^id: /m), none.until(/^id: /m)]);
    await createShare('seven');
    await world.call('POST', '/fabric/routers', { body: { name: 'seventh' } });
    await several.until(/"router"/);
    await world.call('DELETE', `/frontdoor/${id}`);
    const gone = `{"kind":"frontdoor","id":"${id}","ownerId":"${organizationId}"}`;
    const text = await several.until(new RegExp(gone));
    const changes = eventsIn(text).map(({ data }) => JSON.parse(data) as { kind: string; ownerId: string });
    assert.deepEqual(
      changes.map(({ kind, ownerId }) => [kind, ownerId]),
      [
        ['share', frontdoorId],
        ['router', null],
        ['frontdoor', organizationId],
      ],
    );
    await createShare('eight');
    const position = lastIdIn(await several.until(/"eight"/));
    await createShare('nine');
    const resumed = await follow({}, `/changes?frontdoorIds=${frontdoorId}&after=${position}`);
    await resumed.until(/"nine"/);
    assert.ok(!resumed.text.includes('eight'));
    assert.equal((await follow({}, '/changes?after=7')).response.statusCode, 400);
    assert.deepEqual(
      eventsIn(none.text).map(({ data }) => data),
      [gone],
    );
    for (const stream of [several, none, resumed]) stream.response.destroy();
    const { authorization } = await world.addAccount(organizationId, 'frontdoor.read');
    const refused = await follow({ authorization }, '/changes?installation=true');
    assert.equal(refused.response.statusCode, 403);
  });

  it('of the installation is for administrators, and has no resources of frontdoors', async () => {
    const { id, authorization } = await world.addAccount(world.first.organizationId, 'frontdoor.read');
    const refused = await follow({ authorization }, '/fabric/changes');
    assert.equal(refused.response.statusCode, 403, id);
    const stream = await follow({}, '/fabric/changes');
    await stream.until(/^id: /m);
    await createShare('five');
    await world.call('POST', '/organizations', { body: { name: 'Second' } });
    const text = await stream.until(/organization/);
    assert.ok(!text.includes('five'));
    stream.response.destroy();
  });

  it('ends when the account is revoked or the frontdoor is deleted, without what came after that', async () => {
    const { organizationId } = world.first;
    const body = { name: 'reader', organizationId, scopes: ['frontdoor.read'] };
    const made = (await world.call('POST', '/api-accounts', { body })).body as { id: string; token: string };
    const revoked = await follow({ authorization: `Basic ${made.id}:${made.token}` });
    await revoked.until(/^id: /m);
    await world.call('DELETE', `/api-accounts/${made.id}`);
    await createShare('six');
    await revoked.ended;
    assert.ok(!revoked.text.includes('six'));

    const gone = (await world.call('POST', '/frontdoor', { body: { name: 'Short', organizationId } })).body;
    const { id } = gone as { id: string };
    const deleted = await follow({}, `/frontdoor/${id}/changes`);
    await deleted.until(/^id: /m);
    await world.call('DELETE', `/frontdoor/${id}`);
    await deleted.ended;
  });

  it('ends when the scope of the account is taken away', async () => {
    const { id, authorization } = await world.addAccount(world.first.organizationId, 'frontdoor.read');
    const stream = await follow({ authorization });
    await stream.until(/^id: /m);
    await world.store.transaction(async (trx, touch) => {
      await trx.updateTable('api_account').set({ scopes: 'none' }).where('id', '=', id).execute();
      touch('caller', id);
    });
    await stream.ended;
  });

  it('is refused beyond fifty of one caller', async () => {
    const { authorization } = await world.addAccount(world.first.organizationId, 'frontdoor.read');
    const streams = await Promise.all(Array.from({ length: 50 }, () => follow({ authorization })));
    assert.deepEqual(new Set(streams.map(({ response }) => response.statusCode)), new Set([200]));
    assert.equal((await follow({ authorization })).response.statusCode, 429);
    assert.equal((await follow()).response.statusCode, 200);
    for (const { response } of streams) response.destroy();
  });
});

describe('the stream of changes at two control planes', { skip: postgresSkip }, () => {
  const closers: (() => Promise<unknown> | void)[] = [];
  after(async () => {
    for (const close of closers.reverse()) await close();
  });

  it('has the changes that are made at the other', async () => {
    const place = await newPostgresPlace();
    const world = await openApiWorld({ open: (options) => openStore({ ...place, ...options }) });
    closers.push(() => world.close());
    const store = await openStore({ ...place, log: silentLog });
    closers.push(() => store.close());
    const model = new OverlayModel();
    const attached = await attachModel(store, model);
    closers.push(() => attached.close());
    const { catalog, close } = await openShareCatalog(store, model);
    closers.push(close);
    const other: FastifyInstance = await createManagementApi({ ...world.options, store, model, catalog });
    closers.push(() => other.close());
    await other.listen(LISTEN);

    const stream = await openStream(other, `/frontdoor/${world.first.frontdoorId}/changes`, {
      authorization: world.authorization,
    });
    await stream.until(/^id: /m);
    const body = {
      name: 'keys',
      type: 'API_KEY',
      data: { placement: 'header', name: 'X-Key', keys: [{ name: 'a' }] },
    };
    const made = await world.call('POST', `/frontdoor/${world.first.frontdoorId}/auth-providers`, { body });
    assert.equal(made.status, 201, made.text);
    const { id } = made.body as { id: string };
    assert.deepEqual(eventsIn(await stream.until(/auth-provider/)), [
      { event: 'change', data: `{"kind":"auth-provider","id":"${id}"}` },
    ]);
    stream.response.destroy();
  });
});
