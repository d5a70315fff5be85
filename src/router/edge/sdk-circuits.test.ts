// The inspection `router-sdk-circuits`: what SDKs answer, and what those that answer otherwise cost.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { utf8 } from '#base';
import { contentType, decodeTextList, headerId, makeFrame, type Frame } from '#wire';
import { inspectSdkCircuits, type InspectedSdk } from './sdk-circuits.ts';

const MIB = 1024 * 1024;

function sdk(id: string, answer: (request: Frame) => unknown): InspectedSdk {
  const request = async (frame: Frame): Promise<Frame> => {
    const value = await answer(frame);
    const body = value instanceof Uint8Array ? value : JSON.stringify(value);
    return makeFrame(contentType.edgeInspectResponse, { body });
  };
  return { channel: { id, request }, session: { identityId: `of-${id}` } };
}

const described = (...ids: string[]) => ({
  success: true,
  values: {
    circuits: { circuits: Object.fromEntries(ids.map((id) => [id, { circuitId: id, connId: 7, extra: 1 }])) },
  },
});

test('each circuit stands under its identity and channel, as its SDK describes it', async () => {
  const asked: unknown[] = [];
  const answer = (request: Frame): object => {
    asked.push([
      request.contentType,
      decodeTextList(request.headers.bytes(headerId.edge.inspectRequestedValues)!),
    ]);
    return described('c1');
  };
  const { circuits, errors } = await inspectSdkCircuits([sdk('a', answer), sdk('b', () => described())]);
  assert.deepEqual(asked, [[contentType.edgeInspectRequest, ['circuits']]]);
  const row = { circuitId: 'c1', connId: 7, address: '', originator: '', isXgress: false, ctrlId: '' };
  assert.deepEqual(circuits, { 'of-a/a/c1': { identityId: 'of-a', channelConnId: 'a', ...row } });
  assert.deepEqual(errors, []);
});

test('an SDK that is silent, or answers with something else, costs an error, and others keep theirs', async () => {
  const silent = (): never => {
    throw new Error('no answer in time');
  };
  const { circuits, errors } = await inspectSdkCircuits([
    sdk('silent', silent),
    sdk('text', () => utf8('no JSON')),
    sdk('other', () => ({ values: { circuits: { circuits: { x: { circuitId: 5 } } } } })),
    sdk('good', () => described('c1')),
  ]);
  assert.deepEqual(Object.keys(circuits), ['of-good/good/c1']);
  assert.equal(errors.length, 3);
  assert.match(errors.join('\n'), /identity of-silent, channel silent: no answer in time/);
  assert.match(errors.join('\n'), /channel other: .*circuitId must be a text/);
});

test('many SDKs with long answers are held to 16 MiB together, and to a hundred errors', async () => {
  const long = { ...described('c1'), padding: 'x'.repeat(5 * MIB) };
  const { circuits, errors } = await inspectSdkCircuits(
    [1, 2, 3, 4, 5].map((at) => sdk(`l${at}`, () => long)),
  );
  assert.deepEqual([Object.keys(circuits).length, errors.length], [3, 2]);
  const broken = Array.from({ length: 300 }, (_, at) => sdk(`b${at}`, () => utf8('')));
  assert.equal((await inspectSdkCircuits(broken)).errors.length, 100);
});
