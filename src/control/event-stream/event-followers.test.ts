// Streams of many readers: who gets one when there are too many.
import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { recordingLog } from '../../../test/support/recording-log.ts';
import { EventFollowers } from './event-followers.ts';

const MAX_STREAMS = 6;

describe('streams of events', () => {
  const followers = new EventFollowers({
    store: { onChange: () => {} },
    log: recordingLog(() => {}),
    ...{ subject: 'events', maxPerReader: 4, maxStreams: MAX_STREAMS },
  });
  after(() => followers.close());

  const follow = (organizationId: string, reader: string) =>
    followers.follow({
      ...{ topics: [], organizationId, reader, isAllowed: async () => true },
      source: { begin: () => '', next: () => ({ text: '', isAtEnd: true }), heartbeat: () => '' },
    });

  it('that one organization has too many of make room for those of others, and only for these', () => {
    const own = Array.from({ length: 3 }, (_, at) => [follow('crowd', `a${at}`), follow('crowd', `b${at}`)]);
    const crowd = own.flat().map((stream) => stream!);
    assert.equal(crowd.length, MAX_STREAMS);
    assert.equal(follow('crowd', 'c'), undefined);
    assert.notEqual(follow('neighbor', 'n'), undefined);
    assert.deepEqual(
      crowd.map(({ destroyed }) => destroyed),
      [false, false, false, false, false, true],
      'the latest one ends',
    );
    assert.equal(follow('crowd', 'b2'), undefined);
    for (const reader of ['n', 'o']) assert.notEqual(follow('neighbor', reader), undefined);
    assert.equal(follow('neighbor', 'p'), undefined, 'both have the same number');
    assert.equal(followers.size, MAX_STREAMS);
  });
});
