// Streams of many readers: who gets one when there are too many.
import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { recordingLog } from '../../../test/support/recording-log.ts';
import { EventFollowers } from './event-followers.ts';

const MAX_STREAMS = 6;
const STREAMS = 100;

describe('streams of events', () => {
  const followers = new EventFollowers({
    store: { onChange: () => {} },
    log: recordingLog(() => {}),
    subject: 'events',
    maxPerReader: 4,
    maxStreams: MAX_STREAMS,
  });
  after(() => followers.close());

  const follow = (organizationId: string, reader: string) =>
    followers.follow({
      topics: [],
      organizationId,
      reader,
      isAllowed: async () => true,
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

describe('an event of many streams', () => {
  it('is reported by a few of them in each turn of the event loop', async () => {
    const followers = new EventFollowers({
      store: { onChange: () => {} },
      log: recordingLog(() => {}),
      subject: 'events',
      maxPerReader: STREAMS,
    });
    let turn = 0;
    let isCounting = true;
    const count = (): void => {
      turn += 1;
      if (isCounting) setImmediate(count);
    };
    const readsOfTurn = new Map<number, number>();
    let position = 0;
    const texts: string[] = [];
    const { promise: allCame, resolve } = Promise.withResolvers<void>();
    for (let at = 0; at < STREAMS; at += 1) {
      let own = 0;
      const stream = followers.follow({
        topics: ['t'],
        organizationId: 'o',
        reader: 'r',
        isAllowed: async () => true,
        source: {
          begin: () => 'begin',
          next: () => {
            if (own === position) return { text: '', isAtEnd: true };
            own = position;
            readsOfTurn.set(turn, (readsOfTurn.get(turn) ?? 0) + 1);
            return { text: `event of ${at}`, isAtEnd: true };
          },
          heartbeat: () => '',
        },
      });
      stream!.setEncoding('utf8').on('data', (text: string) => {
        if (text.includes('event') && texts.push(text) === STREAMS) resolve();
      });
    }
    setImmediate(count);
    position = 1;
    followers.notify('t');
    await allCame;
    isCounting = false;
    followers.close();
    assert.ok(Math.max(...readsOfTurn.values()) <= 10, `${[...readsOfTurn.values()].join(', ')} in a turn`);
    assert.deepEqual(
      texts.map((text) => text.match(/\d+/)![0]),
      Array.from({ length: STREAMS }, (_, at) => String(at)),
      'in the order of their beginning',
    );
  });
});
