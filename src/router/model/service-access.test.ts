import assert from 'node:assert/strict';
import { test } from 'node:test';
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
import { accessFault } from './service-access.ts';

const NO_POLICY = 'no policies provide access';

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
  assert.equal(accessFault(model, 'identity-1', 'service-1', 'Dial'), undefined);
  assert.equal(accessFault(model, 'identity-2', 'service-1', 'Bind'), undefined);
  assert.equal(accessFault(model, 'identity-1', 'service-1', 'Bind'), NO_POLICY);
  assert.equal(accessFault(model, 'identity-2', 'service-1', 'Dial'), NO_POLICY);
  assert.equal(accessFault(model, 'identity-1', 'service-2', 'Dial'), NO_POLICY);
  assert.equal(accessFault(model, 'nobody', 'service-1', 'Dial'), 'identity not found by id');
  assert.equal(accessFault(model, 'identity-1', 'nothing', 'Dial'), 'service not found by id');
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
    assert.equal(accessFault(model, 'identity-1', 'service-1', 'Dial'), fault);
  }
});

test('an identity that is created again after its end has none of its former policies', () => {
  const model = modelOf();
  change(model, [identityChange('identity-1')], DataState_Action.DELETE);
  change(model, [identityChange('identity-1')]);
  assert.equal(accessFault(model, 'identity-1', 'service-1', 'Dial'), NO_POLICY);
  assert.deepEqual([...model.policiesOf('identity', 'identity-1')], []);
});

test('a change of an identity keeps its policies, and another policy grants what an ended one granted', () => {
  const model = modelOf(...grantChanges('other', 'Dial', 'identity-1', 'service-1'));
  change(model, [identityChange('identity-1', true)], DataState_Action.UPDATE);
  change(model, [policyChange('dial', 'Dial')], DataState_Action.DELETE);
  assert.equal(accessFault(model, 'identity-1', 'service-1', 'Dial'), undefined);
});

test('a policy with posture checks grants nothing, because no posture data is evaluated', () => {
  const model = modelOf();
  change(model, [relationChange('dial', 'postureCheck', ['check-1'])]);
  const fault = accessFault(model, 'identity-1', 'service-1', 'Dial');
  assert.equal(
    fault,
    '1 policies failed: policy dial [dial] failed: this router evaluates no posture checks',
  );
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
