/**
 * A channel from this process to a router: circuits that are dialed and hosted over it, and their frames. Ends
 * with the underlying channel; `RouterConnection` opens the next one.
 */
import { messageOf, ShortLivedMap, type Log } from '#base';
import { ChannelError, type Channel } from '#net/channel';
import { contentType, HeaderWriter, headerId, makeFrame, ownRelease, textOfBody, type Frame } from '#wire';
import { RouteErrorCode } from '#wire/circuits';
import { XGRESS_TICK_MS, type DataFrame } from '#wire/xgress';
import {
  encryptionWith,
  generateEncryptionKeys,
  type CircuitEncryption,
  type EncryptionKeys,
} from './circuit-encryption.ts';
import { dialFailure } from './circuit-failure.ts';
import { CircuitError } from './circuit.ts';
import type { ChannelBind, ChannelDial, EdgeChannelOptions } from './edge-channel-options.ts';
import { connectionAnswer, inspectionAnswer, LatestText } from './edge-inspection.ts';
import { bindFrame, connectFrame, dialFailedFrame, healthFrame, updateFrame } from './edge-requests.ts';
import type { DialRefusal } from './hosted-service.ts';
import { LingeringCircuits } from './lingering-circuits.ts';
import type { CircuitCarrier } from './circuit-carrier.ts';
import { brokenCircuit, OverlayCircuit } from './overlay-circuit.ts';
import { RouterLatency } from './router-latency.ts';
import { isStandbyMark } from './standby-mark.ts';
import { OwedAcknowledgements } from './owed-acknowledgements.ts';
import type { TerminatorRank } from './terminator-options.ts';

const { edge } = headerId;
const BIND_TIMEOUT_MS = 10_000;
const MAX_CONN_ID = 0x7fff_ffff;
/** Payloads that a circuit may send before the next one's turn, while several wait for room. */
const PAYLOADS_PER_TURN = 4;
/** Key pairs that no circuit used, kept for later dials. */
const MAX_UNUSED_KEYS = 64;

const ROUTE_CODE: Readonly<Record<DialRefusal, number>> = {
  'service-refused': RouteErrorCode.connectionRefused,
  'service-timeout': RouteErrorCode.dialTimeout,
  'not-now': RouteErrorCode.resourcesNotAvailable,
};

/** A bind at the router, with the keys of the circuits that it accepts. Undefined: they are in clear. */
interface KeyedBind extends ChannelBind {
  readonly keys: EncryptionKeys | undefined;
}

export class EdgeChannel implements CircuitCarrier<OverlayCircuit> {
  /** OpenZiti's routers drop frames towards an SDK while a queue of a few is full. Ours wait. */
  readonly isLossy: boolean;
  isReplaced = false;
  readonly #lingering = new LingeringCircuits();
  readonly #channel: Channel;
  readonly #log: Log;
  readonly #options: EdgeChannelOptions;
  readonly #initiators = new ShortLivedMap<string, OverlayCircuit>();
  readonly #terminators = new ShortLivedMap<string, OverlayCircuit>();
  readonly #controllerId = new LatestText();
  readonly #byConnId = new ShortLivedMap<number, OverlayCircuit>();
  readonly #binds = new Map<number, KeyedBind>();
  readonly #timer: NodeJS.Timeout;
  /** Measures the round trip to the router. */
  readonly latency: RouterLatency;
  /**
   * Key pairs of circuits in clear, for later dials: a new pair costs 50 µs of CPU. Dials that require encryption take a
   * new one, because a router that hid a host's key could replay to them what that host sent to an earlier dial.
   */
  readonly #unusedKeys: EncryptionKeys[] = [];
  readonly #owed = new OwedAcknowledgements();
  /** Circuits that wait for room in the channel, in the order of their turns. */
  readonly #waiting = new Set<OverlayCircuit>();
  #served: OverlayCircuit | undefined;
  #payloadsLeft = 0;
  #nextConnId = 1;
  #isStopping = false;

