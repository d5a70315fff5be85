import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, mock, test, type TestContext } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { gunzipSync, gzipSync } from 'node:zlib';
import { silentLog, textOf, utf8, type Log } from '#base';
import { ctrlMessages, DataState_Action, DataState_RelatedEntityType, type CtrlInit } from '#wire/ctrl';
import { until } from '../../../test/support/deadline.ts';
import { frameOfHex, loadRecordedFrames } from '../../../test/support/recorded-frames.ts';
import { differencesOf } from './data-model-diff.ts';
import { DataModelFile, MAX_SLICE_WEIGHT } from './data-model-file.ts';
import { DataModel, weightOf } from './data-model.ts';

const SAVE_INTERVAL_MS = 30_000;

const recorded = loadRecordedFrames().find(({ name, frame }) => name === 'DataState' && frame !== undefined)!;
const recordedBody = frameOfHex(recorded.frame!).body;

let folder: string;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'frontdoor-model-'));
});
after(() => rm(folder, { recursive: true }));

function recordedModel(): DataModel {
  const model = new DataModel();
  model.replace(ctrlMessages.dataState.decode(recordedBody));
  return model;
}

/** A log that records the texts of errors. */
function keepingLog(): { log: Log; errors: string[] } {
  const errors: string[] = [];
  return { log: { ...silentLog, error: (_fields, text) => void errors.push(text) }, errors };
}

async function openFile(
  t: TestContext,
  path: string,
  model: DataModel,
  log = silentLog,
): Promise<DataModelFile> {
  const file = await DataModelFile.open({ path, saveIntervalMs: SAVE_INTERVAL_MS, model, log });
  t.after(() => file.close());
  return file;
}

test('a file that a router of OpenZiti wrote is loaded at start', async (t) => {
  const path = join(folder, 'theirs.proto.gzip');
  await writeFile(path, gzipSync(recordedBody));
  const model = new DataModel();
  await openFile(t, path, model);
  assert.equal(model.index, ctrlMessages.dataState.decode(recordedBody).endIndex);
  assert.deepEqual(differencesOf(model, recordedModel()), []);
});

test('the file is a gzipped DataState for its owner alone, and makes the same model', async (t) => {
  const path = join(folder, 'ours.proto.gzip');
  const model = recordedModel();
  const written = await openFile(t, path, model);
  // No file was found when it was opened, so the model is unchanged.
  await written.save();
  assert.equal((await stat(path)).mode & 0o777, 0o600);
  const state = ctrlMessages.dataState.decode(gunzipSync(await readFile(path)));
  const copy = new DataModel();
  copy.replace(state);
  assert.deepEqual(differencesOf(copy, model), []);
});

type Events = NonNullable<CtrlInit<'dataState'>['events']>;

test('a large model is written in several turns, and changes in the meantime leave the file usable', async (t) => {
  const path = join(folder, 'large.proto.gzip');
  const model = new DataModel();
  const identity = { case: 'identity', value: { id: 'i1', name: 'i1' } } as const;
  const policy = { case: 'servicePolicy', value: { id: 'p1', name: 'p1' } } as const;
  const ids = Array.from({ length: 5_000 }, (_, n) => `service-${n}`);
  const related = {
    policyId: 'p1',
    relatedEntityIds: ids,
    relatedEntityType: DataState_RelatedEntityType.RELATED_SERVICE,
    add: true,
  };
  const events: Events = [
    ...[identity, policy].map((entity) => ({ model: entity })),
    ...ids.map((id) => ({ model: { case: 'service' as const, value: { id, name: id } } })),
    { model: { case: 'servicePolicyChange' as const, value: related } },
  ];
  const set = (index: bigint, changes: Events = []) =>
    ctrlMessages.dataStateChangeSet.decode(ctrlMessages.dataStateChangeSet.encode({ index, changes }));
  model.change(set(5n, events));
  const file = await openFile(t, path, model);
  const encoded = mock.method(ctrlMessages.dataState, 'encode');
  t.after(() => encoded.mock.restore());
  const saved = file.save();
  let turns = 0;
  const removal = {
    action: DataState_Action.DELETE,
    model: { case: 'service' as const, value: { id: 'service-4999' } },
  };
  const missed = set(6n, [removal]);
  for (let isSaved = false; !isSaved; turns += 1) {
    isSaved = await Promise.race([saved.then(() => true), nextTurn(false)]);
    if (turns === 2) model.change(missed);
  }
  const weights = encoded.mock.calls.map(({ arguments: [{ events: some = [] }] }) =>
    some.reduce((sum, event) => sum + weightOf(event), 0),
  );
  assert.ok(weights.length > 50, `${weights.length} slices`);
  // One event may be heavier than a slice.
  assert.ok(Math.max(...weights) < MAX_SLICE_WEIGHT + 30, `a slice of ${Math.max(...weights)}`);
  assert.ok(turns >= weights.length - 1, `${turns} turns`);
  const copy = new DataModel();
  copy.replace(ctrlMessages.dataState.decode(gunzipSync(await readFile(path))));
  assert.equal(copy.index, 5n);
  // A controller sends what came after the index of the file.
  copy.change(missed);
  assert.deepEqual(differencesOf(copy, model), []);
});

