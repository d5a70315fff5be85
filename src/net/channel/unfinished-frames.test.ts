// Frames that their peers do not finish: how long they may take, and what they may hold. The real listener is in
// channel-unfinished.test.ts.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { UnfinishedFrames, type CountedFrame } from './unfinished-frames.ts';

const KIB = 1_024;

class Peer {
  heldBytes = 0;
  bufferedBytes = 0;
  frames = 0;
  ended: string | undefined;
  readonly counted: CountedFrame;

  constructor(all: UnfinishedFrames, owner: string, maxOwnerBytes = Infinity) {
    this.counted = all.add({
      owner,
      decoder: this,
      maxOwnerBytes,
      giveUp: (reason) => void (this.ended = reason),
    });
  }

  receive(bytes: number): void {
    this.heldBytes += bytes;
    this.bufferedBytes += bytes;
    this.counted.count();
  }

  discard(): void {
    this.bufferedBytes = 0;
  }

  finish(): void {
    this.heldBytes = this.bufferedBytes = 0;
    this.frames += 1;
    this.counted.count();
  }
}

class World {
  nowMs = 1_000;
  readonly all = new UnfinishedFrames(
    { budgetBytes: 100 * KIB, graceMs: 10_000, leastBytesPerS: KIB, checkIntervalMs: 1_000 },
    () => this.nowMs,
  );

  /** Each second, and a check. */
  pass(seconds: number, each: () => void = () => {}): void {
    for (let second = 0; second < seconds; second += 1) {
      this.nowMs += 1_000;
      each();
      this.all.check();
    }
  }
}

describe('a frame that is not finished', () => {
  test('is given its time, and more by what came of it; then its channel is closed', () => {
    const world = new World();
    const peer = new Peer(world.all, 'a');
    peer.receive(5 * KIB);
    world.pass(15);
    assert.equal(peer.ended, undefined, 'ten seconds, and five for 5 KiB');
    world.pass(3);
    assert.equal(peer.ended, 'a frame was not complete in time');
    assert.equal(world.all.heldBytes, 0);
  });

  test('is kept as long as it comes at the least rate, however long that takes', () => {
    const world = new World();
    const peer = new Peer(world.all, 'a');
    world.pass(80, () => peer.receive(KIB));
    assert.equal(peer.ended, undefined);
  });

  test('is one frame, though others came whole before it: the time begins with each', () => {
    const world = new World();
    const peer = new Peer(world.all, 'a');
    world.pass(100, () => {
      peer.finish();
      peer.receive(10);
    });
    assert.equal(peer.ended, undefined);
  });

  test('is not held to the time in which this side does not read, nor to that in which it stood still', () => {
    const world = new World();
    const peer = new Peer(world.all, 'a');
    peer.receive(10);
    world.pass(5);
    peer.counted.setPaused(true);
    world.pass(100);
    peer.counted.setPaused(false);
    world.pass(4);
    assert.equal(peer.ended, undefined);
    world.nowMs += 3_600_000;
    world.all.check();
    assert.equal(peer.ended, undefined);
    world.pass(10);
    assert.notEqual(peer.ended, undefined);
  });
});

describe('memory of unfinished frames', () => {
  test('of one peer is capped: its own oldest frame goes, and nobody else’s', () => {
    const world = new World();
    const first = new Peer(world.all, 'a', 40 * KIB);
    const innocent = new Peer(world.all, 'b', 40 * KIB);
    innocent.receive(30 * KIB);
    first.receive(20 * KIB);
    world.pass(2);
    const second = new Peer(world.all, 'a', 40 * KIB);
    second.receive(21 * KIB);
    assert.equal(first.ended, 'the peer has too many bytes in unfinished frames');
    assert.deepEqual([second.ended, innocent.ended], [undefined, undefined]);
    assert.equal(world.all.heldBytes, 51 * KIB);
  });

  test('of all peers has a budget: the largest and oldest goes, not the one whose frame is on its way', () => {
    const world = new World();
    const stalled = Array.from({ length: 4 }, (_, i) => new Peer(world.all, `stalled ${i}`));
    for (const peer of stalled) peer.receive(20 * KIB);
    world.pass(5);
    const quick = new Peer(world.all, 'quick');
    quick.receive(30 * KIB);
    assert.equal(quick.ended, undefined);
    assert.equal(stalled.filter(({ ended }) => ended !== undefined).length, 1);
    assert.ok(world.all.heldBytes <= 100 * KIB);
  });

  test('is given back when a frame is whole and when its connection goes', () => {
    const world = new World();
    const [one, other] = [new Peer(world.all, 'a'), new Peer(world.all, 'a')];
    one.receive(KIB);
    other.receive(KIB);
    one.finish();
    assert.equal(world.all.heldBytes, KIB);
    other.counted.end();
    other.counted.end();
    assert.equal(world.all.heldBytes, 0);
    other.receive(KIB);
    assert.equal(world.all.heldBytes, 0, 'what comes later is for nobody');
  });
});
