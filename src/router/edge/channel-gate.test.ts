// An SDK whose channel is full for a moment: payloads for it wait, and their sources are not read in the meantime.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLog } from '#base';
import type { Channel } from '#net/channel';
import {
  AcknowledgementFrame,
  PAYLOAD_FLAGS,
  PAYLOAD_TYPE,
  PayloadFrame,
  type DataFrame,
} from '#wire/xgress';
import { CircuitFaults } from '../forwarder/circuit-faults.ts';
import { Forwarder } from '../forwarder/forwarder.ts';
import { NO_METRICS } from '../metrics/metrics.ts';
import { MemoryControllers } from '../testing/memory-controller.ts';
import { SideMeters } from '../xgress/xgress-meters.ts';
import { openChannelGate } from './channel-gate.ts';
import { XgressCircuit } from './edge-circuit.ts';

const CIRCUIT = 'c1';

/** A circuit between a host and a dialer at one router. The test decides when the dialer's channel is full. */
function makeWorld() {
  const faults = new CircuitFaults({
    controllers: new MemoryControllers(),
    faultTxIntervalMs: 60_000,
    metrics: NO_METRICS,
    log: silentLog,
  });
  const forwarder = new Forwarder({ routerId: 'r', faults, closeCheckIntervalMs: 0, metrics: NO_METRICS });
  const sent: DataFrame[] = [];
  const dialerChannel = { isWritable: true, sendData: (frame: DataFrame) => sent.push(frame) > 0 };
  const world = { sent, dialerChannel, isHostRead: true };
  const source = {
    pauseReading: () => void (world.isHostRead = false),
    resumeReading: () => void (world.isHostRead = true),
  };
  const open = (address: string, channel: unknown, isTerminator: boolean) => {
    const gate = openChannelGate(channel as Channel, forwarder.holds);
    const circuit = new XgressCircuit({
      channel: channel as Channel,
      forwarder,
      circuitId: CIRCUIT,
      address,
      controllerId: 'ctrl',
      connId: isTerminator ? 1 : 2,
      isTerminator,
      sessionToken: '',
      meters: new SideMeters(NO_METRICS, isTerminator ? 'egress' : 'ingress'),
      gate,
      reading: source,
      onClosed: () => {},
      onEnded: () => {},
    });
    forwarder.register(CIRCUIT, address, circuit, 'ctrl');
    return { circuit, gate };
  };
  const host = open('out', { isWritable: true, sendData: () => true }, true);
  const dialer = open('in', dialerChannel, false);
  forwarder.route(CIRCUIT, 'ctrl', [
    { source: 'out', destination: 'in', type: 'end' },
    { source: 'in', destination: 'out', type: 'end' },
  ]);
  const fromHost = (sequence: number, bytes = 16_000): void =>
    host.circuit.onData(new PayloadFrame(CIRCUIT, sequence, PAYLOAD_FLAGS.originator, new Uint8Array(bytes)));
  return Object.assign(world, { host: host.circuit, gate: dialer.gate, fromHost });
}

function sequencesOf(frames: readonly DataFrame[]): number[] {
  return frames.flatMap((frame) => (frame.contentType === PAYLOAD_TYPE ? [frame.sequence] : []));
}

test('frames for an SDK whose channel is full wait in order, and their sender is not read until there is room', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const world = makeWorld();
  world.fromHost(0);
  assert.deepEqual([sequencesOf(world.sent), world.isHostRead], [[0], true]);
  world.dialerChannel.isWritable = false;
  world.fromHost(1);
  world.fromHost(2);
  assert.deepEqual([sequencesOf(world.sent), world.isHostRead], [[0], false]);
  world.dialerChannel.isWritable = true;
  // There is room, but two frames wait, so the third waits behind them.
  world.fromHost(3);
  assert.deepEqual(sequencesOf(world.sent), [0]);
  world.gate.open();
  assert.deepEqual([sequencesOf(world.sent), world.isHostRead], [[0, 1, 2, 3], true]);
  assert.ok(world.sent.every(({ connId }) => connId === 2));
});

test('an SDK that reads nothing delays the sender of its frames for only 25 ms at a time, and has one MiB waiting', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const world = makeWorld();
  world.dialerChannel.isWritable = false;
  world.fromHost(0);
  assert.equal(world.isHostRead, false);
  t.mock.timers.tick(25);
  assert.equal(world.isHostRead, true);
  for (let sequence = 1; sequence < 200; sequence += 1) world.fromHost(sequence);
  // Beyond that, the channel's own queue decides which frames are dropped.
  assert.ok(world.sent.length > 100 && world.sent.length < 140, `${world.sent.length} handed over`);
  world.gate.close();
  assert.equal(world.isHostRead, true);
});

test('acknowledgements never wait behind payloads for a full channel', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const world = makeWorld();
  world.dialerChannel.isWritable = false;
  world.fromHost(0);
  world.host.onData(new AcknowledgementFrame(CIRCUIT, PAYLOAD_FLAGS.originator, 0, [5]));
  assert.equal(world.sent.length, 1);
  assert.notEqual(world.sent[0]!.contentType, PAYLOAD_TYPE);
  world.gate.close();
});
