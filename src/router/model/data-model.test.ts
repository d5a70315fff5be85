import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  ctrlMessages,
  DataState_Action,
  DataState_PolicyType,
  DataState_RelatedEntityType,
} from '#wire/ctrl';
import { frameOfHex, loadRecordedFrames } from '../../../test/support/recorded-frames.ts';
import { countEntities, differencesOf } from './data-model-diff.ts';
import { DataModel, type ChangeSet, type DataState } from './data-model.ts';

type Model = DataState['events'][number]['model'];

const { RELATED_IDENTITY, RELATED_SERVICE } = DataState_RelatedEntityType;

/** Messages of a real controller to its first router, in order: the whole state, then change sets. */
const recorded = loadRecordedFrames()
  .filter(({ connection, from }) => connection === 'ctrl-01' && from === 'controller')
  .filter(({ name }) => name === 'DataState' || name === 'DataStateChangeSet')
  .map(({ name, frame }) => ({ name, body: frameOfHex(frame!).body }));
const recordedState = ctrlMessages.dataState.decode(recorded.find(({ name }) => name === 'DataState')!.body);
const recordedSets = recorded
  .filter(({ name }) => name === 'DataStateChangeSet')
  .map(({ body }) => ctrlMessages.dataStateChangeSet.decode(body));

function copyOf(model: DataModel): DataModel {
  const copy = new DataModel();
  copy.replace(ctrlMessages.dataState.decode(ctrlMessages.dataState.encode(model.state())));
  return copy;
}

function changeSet(index: bigint, models: readonly Model[], more: Partial<ChangeSet> = {}): ChangeSet {
  const { action = DataState_Action.CREATE } = more as { action?: DataState_Action };
  const changes = models.map((model) => ({ model, action }));
  const frame = ctrlMessages.dataStateChangeSet.frame({
    index,
    changes,
    previousIndex: more.previousIndex ?? 0n,
  });
  return ctrlMessages.dataStateChangeSet.decode(frame.body);
}

function deletion(index: bigint, model: Model): ChangeSet {
  return changeSet(index, [model], { action: DataState_Action.DELETE } as Partial<ChangeSet>);
}

const identity = (id: string): Model => ({ case: 'identity', value: { id, name: id } }) as Model;
const service = (id: string): Model => ({ case: 'service', value: { id, name: id } }) as Model;
const dialPolicy = (id: string): Model =>
  ({ case: 'servicePolicy', value: { id, name: id, policyType: DataState_PolicyType.DIAL_POLICY } }) as Model;
const relation = (
  policyId: string,
  relatedEntityType: DataState_RelatedEntityType,
  ids: string[],
  add = true,
): Model =>
  ({
    case: 'servicePolicyChange',
    value: { policyId, relatedEntityIds: ids, relatedEntityType, add },
  }) as Model;

function smallModel(): DataModel {
  const model = new DataModel();
  const set = changeSet(5n, [
    identity('i1'),
    identity('i2'),
    service('s1'),
    dialPolicy('p1'),
    relation('p1', RELATED_SERVICE, ['s1']),
    relation('p1', RELATED_IDENTITY, ['i1', 'i2']),
  ]);
  assert.equal(model.change(set), 'applied');
  return model;
}

test('the model of a real controller is held whole, and makes the same model again', () => {
  const model = new DataModel();
  assert.equal(model.replace(recordedState), false);
  assert.equal(model.index, recordedState.endIndex);
  const verdicts = recordedSets.map((set) => model.change(set));
  assert.deepEqual([...new Set(verdicts)], ['applied']);
  assert.equal(model.index, recordedSets.findLast((set) => !set.isSynthetic)!.index);
  const counts = countEntities(model);
  assert.ok(
    counts['services']! >= 2 && counts['service-policies']! >= 2 && counts['public-keys']! >= 1,
    JSON.stringify(counts),
  );
  const copy = copyOf(model);
  assert.deepEqual(differencesOf(copy, model), []);
  assert.deepEqual([copy.index, copy.timelineId], [model.index, model.timelineId]);
});

test('a change set that is not newer is ignored, a synthetic one counts whatever its index', () => {
  const model = smallModel();
  assert.equal(model.change(changeSet(5n, [identity('i3')])), 'stale');
  assert.equal(model.entities('identity').has('i3'), false);
  const synthetic = { ...changeSet(0n, [identity('i3')]), isSynthetic: true };
  assert.equal(model.change(synthetic), 'applied');
  assert.deepEqual([model.entities('identity').has('i3'), model.index], [true, 5n]);
  assert.equal(model.change(changeSet(9n, [])), 'applied');
  assert.equal(model.index, 9n);
});

test('a change set after one that is missing changes nothing', () => {
  const model = smallModel();
  assert.equal(model.change(changeSet(7n, [identity('i3')], { previousIndex: 6n })), 'gap');
  assert.deepEqual([model.index, model.entities('identity').has('i3')], [5n, false]);
  assert.equal(model.change(changeSet(7n, [identity('i3')], { previousIndex: 5n })), 'applied');
});

test('a deleted entity is removed from every policy, and an update keeps its policies', () => {
  const model = smallModel();
  model.change(
    changeSet(6n, [dialPolicy('p1'), identity('i1')], { action: DataState_Action.UPDATE } as object),
  );
  assert.deepEqual([...model.relationsOf('p1')!.identity], ['i1', 'i2']);
  model.change(deletion(7n, identity('i1')));
  model.change(deletion(8n, service('s1')));
  assert.deepEqual(
    [[...model.relationsOf('p1')!.identity], [...model.relationsOf('p1')!.service]],
    [['i2'], []],
  );
  model.change(changeSet(9n, [relation('p1', RELATED_IDENTITY, ['i2'], false)]));
  assert.equal(model.relationsOf('p1')!.identity.size, 0);
  model.change(deletion(10n, dialPolicy('p1')));
  assert.equal(model.relationsOf('p1'), undefined);
});

test('a state of a lower index replaces the model and logs that', () => {
  const model = smallModel();
  const state = { ...recordedState, endIndex: 3n, timelineId: 'restored' };
  assert.equal(model.replace(state), true);
  assert.deepEqual(
    [model.index, model.timelineId, model.entities('identity').has('i1')],
    [3n, 'restored', false],
  );
  assert.equal(model.replace({ ...state, endIndex: 4n }), false);
});

test('differences name what is missing, what is other and what should not be', () => {
  const right = smallModel();
  const model = copyOf(right);
  model.change(deletion(6n, identity('i1')));
  model.change(changeSet(7n, [service('s9')]));
  model.change(changeSet(8n, [{ case: 'service', value: { id: 's1', name: 'other' } } as Model]));
  const found = differencesOf(model, right).map(({ entityType, entityId, diffType }) => [
    entityType,
    entityId,
    diffType,
  ]);
  assert.deepEqual(found, [
    ['identities', 'i1', 'removed'],
    ['services', 's1', 'modified'],
    ['services', 's9', 'added'],
    ['service-policies', 'p1', 'modified'],
  ]);
});
