import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Posture } from '#domain/posture';
import { ctrlMessages, DataState_Action } from '#wire/ctrl';
import {
  eventsOf,
  grantChanges,
  identityChange,
  policyChange,
  relationChange,
  serviceChange,
  type DataModelChange,
} from '../../../test/support/token-signer.ts';
import { DataModel } from './data-model.ts';
import { accessFault, type AccessType } from './service-access.ts';

const NO_POLICY = 'no policies provide access';
const NOW_MS = Date.UTC(2026, 0, 1);
const NO_POSTURE = { posture: undefined, nowMs: NOW_MS };
const LINUX: Posture = {
  os: { type: 'Linux', version: '6.8.0' },
  domain: undefined,
  macAddresses: undefined,
  processes: new Map(),
  passedMfaMs: undefined,
  wokenMs: undefined,
  unlockedMs: undefined,
};

/** A model with two identities and two services; one of each is in a policy to dial, and in one to host. */
function modelOf(...more: readonly DataModelChange[]): DataModel {
  const model = new DataModel();
  const events = eventsOf([
    identityChange('identity-1'),
    identityChange('identity-2'),
    serviceChange('service-1'),
    serviceChange('service-2'),
    ...grantChanges('dial', 'Dial', 'identity-1', 'service-1'),
    ...grantChanges('bind', 'Bind', 'identity-2', 'service-1'),
    ...more,
  ]);
  model.replace(ctrlMessages.dataState.decode(ctrlMessages.dataState.frame({ events, endIndex: 5n }).body));
  return model;
}

function change(model: DataModel, changes: readonly DataModelChange[], action?: DataState_Action): void {
  const set = { index: model.index + 1n, changes: eventsOf(changes, action) };
  model.change(ctrlMessages.dataStateChangeSet.decode(ctrlMessages.dataStateChangeSet.frame(set).body));
}

test('a policy grants its access to its identities and services only', () => {
  const model = modelOf();
  assert.equal(accessFault(model, 'identity-1', 'service-1', 'Dial', NO_POSTURE), undefined);
  assert.equal(accessFault(model, 'identity-2', 'service-1', 'Bind', NO_POSTURE), undefined);
  assert.equal(accessFault(model, 'identity-1', 'service-1', 'Bind', NO_POSTURE), NO_POLICY);
  assert.equal(accessFault(model, 'identity-2', 'service-1', 'Dial', NO_POSTURE), NO_POLICY);
  assert.equal(accessFault(model, 'identity-1', 'service-2', 'Dial', NO_POSTURE), NO_POLICY);
  assert.equal(accessFault(model, 'nobody', 'service-1', 'Dial', NO_POSTURE), 'identity not found by id');
  assert.equal(accessFault(model, 'identity-1', 'nothing', 'Dial', NO_POSTURE), 'service not found by id');
});

test('access ends with the policy, with a relation of it, and with the identity or the service', () => {
  const endings: [readonly DataModelChange[], DataState_Action, string][] = [
    [[policyChange('dial', 'Dial')], DataState_Action.DELETE, NO_POLICY],
    [[relationChange('dial', 'identity', ['identity-1'], false)], DataState_Action.UPDATE, NO_POLICY],
    [[relationChange('dial', 'service', ['service-1'], false)], DataState_Action.UPDATE, NO_POLICY],
    [[identityChange('identity-1')], DataState_Action.DELETE, 'identity not found by id'],
    [[serviceChange('service-1')], DataState_Action.DELETE, 'service not found by id'],
  ];
  for (const [changes, action, fault] of endings) {
    const model = modelOf();
    change(model, changes, action);
    assert.equal(accessFault(model, 'identity-1', 'service-1', 'Dial', NO_POSTURE), fault);
  }
});

test('an identity that is created again after its end has none of its former policies', () => {
  const model = modelOf();
  change(model, [identityChange('identity-1')], DataState_Action.DELETE);
  change(model, [identityChange('identity-1')]);
  assert.equal(accessFault(model, 'identity-1', 'service-1', 'Dial', NO_POSTURE), NO_POLICY);
  assert.deepEqual([...model.policiesOf('identity', 'identity-1')], []);
});

test('a change of an identity keeps its policies, and another policy grants what an ended one granted', () => {
  const model = modelOf(...grantChanges('other', 'Dial', 'identity-1', 'service-1'));
  change(model, [identityChange('identity-1', true)], DataState_Action.UPDATE);
  change(model, [policyChange('dial', 'Dial')], DataState_Action.DELETE);
  assert.equal(accessFault(model, 'identity-1', 'service-1', 'Dial', NO_POSTURE), undefined);
});

test('a policy with posture checks grants its access to devices that pass all of them', () => {
  const model = modelOf();
  const dial = (posture: Posture | undefined): string | undefined => {
    const type: AccessType = 'Dial';
    return accessFault(model, 'identity-1', 'service-1', type, { posture, nowMs: NOW_MS });
  };
  change(model, [relationChange('dial', 'postureCheck', ['check-1'])]);
  assert.equal(
    dial(LINUX),
    '1 policies failed: policy dial [dial] failed: posture check check-1 is not in the data model',
  );
  const isLinux = {
    case: 'osList' as const,
    value: { osList: [{ osType: 'linux', osVersions: ['>=6.0.0'] }] },
  };
  change(model, [
    { case: 'postureCheck', value: { id: 'check-1', name: 'kernel', typeId: 'OS', subtype: isLinux } },
  ]);
  assert.equal(dial(LINUX), undefined);
  assert.equal(
    dial(undefined),
    '1 policies failed: policy dial [dial] failed: posture check kernel [check-1]: the device has reported no posture',
  );
  assert.match(
    dial({ ...LINUX, os: { type: 'Linux', version: '5.4.0' } })!,
    /the version of the operating system/,
  );
  const inDomain = { case: 'domains' as const, value: { domains: ['corp'] } };
  change(model, [
    { case: 'postureCheck', value: { id: 'check-2', name: 'domain', typeId: 'DOMAIN', subtype: inDomain } },
    relationChange('dial', 'postureCheck', ['check-2']),
  ]);
  assert.match(dial(LINUX)!, /the device has reported no domain/);
  assert.equal(dial({ ...LINUX, domain: 'corp' }), undefined);
  change(model, grantChanges('other', 'Dial', 'identity-1', 'service-1'));
  assert.equal(dial(undefined), undefined, 'another policy without checks grants it');
});

test('listeners are notified of each change until they leave', () => {
  const model = modelOf();
  let count = 0;
  const leave = model.onChanged(() => (count += 1));
  change(model, [serviceChange('service-3')]);
  model.replace(ctrlMessages.dataState.decode(ctrlMessages.dataState.encode(model.state())));
  leave();
  change(model, [serviceChange('service-4')]);
  assert.equal(count, 2);
});
