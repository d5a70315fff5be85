/**
 * Traces that a controller asks for (`ziti fabric stream traces toggle pipe`): messages of control channels and links, of which
 * each is reported to that controller without its data. Traces never delay a channel: reports beyond the rate, and those for
 * which the control channel has no room, are left out and counted.
 */
import type { Clock, Log } from '#base';
import { contentType, makeFrame, makeResult, type Frame } from '#wire';
import type { DataFrame } from '#wire/xgress';
import { encodePipeTrace, toggledLine, traceToggleOf, type TraceToggle } from '#wire/ctrl';
import type { Controller, Controllers, CtrlHandlers } from '../ctrl/controllers.ts';
import type { PipeObserver, TracedPipe, TracedPipes } from '../ctrl/traced-pipe.ts';

/** Reports of all traces to one controller. */
const BYTES_PER_SECOND = 1_048_576;
/** Lines of one answer. */
const MAX_LINES = 1_000;

export interface PipeTracesOptions {
  readonly routerId: string;
  readonly controllers: Controllers;
  readonly clock: Clock;
  readonly log: Log;
}

export class PipeTraces implements TracedPipes {
  readonly #options: PipeTracesOptions;
  readonly #pipes = new Map<TracedPipe, Trace>();
  readonly #sinks = new Map<Controller, TraceSink>();

  constructor(options: PipeTracesOptions) {
    this.#options = options;
    const channels = new Map<Controller, TracedPipe>();
    options.controllers.onConnected((controller) => {
      const { channel } = controller;
      const pipe = { pipeName: 'ctrl', tap: (observer: PipeObserver) => channel.observe(observer) };
      channels.set(controller, pipe);
      this.add(pipe);
    });
    options.controllers.onDisconnected((controller) => {
      const pipe = channels.get(controller);
      channels.delete(controller);
      if (pipe !== undefined) this.remove(pipe);
      for (const trace of this.#pipes.values()) trace.delete(controller);
      this.#sinks.delete(controller);
    });
  }

  handlers(): CtrlHandlers {
    return new Map([[contentType.togglePipeTraces, (frame, from) => this.#onToggle(frame, from)]]);
  }

  add(pipe: TracedPipe): void {
    this.#pipes.set(
      pipe,
      new Trace(pipe, (frame, direction, to) => this.#report(pipe, frame, direction, to)),
    );
  }

  remove(pipe: TracedPipe): void {
    this.#pipes.get(pipe)?.end();
    this.#pipes.delete(pipe);
  }

  #onToggle(frame: Frame, from: Controller): void {
    const toggle = traceToggleOf(frame.body);
    if (typeof toggle === 'string') {
      from.channel.reply(frame, makeResult(frame, false, toggle));
      return;
    }
    const { routerId, log } = this.#options;
    const lines = toggle.selectsApp(routerId) ? this.#toggle(toggle, from) : [];
    const { isOn } = toggle;
    log.info({ controllerId: from.id, isOn, pipes: lines.length }, 'traces of channels toggled');
    const text = lines.slice(0, MAX_LINES).join('');
    from.channel.reply(frame, makeResult(frame, true, text));
  }

  #toggle(toggle: TraceToggle, from: Controller): string[] {
    const lines: string[] = [];
    for (const [{ pipeName }, trace] of this.#pipes) {
      const was = trace.isOn;
      const isMatch = toggle.selectsPipe(pipeName);
      if (isMatch && toggle.isOn) trace.add(from);
      else if (isMatch) trace.delete(from);
      if (toggle.shows(isMatch))
        lines.push(toggledLine(this.#options.routerId, pipeName, { isMatch, was, is: trace.isOn }));
    }
    this.#sinks.get(from)?.logLeftOut();
    if (toggle.isOn && !this.#sinks.has(from)) this.#sinks.set(from, new TraceSink(from, this.#options));
    return lines;
  }

  #report(
    pipe: TracedPipe,
    frame: Frame | DataFrame,
    direction: 'rx' | 'tx',
    to: Iterable<Controller>,
  ): void {
    // Reports of reports would never end.
    if (frame.contentType === contentType.traceEvent) return;
    const sinks = [...to].flatMap((controller) => this.#sinks.get(controller) ?? []);
    const open = sinks.filter((sink) => sink.hasRoom());
    if (open.length === 0) return;
    const { routerId, clock } = this.#options;
    const body = encodePipeTrace(frame, direction, {
      identity: routerId,
      channel: pipe.pipeName,
      atMs: clock.nowMs(),
    });
    for (const sink of open) sink.send(body);
  }
}

/** The trace of one channel, and the controllers that asked for it. */
class Trace {
  readonly #pipe: TracedPipe;
  readonly #report: (frame: Frame | DataFrame, direction: 'rx' | 'tx', to: Iterable<Controller>) => void;
  readonly #to = new Set<Controller>();
  #end: (() => void) | undefined;

  constructor(
    pipe: TracedPipe,
    report: (frame: Frame | DataFrame, direction: 'rx' | 'tx', to: Iterable<Controller>) => void,
  ) {
    this.#pipe = pipe;
    this.#report = report;
  }

  get isOn(): boolean {
    return this.#to.size > 0;
  }

  add(controller: Controller): void {
    this.#to.add(controller);
    this.#end ??= this.#pipe.tap((frame, direction) => this.#report(frame, direction, this.#to));
  }

  delete(controller: Controller): void {
    this.#to.delete(controller);
    if (!this.isOn) this.end();
  }

  end(): void {
    this.#end?.();
    this.#end = undefined;
  }
}

class TraceSink {
  readonly #controller: Controller;
  readonly #clock: Clock;
  readonly #log: Log;
  #bytes = BYTES_PER_SECOND;
  #filledMs: number;
  #leftOut = 0;

  constructor(controller: Controller, { clock, log }: Pick<PipeTracesOptions, 'clock' | 'log'>) {
    this.#controller = controller;
    this.#clock = clock;
    this.#log = log;
    this.#filledMs = clock.monotonicMs();
  }

  /** Counts a report that is left out. */
  hasRoom(): boolean {
    const nowMs = this.#clock.monotonicMs();
    const gained = ((nowMs - this.#filledMs) / 1_000) * BYTES_PER_SECOND;
    this.#bytes = Math.min(BYTES_PER_SECOND, this.#bytes + gained);
    this.#filledMs = nowMs;
    const hasRoom = this.#bytes > 0 && this.#controller.channel.isWritable;
    if (!hasRoom) this.#leftOut += 1;
    return hasRoom;
  }

  send(body: Uint8Array): void {
    this.#bytes -= body.length;
    this.#controller.channel.send(makeFrame(contentType.traceEvent, { body }));
  }

  logLeftOut(): void {
    const controllerId = this.#controller.id;
    if (this.#leftOut > 0)
      this.#log.warn({ controllerId, count: this.#leftOut }, 'messages are missing in traces');
    this.#leftOut = 0;
  }
}
