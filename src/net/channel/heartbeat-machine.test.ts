import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { HeartbeatMachine, type HeartbeatOptions } from './heartbeat-machine.ts';

const CTRL: HeartbeatOptions = { sendIntervalMs: 10_000, closeAfterMs: 30_000, unresponsiveAfterMs: 5_000 };

/** Checks each second up to `untilMs` and says when it beat and when the peer counted as gone. */
function run(
  options: HeartbeatOptions,
  untilMs: number,
  more: { onBeat?: (machine: HeartbeatMachine, nowMs: number) => void; each?: typeof onTick } = {},
): { beatsMs: number[]; goneMs: number | undefined } {
  const machine = new HeartbeatMachine(options, 0);
  const beatsMs: number[] = [];
  const stepMs = machine.checkIntervalMs;
  for (let nowMs = stepMs; nowMs <= untilMs; nowMs += stepMs) {
    more.each?.(machine, nowMs);
    const { isBeatDue, silentMs } = machine.check(nowMs);
    if (silentMs !== undefined) return { beatsMs, goneMs: nowMs };
    if (!isBeatDue) continue;
    beatsMs.push(nowMs);
    machine.onSent(nowMs);
    more.onBeat?.(machine, nowMs);
  }
  return { beatsMs, goneMs: undefined };
}

function onTick(machine: HeartbeatMachine, nowMs: number): void {
  machine.onTraffic(nowMs);
}

describe('heartbeats', () => {
  test('are sent at each interval, as often as the check allows', () => {
    assert.deepEqual(
      run({ sendIntervalMs: 10_000, closeAfterMs: 0 }, 32_000).beatsMs,
      [1_000, 11_000, 21_000, 31_000],
    );
    const quick = run({ sendIntervalMs: 300, closeAfterMs: 0, checkIntervalMs: 100 }, 1_000);
    assert.deepEqual(quick.beatsMs, [100, 400, 700, 1_000]);
  });

  test('are not sent where the interval is 0', () => {
    assert.deepEqual(run({ sendIntervalMs: 0, closeAfterMs: 30_000 }, 20_000).beatsMs, []);
  });

  test('that nobody answers end the channel, after twice the time at the start', () => {
    assert.equal(run(CTRL, 120_000).goneMs, 61_000);
  });

  test('whose answers stop end the channel within the time and one check', () => {
    const { goneMs } = run(CTRL, 300_000, {
      onBeat: (machine, nowMs) => {
        if (nowMs <= 61_000) machine.onAnswer(3, nowMs + 3);
      },
    });
    assert.equal(goneMs, 92_000, 'answered last at 61,003 ms');
  });

  test('without answers end the channel though other frames come', () => {
    assert.equal(run(CTRL, 120_000, { each: onTick }).goneMs, 61_000);
  });

  test('need no answer from peers whose traffic counts', () => {
    const options = { ...CTRL, countsTraffic: true };
    assert.equal(run(options, 120_000, { each: onTick }).goneMs, undefined);
    assert.equal(run(options, 120_000).goneMs, 31_000);
  });

  test('of 0 for the close never end it', () => {
    assert.equal(run({ ...CTRL, closeAfterMs: 0 }, 600_000).goneMs, undefined);
  });

  test('that are late but answered do not end the channel', () => {
    const { goneMs } = run(CTRL, 300_000, {
      onBeat: (machine, nowMs) => machine.onAnswer(25_000, nowMs),
    });
    assert.equal(goneMs, undefined);
  });

  test('hold peers that never beat to nothing, where only those that do are held', () => {
    const options = { sendIntervalMs: 0, closeAfterMs: 8_000, onlyIfPeerBeats: true };
    assert.equal(run(options, 60_000).goneMs, undefined);
    const beating = run(options, 60_000, {
      each: (machine, nowMs) => {
        if (nowMs <= 20_000) machine.onPeerBeat();
        if (nowMs <= 20_000) machine.onTraffic(nowMs);
      },
    });
    assert.equal(beating.goneMs, 29_000);
  });

  test('are not blamed on the peer after a pause of our own', () => {
    const machine = new HeartbeatMachine({ ...CTRL, countsTraffic: true }, 0);
    machine.check(1_000);
    assert.equal(machine.check(90_000).silentMs, undefined);
    assert.equal(machine.check(91_000).silentMs, undefined);
  });

  test('distinguish a peer that answers late, or not yet, from one that answers in time', () => {
    const machine = new HeartbeatMachine(CTRL, 0);
    assert.ok(machine.isResponsive(1_000));
    machine.onSent(1_000);
    assert.ok(machine.isResponsive(6_000));
    assert.ok(!machine.isResponsive(6_001), 'no answer for more than 5 s');
    machine.onAnswer(5_500, 6_500);
    assert.ok(!machine.isResponsive(6_501), 'an answer after more than 5 s');
    machine.onSent(11_000);
    machine.onAnswer(20, 11_020);
    assert.ok(machine.isResponsive(15_000));
  });
});
