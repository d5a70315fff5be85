/**
 * An established link: sends and receives frames of circuits, and counts them. `LinkRegistryMachine` decides which
 * links exist. Every frame in transit passes here, so nothing is allocated per frame.
 */
import type { Clock, Log } from '#base';
import type { Channel } from '#net/channel';
import { contentType, LATENCY_TYPE, makeFrame, type Frame } from '#wire';
import { PAYLOAD_FLAGS, PAYLOAD_TYPE, type DataFrame } from '#wire/xgress';
import type { Forwarding, LinkDestination } from '../forwarder/destination.ts';
import type { Histogram, Meter, Metrics } from '../metrics/metrics.ts';
import type { PipeObserver, TracedPipe } from '../ctrl/traced-pipe.ts';
import type { LiveLink } from './link-event.ts';
import { LinkLatency } from './link-latency.ts';
import type { LinkConnection, ReportedLink } from './link-reporter.ts';
import { LinkSilenceMachine } from './link-silence-machine.ts';

/** Properties of a link that both ends agree on. */
export interface LinkFacts extends LiveLink {
  /** Version of the other router; '' if it is not known. */
  readonly peerVersion: string;
  readonly protocol: string;
  /** The address at which the listening router is dialed. */
  readonly dialAddress: string;
}

export interface LinkOptions {
  readonly facts: LinkFacts;
  readonly channel: Channel;
  readonly forwarding: Forwarding;
  readonly metrics: Metrics;
  /** Time limit for the first answer to a heartbeat. */
  readonly graceMs: number;
  /** The time of opening, by the clock that is passed to `check`. */
  readonly openedMs: number;
  readonly clock: Clock;
  readonly log: Log;
  onConnections(link: Link): void;
  /** Called once. */
  onClosed(link: Link, reason: string): void;
}

/** Counts frames and bytes (of bodies, like OpenZiti) in one direction. */
interface Traffic {
  readonly bytes: Meter;
  readonly frames: Meter;
  readonly sizes: Histogram;
}

export class Link implements LinkDestination, ReportedLink, TracedPipe {
  readonly id: string;
  readonly key: string;
  readonly peerId: string;
  readonly peerVersion: string;
  readonly iteration: number;
  readonly isDialed: boolean;
  readonly protocol: string;
  readonly dialAddress: string;
  readonly #channel: Channel;
  readonly #forwarding: Forwarding;
  readonly #log: Log;
  readonly #latency: LinkLatency;
  readonly #rx: Traffic;
  readonly #tx: Traffic;
  readonly #queueTime: Histogram;
  readonly #dropped: Meter;
  readonly #droppedRetransmits: Meter;
  readonly #droppedForwards: Meter;
  readonly #silence: LinkSilenceMachine;
  #isReadingPaused = false;
  #stateIteration = 1;
  #isQueueProbed = false;
  #droppedSeen = 0;
  #tap: PipeObserver | undefined;

  /** Takes over the channel and starts the flow of frames. */
  constructor(options: LinkOptions) {
    const { facts, channel, forwarding, metrics, clock } = options;
    this.id = facts.id;
    this.key = facts.key;
    this.peerId = facts.peerId;
    this.peerVersion = facts.peerVersion;
    this.iteration = facts.iteration;
    this.isDialed = facts.isDialed;
    this.protocol = facts.protocol;
    this.dialAddress = facts.dialAddress;
    this.#channel = channel;
    this.#forwarding = forwarding;
    this.#log = options.log;
    this.#silence = new LinkSilenceMachine(options.openedMs);
    this.#latency = new LinkLatency(metrics, this.id, clock, options.graceMs);
    this.#rx = trafficOf(metrics, this.id, 'rx');
    this.#tx = trafficOf(metrics, this.id, 'tx');
    this.#queueTime = metrics.histogram(`link.${this.id}.queue_time`);
    this.#dropped = metrics.meter(`link.dropped_msgs:${this.id}`);
    this.#droppedRetransmits = metrics.meter(`link.dropped_rtx_msgs:${this.id}`);
    this.#droppedForwards = metrics.meter(`link.dropped_fwd_msgs:${this.id}`);
    forwarding.registerLink(this);
    channel.handle({
      onFrame: (frame) => this.#onFrame(frame),
      onData: (frame) => this.#onData(frame),
      onDrain: () => forwarding.linkDrained(this.id),
      onLatency: (nanoseconds) => this.#latency.onAnswer(nanoseconds),
      onUnderlays: () => {
        this.#stateIteration += 1;
        options.onConnections(this);
      },
      onClose: (reason) => {
        forwarding.unregisterLink(this);
        options.onClosed(this, reason);
      },
    });
  }

  get isWritable(): boolean {
    return this.#channel.isWritable;
  }

  get isClosed(): boolean {
    return this.#channel.isClosed;
  }

  get stateIteration(): number {
    return this.#stateIteration;
  }

  get pipeName(): string {
    return `l/${this.id}`;
  }