test('it is written every dbSaveInterval, only when the index moved', async (t) => {
  mock.timers.enable({ apis: ['setInterval'] });
  t.after(() => mock.timers.reset());
  const path = join(folder, 'interval.proto.gzip');
  const model = recordedModel();
  const file = await openFile(t, path, model);
  const exists = (): Promise<boolean> =>
    stat(path).then(
      () => true,
      () => false,
    );
  mock.timers.tick(SAVE_INTERVAL_MS - 1);
  assert.equal(await exists(), false);
  mock.timers.tick(1);
  await until('the first file', exists, Boolean);
  // The file exists before the save has finished, because its folder is synced, too.
  await file.save();
  await rm(path);
  mock.timers.tick(SAVE_INTERVAL_MS);
  await file.save();
  assert.equal(await exists(), false);
  const next = ctrlMessages.dataStateChangeSet.decode(
    ctrlMessages.dataStateChangeSet.encode({ index: model.index + 1n, changes: [] }),
  );
  assert.equal(model.change(next), 'applied');
  // An interval that ends too soon after a long save writes nothing, so that more than one may have to pass.
  const existsAfterInterval = (): Promise<boolean> => {
    mock.timers.tick(SAVE_INTERVAL_MS);
    return exists();
  };
  await until('the second file', existsAfterInterval, Boolean);
});

test('what the router itself keeps is written at once, and remains when a controller sends a model', async (t) => {
  const path = join(folder, 'kept.proto.gzip');
  const model = recordedModel();
  const file = await openFile(t, path, model);
  await file.save();
  const before = await readFile(path);
  mock.timers.enable({ apis: ['setTimeout'] });
  t.after(() => mock.timers.reset());
  for (const key of ['s1.0', 's2.0']) model.keep('TerminatorIds', key, utf8(key));
  model.keep('TerminatorIds', 's2.0', undefined);
  mock.timers.tick(500);
  await until(
    'the next file',
    () => readFile(path),
    (bytes) => !bytes.equals(before),
  );
  const loaded = new DataModel();
  await openFile(t, path, loaded);
  loaded.replace(ctrlMessages.dataState.decode(recordedBody));
  assert.equal(textOf(loaded.kept('TerminatorIds', 's1.0')!), 's1.0');
  assert.equal(loaded.kept('TerminatorIds', 's2.0'), undefined);
});

test('a missing file is no error, a broken one is, and both begin with an empty model', async (t) => {
  const { log, errors } = keepingLog();
  const missing = new DataModel();
  await openFile(t, join(folder, 'missing.proto.gzip'), missing, log);
  assert.deepEqual([missing.index, errors.length], [0n, 0]);
  const broken = [
    Buffer.from('not gzip'),
    gzipSync(Buffer.from('not protobuf')),
    gzipSync(recordedBody).subarray(0, 200),
  ];
  for (const [at, content] of broken.entries()) {
    const path = join(folder, `broken-${at}.proto.gzip`);
    await writeFile(path, content);
    const model = new DataModel();
    await openFile(t, path, model, log);
    assert.deepEqual([model.index, errors.length], [0n, at + 1]);
    assert.deepEqual(await readFile(`${path}.unreadable`), content, 'it is set aside, not written over');
  }
});

test('a file that cannot be written is an error in the log and nothing else', async (t) => {
  const { log, errors } = keepingLog();
  const file = await openFile(t, join(folder, 'no', 'such', 'folder.proto.gzip'), recordedModel(), log);
  await file.save();
  assert.equal(errors.length, 1);
});