  constructor(channel: Channel, log: Log, options: EdgeChannelOptions) {
    this.#channel = channel;
    this.#log = log;
    this.#options = options;
    this.isLossy = ownRelease(channel.peer.hello.text(headerId.channel.helloVersion)) === undefined;
    this.#timer = setInterval(() => {
      const nowMs = performance.now();
      for (const circuit of this.#byConnId.values()) circuit.tick(nowMs);
      this.#onDrain();
    }, XGRESS_TICK_MS);
    channel.handle({
      onFrame: (frame) => this.#onFrame(frame),
      onData: (frame) => {
        const circuits = frame.isFromTerminator ? this.#initiators : this.#terminators;
        circuits.get(frame.circuitId)?.receive(frame);
      },
      onBatchEnd: () => this.#owed.flush(),
      onDrain: () => this.#onDrain(),
      onClose: (reason) => this.#closeAll(reason),
    });
    this.latency = new RouterLatency(channel);
  }

  get isClosed(): boolean {
    return this.#channel.isClosed;
  }

  /** Whether the router announced that it stops soon. It still accepts circuits of callers without another router. */
  get isStopping(): boolean {
    return this.#isStopping;
  }

  /** Whether new requests should use a new circuit instead. */
  get isLeaving(): boolean {
    return this.isReplaced || (this.#isStopping && this.#options.hasOtherWay());
  }

  get isWritable(): boolean {
    return this.#channel.isWritable;
  }

  get circuitCount(): number {
    return this.#byConnId.size;
  }

  /** The circuit is encrypted if the host has a key. Rejects with a `CircuitError`. */
  async dial(dial: ChannelDial): Promise<OverlayCircuit> {
    const connId = this.#takeConnId();
    const isRequired = dial.isEncryptionRequired === true;
    const keys = (isRequired ? undefined : this.#unusedKeys.pop()) ?? generateEncryptionKeys();
    let answer: Frame;
    try {
      answer = await this.#channel.request(connectFrame(dial, connId, keys.publicKey), dial.timeoutMs);
    } catch (error) {
      if (error instanceof ChannelError && error.code === 'closed') {
        throw new CircuitError('channel-closed', 'router', error.message);
      }
      this.#sendStateClosed(connId);
      throw new CircuitError('timeout', 'router', messageOf(error));
    }
    if (answer.contentType !== contentType.stateConnected) throw dialFailure(answer);
    const circuitId = answer.headers.text(edge.circuitId) ?? '';
    if (circuitId === '' || !answer.headers.bool(edge.useXgressToSdk)) {
      this.#sendStateClosed(connId);
      throw new CircuitError('overlay', 'router', 'the router does not support xgress to this client');
    }
    const hostKey = answer.headers.bytes(edge.publicKey);
    const encryption = encryptionWith('dialer', keys, hostKey);
    if (encryption === undefined && (hostKey !== undefined || isRequired)) {
      this.#sendStateClosed(connId);
      const problem = hostKey === undefined ? 'has no key' : 'sent an unusable key';
      throw new CircuitError('overlay', 'agent', `the host ${problem} for end-to-end encryption`);
    }
    if (encryption === undefined && this.#unusedKeys.length < MAX_UNUSED_KEYS) this.#unusedKeys.push(keys);
    const circuit = this.#open(answer, connId, false, encryption);
    circuit.start();
    return circuit;
  }

  /** Resolves when the router accepted the Bind. The terminator exists when `onEstablished` is called. */
  async bind(
    bind: Omit<ChannelBind, 'connId'>,
    listenerId: string,
    isLowered: boolean,
  ): Promise<ChannelBind> {
    const keys = bind.encryption === undefined ? undefined : generateEncryptionKeys();
    const standing: KeyedBind = { ...bind, connId: this.#takeConnId(), keys };
    this.#binds.set(standing.connId, standing);
    try {
      const frame = bindFrame(standing, listenerId, keys?.publicKey, isLowered);
      const answer = await this.#channel.request(frame, BIND_TIMEOUT_MS);
      if (answer.contentType === contentType.stateConnected) return standing;
      throw new Error(textOfBody(answer) || 'the router refused the bind');
    } catch (error) {
      this.#binds.delete(standing.connId);
      throw error;
    }
  }

  unbind(bind: ChannelBind): void {
    if (!this.#binds.delete(bind.connId)) return;
    const headers = new HeaderWriter().u32(edge.connId, bind.connId);
    this.#channel.send(makeFrame(contentType.unbind, { headers, body: bind.token }));
  }

  update(bind: ChannelBind, rank: TerminatorRank): void {
    this.#channel.send(updateFrame(bind, rank));
  }

  reportHealth(bind: ChannelBind, passed: boolean): void {
    this.#channel.send(healthFrame(bind, passed));
  }

  /** Resolves when the router has handled what was sent, and no circuit stays to acknowledge repetitions. */
  async settled(): Promise<void> {
    await this.#lingering.gone();
    await this.latency.probe();
  }

  close(reason: string): void {
    this.#channel.close(reason);
  }

  sendData(frame: DataFrame): void {
    this.#channel.sendData(frame);
  }

  acknowledgeLater(circuit: OverlayCircuit, mayWait: boolean): void {
    this.#owed.add(circuit, mayWait);
  }

  /** Within one process, the far end gets views. */
  get copiesData(): boolean {
    return this.#channel.underlays().some(({ localAddress }) => localAddress !== 'memory');
  }

  hasRoom(circuit: OverlayCircuit): boolean {
    if (!this.#channel.isWritable) return false;
    if (circuit === this.#served) {
      this.#payloadsLeft -= 1;
      return this.#payloadsLeft >= 0;
    }
    return this.#waiting.size === 0;
  }

  awaitRoom(circuit: OverlayCircuit): void {
    this.#waiting.add(circuit);
  }

  mayLinger(circuit: OverlayCircuit): boolean {
    return this.isLossy && !this.isClosed && this.#lingering.add(circuit);
  }

  closed(circuit: OverlayCircuit, notifyRouter: boolean): void {
    this.#lingering.delete(circuit);
    this.#waiting.delete(circuit);
    this.#byConnId.delete(circuit.connId);
    (circuit.isTerminator ? this.#terminators : this.#initiators).delete(circuit.id);
    if (notifyRouter) this.#channel.send(makeFrame(contentType.xgClose, { body: circuit.id }));
  }

  #onFrame(frame: Frame): void {
    const connId = frame.headers.u32(edge.connId);
    switch (frame.contentType) {
      case contentType.dial:
        if (connId !== undefined) this.#onDial(frame, connId);
        return;
      case contentType.stateClosed:
        if (connId !== undefined) this.#onStateClosed(frame, connId);
        return;
      case contentType.bindSuccess:
        this.#binds.get(connId ?? -1)?.onEstablished();
        return;
      case contentType.stateConnected:
        // The response belongs to a dial that this side has abandoned.
        if (connId !== undefined && !this.#byConnId.has(connId)) this.#sendStateClosed(connId);
        return;
      case contentType.stopping:
        this.#isStopping = true;
        this.#log.info(
          { router: this.#channel.peer.address },
          'the router is shutting down; dialing new circuits elsewhere',
        );
        return;
      case contentType.circuitsLeaving:
        for (const id of textOfBody(frame).split('\n')) this.#initiators.get(id)?.leave();
        return;
      case contentType.connInspectRequest: {
        const id = connId ?? -1;
        this.#channel.reply(frame, connectionAnswer(this.#binds.has(id), this.#byConnId.has(id)));
        return;
      }
      case contentType.edgeInspectRequest:
        this.#channel.reply(frame, inspectionAnswer(frame, this.#byConnId.values()));
        return;
      default:
    }
  }

  #onDial(frame: Frame, bindConnId: number): void {
    const bind = this.#binds.get(bindConnId);
    const connId = frame.headers.u32(edge.routerProvidedConnId);
    const circuitId = frame.headers.text(edge.circuitId) ?? '';
    if (bind === undefined) {
      // The dial crossed with the end of the bind. Another process may host the terminator by now.
      this.#refuseDial(frame, bindConnId, 'no longer hosted here', ROUTE_CODE['not-now']);
      return;
    }
    if (connId === undefined || circuitId === '' || !frame.headers.bool(edge.useXgressToSdk)) {
      this.#refuseDial(frame, bindConnId, 'no circuit over xgress', RouteErrorCode.rejectedByApplication);
      return;
    }
    const dialerKey = bind.keys === undefined ? undefined : frame.headers.bytes(edge.publicKey);
    const encryption = bind.keys && encryptionWith('host', bind.keys, dialerKey);
    const isUnusable = encryption === undefined && dialerKey !== undefined;
    if (isUnusable || (encryption === undefined && bind.encryption === 'required')) {
      const reason = isUnusable
        ? 'the dialer sent an unusable key for end-to-end encryption'
        : 'the service requires end-to-end encryption, and the dialer sent no key';
      this.#refuseDial(frame, bindConnId, reason, RouteErrorCode.rejectedByApplication);
      return;
    }
    let isAnswered = false;
    const appData = frame.headers.bytes(edge.appData);
    bind.onDial({
      callerId: frame.headers.text(edge.callerId) ?? '',
      serviceId: bind.serviceId,
      isStandby: isStandbyMark(appData),
      appData,
      accept: () => {
        if (isAnswered) throw new Error('this dial was answered before');
        isAnswered = true;
        const circuit = this.#open(frame, connId, true, encryption);
        const headers = new HeaderWriter().u32(edge.connId, bindConnId);
        const body = new Uint8Array(new Uint32Array([connId]).buffer);
        this.#channel.reply(frame, makeFrame(contentType.dialSuccess, { headers, body }));
        circuit.start();
        return circuit;
      },
      refuse: (reason, code = 'service-refused') => {
        if (isAnswered) return;
        isAnswered = true;
        this.#refuseDial(frame, bindConnId, reason, ROUTE_CODE[code]);
      },
    });
  }

  #refuseDial(dial: Frame, bindConnId: number, reason: string, routeCode: number): void {
    this.#channel.reply(dial, dialFailedFrame(bindConnId, reason, routeCode));
  }

  #onStateClosed(frame: Frame, connId: number): void {
    const reason = textOfBody(frame) || 'closed by the overlay';
    const bind = this.#binds.get(connId);
    if (bind !== undefined) {
      this.#binds.delete(connId);
      bind.onClosed(reason);
    }
    this.#byConnId.get(connId)?.gone(brokenCircuit('router', reason));
  }

  #open(
    { headers }: Frame,
    connId: number,
    isTerminator: boolean,
    encryption: CircuitEncryption | undefined,
  ): OverlayCircuit {
    const circuit = new OverlayCircuit(headers.text(edge.circuitId)!, connId, isTerminator, this, encryption);
    circuit.controllerId = this.#controllerId.of(headers.text(edge.xgressCtrlId) ?? '');
    this.#byConnId.set(connId, circuit);
    (isTerminator ? this.#terminators : this.#initiators).set(circuit.id, circuit);
    return circuit;
  }

  /** A circuit that still has data after its turn waits behind the others; a circuit that did not wait comes last. */
  #onDrain(): void {
    for (const circuit of this.#waiting) {
      if (!this.#channel.isWritable) break;
      this.#waiting.delete(circuit);
      this.#served = circuit;
      this.#payloadsLeft = PAYLOADS_PER_TURN;
      circuit.onChannelDrain();
    }
    this.#served = undefined;
  }

  #sendStateClosed(connId: number): void {
    const headers = new HeaderWriter().u32(edge.connId, connId);
    this.#channel.send(makeFrame(contentType.stateClosed, { headers, body: 'given up' }));
  }

  #closeAll(reason: string): void {
    clearInterval(this.#timer);
    this.#owed.stop();
    this.latency?.stop();
    const binds = [...this.#binds.values()];
    this.#binds.clear();
    for (const circuit of [...this.#byConnId.values()]) {
      circuit.gone(new CircuitError('channel-closed', 'router', reason));
    }
    for (const bind of binds) bind.onClosed(reason);
    this.#log.info({ reason, router: this.#channel.peer.address }, 'channel to router closed');
    this.#options.onClosed(reason);
  }

  #takeConnId(): number {
    do {
      this.#nextConnId = this.#nextConnId === MAX_CONN_ID ? 1 : this.#nextConnId + 1;
    } while (this.#byConnId.has(this.#nextConnId) || this.#binds.has(this.#nextConnId));
    return this.#nextConnId;
  }
}
