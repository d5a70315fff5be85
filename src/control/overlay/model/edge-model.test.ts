import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { EdgeEntityKind, EdgeEntityRecord } from './edge-entity.ts';
import { OverlayModel } from './overlay-model.ts';

function record(kind: EdgeEntityKind, id: string, data: Record<string, unknown> = {}): EdgeEntityRecord {
  return { id, kind, name: id, data, tags: {}, createdAtMs: 1, updatedAtMs: 1 };
}

function modelOf(...records: readonly EdgeEntityRecord[]): OverlayModel {
  const model = new OverlayModel();
  for (const each of records) model.setEdgeEntity(each);
  return model;
}

const PEOPLE = [
  record('identity', 'ann', { roleAttributes: ['sales', 'north'] }),
  record('identity', 'bob', { roleAttributes: ['sales'] }),
  record('service', 'web', { roleAttributes: ['public', 'http'] }),
  record('service', 'ssh', { roleAttributes: ['http'] }),
];

function policy(id: string, data: Record<string, unknown>): EdgeEntityRecord {
  return record('service-policy', id, { type: 'Dial', semantic: 'AnyOf', ...data });
}

function dials(...policies: readonly EdgeEntityRecord[]): string[] {
  const model = modelOf(...PEOPLE, ...policies);
  const pairs = ['ann', 'bob'].flatMap((id) =>
    ['web', 'ssh'].filter((service) => model.edge.permits('Dial', id, service)).map((s) => `${id} ${s}`),
  );
  const listed = ['ann', 'bob'].flatMap((id) => model.edge.servicesOf(id).map((s) => `${id} ${s.id}`));
  assert.deepEqual(listed.sort(), pairs.toSorted(), 'lists and single answers agree');
  return pairs;
}

describe('policies of the edge management API', () => {
  it('select by id, by #all, and by all or any of several attributes', () => {
    assert.deepEqual(dials(), []);
    assert.deepEqual(dials(policy('p', { identityRoles: ['@ann'], serviceRoles: ['@web'] })), ['ann web']);
    assert.deepEqual(dials(policy('p', { identityRoles: ['#all'], serviceRoles: ['@ssh'] })), [
      'ann ssh',
      'bob ssh',
    ]);
    const both = { identityRoles: ['#sales', '#north'], serviceRoles: ['#public', '#http'] };
    assert.deepEqual(dials(policy('p', { ...both, semantic: 'AllOf' })), ['ann web']);
    assert.deepEqual(dials(policy('p', both)), ['ann web', 'ann ssh', 'bob web', 'bob ssh']);
    const withId = { identityRoles: ['@bob', '#north', '#none'], serviceRoles: ['@web'] };
    assert.deepEqual(dials(policy('p', { ...withId, semantic: 'AllOf' })), ['bob web']);
    assert.deepEqual(dials(policy('p', { identityRoles: [], serviceRoles: ['#all'] })), []);
  });

  it('permit what their type says, until they change or go', () => {
    const model = modelOf(...PEOPLE, policy('p', { identityRoles: ['@ann'], serviceRoles: ['@web'] }));
    assert.equal(model.edge.permits('Bind', 'ann', 'web'), false);
    model.setEdgeEntity(policy('p', { type: 'Bind', identityRoles: ['@ann'], serviceRoles: ['@web'] }));
    assert.equal(model.edge.permits('Bind', 'ann', 'web'), true);
    assert.equal(model.edge.permits('Dial', 'ann', 'web'), false);
    model.removeEdgeEntity('p');
    assert.equal(model.edge.permits('Bind', 'ann', 'web'), false);
  });

  it('permit a router where a policy selects it for the identity, and one for the service', () => {
    const everyRouter = { edgeRouterRoles: ['#all'], semantic: 'AnyOf' };
    const model = modelOf(
      ...PEOPLE,
      record('edge-router-policy', 'e', { ...everyRouter, identityRoles: ['#north'] }),
    );
    const web = model.service('web')!;
    assert.equal(model.mayUseRouter('ann', web, 'r'), false, 'the service has no router');
    model.setEdgeEntity(
      record('service-edge-router-policy', 's', { ...everyRouter, serviceRoles: ['@web'] }),
    );
    assert.equal(model.mayUseRouter('ann', web, 'r'), true);
    assert.equal(model.mayUseRouter('bob', web, 'r'), false);
    assert.equal(model.mayUseRouter('ann', model.service('ssh')!, 'r'), false);
    model.setEdgeEntity(
      record('edge-router-policy', 'e', { identityRoles: ['#all'], edgeRouterRoles: ['#fast'] }),
    );
    assert.equal(model.mayUseRouter('ann', web, 'r'), false);
    model.setEdgeEntity(record('edge-router', 'r', { roleAttributes: ['fast'] }));
    assert.equal(model.mayUseRouter('bob', web, 'r'), true);
  });

  it('concern neither environments nor shares', () => {
    const model = modelOf(policy('p', { identityRoles: ['#all'], serviceRoles: ['#all'] }));
    const identity = {
      id: 'env',
      kind: 'environment',
      name: 'env',
      ownerId: 'f',
      fingerprints: [],
    } as const;
    model.setIdentity(identity);
    assert.deepEqual(model.servicesOf('env'), []);
  });
});
