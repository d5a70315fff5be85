import assert from 'node:assert/strict';
import { test } from 'node:test';
import { contentType, makeFrame, type Frame } from '#wire';
import { RouteErrorCode } from '#wire/circuits';
import { HostDials } from './host-dials.ts';

const never = (): Promise<Frame> => new Promise(() => {});

test('dials that wait for a host end when it has another channel, with a code for the moment, and none begins', async () => {
  const dials = new HostDials();
  const answer = makeFrame(contentType.dialSuccess);
  assert.equal(await dials.answer(async () => answer), answer);
  await assert.rejects(
    dials.answer(() => Promise.reject(new Error('late'))),
    /late/,
  );
  const waiting = dials.answer(never);
  dials.replace();
  const isForTheMoment = { routeCode: RouteErrorCode.resourcesNotAvailable };
  await assert.rejects(waiting, isForTheMoment);
  await assert.rejects(
    dials.answer(() => assert.fail('it is not dialed')),
    isForTheMoment,
  );
});