  tap(observer: PipeObserver): () => void {
    this.#tap = observer;
    const end = this.#channel.observe(observer);
    return () => {
      this.#tap = undefined;
      end();
    };
  }

  /** Mean round trip in nanoseconds; undefined before the first answer to a heartbeat. */
  get latencyNs(): number | undefined {
    return this.#latency.meanNs;
  }

  connections(): readonly LinkConnection[] {
    return this.#channel.underlays().map(({ type, localAddress, remoteAddress }) => ({
      // OpenZiti's name for the only connection of a link.
      type: type === 'default' ? 'single' : type,
      localAddress,
      remoteAddress,
    }));
  }

  deliver(frame: DataFrame): void {
    const bytes = bodyBytes(frame);
    this.#tap?.(frame, 'tx');
    if (!this.#channel.sendData(frame) && this.#wasDropped(frame)) return;
    this.#count(this.#tx, bytes);
  }

  sendControl(frame: Frame): void {
    if (!this.#channel.isWritable) {
      this.#dropped.mark(1);
      return;
    }
    const { headers, body } = frame;
    this.#channel.send({ contentType: frame.contentType, sequence: 0, headers, body });
    this.#count(this.#tx, body.length);
  }

  /**
   * Pauses reading while its frames cannot be forwarded. The forwarder limits the duration, because heartbeats wait
   * too.
   */
  pauseReading(): void {
    this.#isReadingPaused = true;
    this.#channel.pauseReading();
  }

  resumeReading(): void {
    this.#isReadingPaused = false;
    this.#channel.resumeReading();
  }

  /**
   * Called at each check interval, with a clock that stops while the process is stopped. Measures whether the peer is
   * alive, and how long frames wait here. Returns true if the link became silent, so that controllers can be notified.
   */
  check(nowMs: number): boolean {
    const fellSilent = this.#checkSilence(nowMs);
    if (fellSilent)
      this.#log.warn({ linkId: this.id, peer: this.peerId }, 'no data arrives over a link; it may be broken');
    this.#probeQueue();
    return fellSilent;
  }

  #checkSilence(nowMs: number): boolean {
    const step = this.#silence.check(nowMs, this.#channel.reads, this.#isReadingPaused);
    // Every router answers it immediately.
    if (step === 'probe') this.#channel.send(makeFrame(LATENCY_TYPE));
    const answersNone = this.#latency.check();
    return (step === 'silent' && this.#latency.fallSilent()) || answersNone;
  }

  #probeQueue(): void {
    if (this.#isQueueProbed) return;
    this.#isQueueProbed = true;
    const fromMs = performance.now();
    this.#channel.afterQueued(() => {
      this.#isQueueProbed = false;
      this.#queueTime.update(Math.round((performance.now() - fromMs) * 1e6));
    });
  }

  close(reason: string): void {
    this.#channel.close(reason);
  }

  #onData(frame: DataFrame): void {
    this.#count(this.#rx, bodyBytes(frame));
    this.#tap?.(frame, 'rx');
    this.#forwarding.forward(frame.circuitId, this.id, frame);
  }

  #onFrame(frame: Frame): void {
    this.#count(this.#rx, frame.body.length);
    if (frame.contentType === contentType.control) this.#forwarding.control(this.id, frame);
  }

  #count(traffic: Traffic, bytes: number): void {
    traffic.bytes.mark(bytes);
    traffic.frames.mark(1);
    traffic.sizes.update(bytes);
  }

  /** Called only when the queue is full or nearly full. */
  #wasDropped(frame: DataFrame): boolean {
    if (this.#channel.isClosed) return true;
    const { payloads, acknowledgements } = this.#channel.dropped;
    if (payloads + acknowledgements === this.#droppedSeen) return false;
    this.#droppedSeen = payloads + acknowledgements;
    this.#dropped.mark(1);
    if (frame.contentType !== PAYLOAD_TYPE) return true;
    if ((frame.flags & PAYLOAD_FLAGS.retransmit) !== 0) this.#droppedRetransmits.mark(1);
    else this.#droppedForwards.mark(1);
    return true;
  }
}

/** The metrics of one link. */
export function disposeLinkMetrics(metrics: Metrics, linkId: string): void {
  metrics.dispose(`link.${linkId}.`);
  for (const kind of ['msgs', 'rtx_msgs', 'fwd_msgs']) metrics.dispose(`link.dropped_${kind}:${linkId}`);
}

function trafficOf(metrics: Metrics, linkId: string, direction: 'rx' | 'tx'): Traffic {
  const name = `link.${linkId}.${direction}`;
  return {
    bytes: metrics.meter(`${name}.bytesrate`),
    frames: metrics.meter(`${name}.msgrate`),
    sizes: metrics.histogram(`${name}.msgsize`),
  };
}

function bodyBytes(frame: DataFrame): number {
  return frame.contentType === PAYLOAD_TYPE ? frame.data.length : 4 * frame.sequences.length;
}
