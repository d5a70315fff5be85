// Traces of channels that controllers ask for, as they are on the wire.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ManualClock, silentLog, textOf } from '#base';
import { contentType, headerId, makeFrame, textOfBody, type Frame } from '#wire';
import { PayloadFrame } from '#wire/xgress';
import { ctrlMessages, TraceToggleVerbosity, type CtrlBody, type CtrlInit } from '#wire/ctrl';
import { MemoryControllers, type MemoryController } from '../testing/memory-controller.ts';
import { until } from '../../../test/support/deadline.ts';
import type { PipeObserver } from '../ctrl/traced-pipe.ts';
import { PipeTraces } from './pipe-traces.ts';

const clock = new ManualClock();

class FakePipe {
  readonly pipeName: string;
  observer: PipeObserver | undefined;

  constructor(pipeName: string) {
    this.pipeName = pipeName;
  }

  tap(observer: PipeObserver): () => void {
    this.observer = observer;
    return () => (this.observer = undefined);
  }
}

function open() {
  const controllers = new MemoryControllers();
  const traces = new PipeTraces({ routerId: 'r1', controllers, clock, log: silentLog });
  return { controllers, traces, handlers: traces.handlers() };
}

type World = ReturnType<typeof open>;

async function toggle(
  { handlers }: World,
  controller: MemoryController,
  wish: CtrlInit<'togglePipeTraces'>,
): Promise<readonly [boolean, string]> {
  const init = {
    enable: true,
    verbosity: TraceToggleVerbosity.ReportAll,
    appRegex: '.*',
    pipeRegex: '.*',
    ...wish,
  };
  const { sequence } = controller.say(handlers, ctrlMessages.togglePipeTraces.frame(init));
  const isAnswer = ({ headers }: Frame): boolean => headers.i32(headerId.channel.replyFor) === sequence;
  await until('the answer', () => controller.frames.some(isAnswer), Boolean);
  const [answer] = controller.frames.splice(controller.frames.findIndex(isAnswer), 1);
  return [answer!.headers.bool(headerId.channel.resultSuccess) === true, textOfBody(answer!)];
}

function decodedOf({ decode }: CtrlBody<'traceEvent'>): unknown {
  return JSON.parse(textOf(decode));
}

function events({ frames }: MemoryController): CtrlBody<'traceEvent'>[] {
  return frames
    .filter((frame) => frame.contentType === contentType.traceEvent)
    .map(({ body }) => ctrlMessages.traceEvent.decode(body));
}

test('messages of a control channel and data of a link are reported to the controller that asked', async () => {
  const world = open();
  const [asking, other] = [world.controllers.connect('c1'), world.controllers.connect('c2')];
  const link = new FakePipe('l/abc');
  world.traces.add(link);
  const [isDone, text] = await toggle(world, asking, { pipeRegex: '^(ctrl|l/.*)$' });
  assert.equal(isDone, true);
  assert.equal(
    text,
    ['ctrl', 'ctrl', 'l/abc']
      .map((pipe) => `Link r1.${pipe} matched? true. Old trace state: false, New trace state: true\n`)
      .join(''),
  );
  other.controller.channel.send(ctrlMessages.fault.frame({ id: 'circuit1', iteration: 2 }));
  link.observer!(new PayloadFrame('circuit1', 7, 0, new Uint8Array(300)), 'rx');
  await until('both reports', () => events(asking).length >= 3, Boolean);
  const [answer, fault, payload] = events(asking);
  assert.deepEqual([answer?.channel, answer?.contentType, answer?.isRx], ['ctrl', contentType.result, false]);
  const common = { identity: 'r1', timestamp: BigInt(clock.nowMs()) * 1_000_000n };
  for (const [event, channel, isRx] of [
    [fault, 'ctrl', false],
    [payload, 'l/abc', true],
  ] as const) {
    const { identity, timestamp } = event!;
    assert.deepEqual({ identity, timestamp }, common);
    assert.deepEqual([event!.channel, event!.isRx, event!.replyFor], [channel, isRx, -1]);
  }
  assert.deepEqual(decodedOf(fault!), {
    __decoder__: 'ctrl',
    __message__: 'Fault',
    id: 'circuit1',
    iteration: 2,
  });
  assert.deepEqual(decodedOf(payload!), {
    __decoder__: 'data',
    __message__: 'Payload',
    circuitId: 'circuit1',
    sequence: 7,
    originator: 'i',
    length: 300,
  });
  assert.deepEqual(events(other), []);
});

test('traces end when they are toggled off, and with the controller', async () => {
  const world = open();
  const [one, two] = [world.controllers.connect('c1'), world.controllers.connect('c2')];
  const link = new FakePipe('l/abc');
  world.traces.add(link);
  for (const controller of [one, two]) await toggle(world, controller, { pipeRegex: 'l/abc' });
  await toggle(world, one, { enable: false });
  assert.ok(link.observer, 'the other controller still wants it');
  world.controllers.disconnect(two);
  assert.equal(link.observer, undefined);
  await toggle(world, one, { pipeRegex: 'l/abc' });
  world.traces.remove(link);
  assert.equal(link.observer, undefined);
});

test('a request for others changes nothing, and one with a pattern whose search can be long is refused', async () => {
  const world = open();
  const controller = world.controllers.connect('c1');
  assert.deepEqual(await toggle(world, controller, { appRegex: '^r2$' }), [true, '']);
  const [isDone, text] = await toggle(world, controller, { pipeRegex: '(a+)+' });
  assert.equal(isDone, false);
  assert.match(text, /^Failed to parse pipe id regex: it has repeated groups/);
  assert.deepEqual(await toggle(world, controller, { verbosity: TraceToggleVerbosity.ReportNone }), [
    true,
    '',
  ]);
});

test('reports are bounded by their bytes in each second, so that they crowd nothing out', async () => {
  const world = open();
  const controller = world.controllers.connect('c1');
  const link = new FakePipe('l/abc');
  world.traces.add(link);
  await toggle(world, controller, { pipeRegex: 'l/abc' });
  const frame = makeFrame(contentType.control, { body: new Uint8Array(100) });
  const reports = (): number => events(controller).length;
  const burst = async (): Promise<number> => {
    const before = reports();
    // One turn of the loop for each, as the channel is emptied between frames that arrive.
    for (let count = 0; count < 200; count += 1) {
      for (let each = 0; each < 100; each += 1) link.observer!(frame, 'rx');
      await new Promise((resolve) => setImmediate(resolve));
    }
    return reports() - before;
  };
  const first = await burst();
  assert.ok(first > 1_000 && first < 20_000, `${first}`);
  assert.equal(await burst(), 0, 'the second is used up');
  clock.advance(1_000);
  assert.ok((await burst()) > 1_000);
});
