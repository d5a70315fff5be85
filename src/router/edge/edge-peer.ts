/**
 * One SDK at this router: its channel (one connection or a group), its dialed and hosted connections, and the handlers
 * of its messages. No message can affect circuits of other peers.
 */
import { FrontdoorError, messageOf, ShortLivedMap } from '#base';
import { ChannelError, type Channel } from '#net/channel';
import {
  contentType,
  HeaderWriter,
  headerId,
  makeFrame,
  ownRelease,
  textOfBody,
  type BodyPart,
  type Frame,
  type FrameHeaders,
} from '#wire';
import type { CircuitCreated } from '#wire/circuits';
import type { DataFrame } from '#wire/xgress';
import type { KnownApiSession } from '../ctrl/api-session-registry.ts';
import { openChannelGate, type ChannelGate } from './channel-gate.ts';
import { ChannelReading } from './channel-reading.ts';
import { DataCircuit } from './data-circuit.ts';
import type { EdgePeerContext } from './edge-peer-context.ts';
import {
  eachCircuit,
  stateClosed,
  XgressCircuit,
  type EdgeCircuit,
  type EdgeCircuitOptions,
} from './edge-circuit.ts';
import { traceOfSdk } from './edge-trace.ts';
import { requestCircuit } from './circuit-request.ts';
import { connectedFrame, connIdOfBody, dialFrame, type IncomingCircuit } from './dial-frame.ts';
import { hostGone, HostRefusal, refusalCodes } from '../forwarder/dial-refusal.ts';
import { EdgeBinds } from './edge-binds.ts';
import { HostDials } from './host-dials.ts';
import { costOf, IdentityMemory, keptFrame, memoryFault } from './identity-memory.ts';
import type { EdgeTerminator } from './edge-terminator-registry.ts';
import { endForbiddenCircuits, endSessionCircuits, type GrantFault } from './forbidden-circuits.ts';
import type { ConnectionGrant } from './service-grants.ts';
import { TokenSession } from './token-session.ts';
import { onSessionFrame } from './session-frames.ts';
import { XgressCircuits } from './xgress-circuits.ts';

const { ctrl, edge } = headerId;

/** The first connection id that the router assigns. Lower ids are assigned by the SDK. */
const FIRST_ROUTER_CONN_ID = 0x8000_0000;
const MAX_CONNECTIONS = 65_536;
const MAX_PENDING_CONNECTS = 4_096;
/** Maximum number of unanswered requests while the peer reads no answers. Further requests are not processed. */
const MAX_UNREAD_ANSWERS = 10_000;

export class EdgePeer {
  readonly channel: Channel;
  readonly session: KnownApiSession;
  readonly binds: EdgeBinds;
  readonly hostDials = new HostDials();
  readonly #context: EdgePeerContext;
  readonly #circuits = new ShortLivedMap<number, EdgeCircuit>();
  readonly #xgressCircuits = new XgressCircuits();
  readonly #dialing = new Set<number>();
  /** By the connection ids of circuits, for sessions that tokens have proven. */
  readonly #granted = new Map<number, ConnectionGrant>();
  readonly #dataCircuits = new Set<DataCircuit>();
  readonly #reading: ChannelReading;
  readonly #gate: ChannelGate;
  readonly #memory: IdentityMemory;
  #nextConnId = FIRST_ROUTER_CONN_ID;
  #unreadAnswers = 0;

  constructor(
    channel: Channel,
    session: KnownApiSession,
    context: EdgePeerContext,
    memory = new IdentityMemory(),
  ) {
    this.channel = channel;
    this.#memory = memory;
    this.#reading = new ChannelReading(channel);
    this.session = session;
    this.#context = context;
    this.#gate = openChannelGate(channel, context.forwarder.holds);
    this.binds = new EdgeBinds({
      channel,
      session,
      context,
      memory,
      connIdFault: (connId) => this.#connIdFault(connId),
    });
  }

  /** True if its hello names a version of our product. */
  get isOurs(): boolean {
    return ownRelease(this.channel.peer.hello.text(headerId.channel.helloVersion)) !== undefined;
  }

  /** Number of its dials whose circuits are pending. */
  get dialingCount(): number {
    return this.#dialing.size;
  }

  /** Announces the router's shutdown. A peer with another path uses that one from now on. */
  announceStop(): void {
    if (this.isOurs) this.channel.send(makeFrame(contentType.stopping));
  }

  /** Announces those of these circuits that this peer started. They end soon at their far end. */
  announceLeaving(circuitIds: readonly string[]): void {
    if (!this.isOurs) return;
    const own = circuitIds.filter((id) => this.#xgressCircuits.get(id)?.initiator !== undefined);
    if (own.length > 0) this.channel.send(makeFrame(contentType.circuitsLeaving, { body: own.join('\n') }));
  }

  /** Ends the circuits and binds of service sessions that a controller has ended. */
  endServiceSessions(tokens: ReadonlySet<string>): void {
    endSessionCircuits(this.channel, this.#context, this.#circuits.values(), tokens);
    this.binds.endSessions(tokens);
  }

  /** Handles payloads and acknowledgements of an SDK that runs xgress. */
  onData(frame: DataFrame): void {
    const ends = this.#xgressCircuits.get(frame.circuitId);
    (frame.isFromTerminator ? ends?.terminator : ends?.initiator)?.onData(frame);
  }

  onFrame(frame: Frame): void {
    if (this.channel.isWritable) this.#unreadAnswers = 0;
    else if (this.#isAnswered(frame) && (this.#unreadAnswers += 1) > MAX_UNREAD_ANSWERS) {
      this.channel.close('the peer does not read its answers');
      return;
    }
    switch (frame.contentType) {
      case contentType.connect:
        void this.#onConnect(frame);
        return;
      case contentType.data:
        this.#onSdkData(frame);
        return;
      case contentType.xgClose:
        this.#onXgClose(textOfBody(frame));
        return;
      case contentType.stateClosed:
        this.#onStateClosed(frame);
        return;
      case contentType.bind:
      case contentType.unbind:
      case contentType.updateBind:
      case contentType.edgeHealthEvent:
        this.binds.onFrame(frame);
        return;
      case contentType.traceRoute:
        this.#onTrace(frame);
        return;
      default:
        onSessionFrame(frame, this.channel, this.session, this.#context);
    }
  }

  onBodyPart(part: BodyPart): void {
    const { frame, at } = part;
    const circuit = this.#circuits.get(frame.headers.u32(edge.connId) ?? -1);
    if (circuit instanceof DataCircuit) circuit.onSdkPart(part);
    else if (at === 0) this.onFrame({ ...frame, body: part.bytes });
  }

  /** Ends the connections for which `faultOf` returns a reason, which the SDK receives. */
  endForbidden(faultOf: GrantFault): void {
    endForbiddenCircuits(this.channel, this.#context, this.#circuits, this.#granted, faultOf);
    this.binds.endForbidden(faultOf);
  }

  onDrain(): void {
    this.#gate.open();
    eachCircuit(this.#dataCircuits, this.#context.forwarder, (circuit) => circuit.onDrain());
  }

  onClosed(): void {
    this.#gate.close();
    this.#context.forwarder.holds.forget(this.#reading);
    this.binds.close();
    this.#dialing.clear();
    eachCircuit([...this.#circuits.values()], this.#context.forwarder, (circuit) => circuit.close());
  }

  /**
   * Offers an incoming circuit to the host of `terminator`. Resolves with the host's public key, if it has one,
   * when it accepts. Rejects with a `FrontdoorError`: timeout, or badGateway when the host refused.
   */
  async dialHost(
    terminator: EdgeTerminator,
    incoming: IncomingCircuit,
    timeoutMs: number,
  ): Promise<Map<number, Uint8Array>> {
    if (this.#circuits.size >= MAX_CONNECTIONS)
      throw new FrontdoorError('limited', 'too-many-connections', 'the host has too many connections');
    const given = terminator.takesConnId ? this.#takeConnId() : undefined;
    const { takesXgress, tokenText } = terminator;
    let circuit =
      given === undefined ? undefined : this.#openCircuit(incoming, given, true, takesXgress, tokenText);
    try {
      const dial = dialFrame(terminator, incoming, given);
      const answer = await this.hostDials.answer(() => this.channel.request(dial, timeoutMs));
      if (answer.contentType !== contentType.dialSuccess)
        throw new HostRefusal(textOfBody(answer), answer.headers.u8(ctrl.routeErrorCode));
      if (circuit === undefined) {
        circuit = this.#openCircuit(incoming, connIdOfBody(answer), true, false, tokenText);
        const headers = new HeaderWriter().u32(edge.connId, circuit.connId);
        this.channel.reply(answer, makeFrame(contentType.stateConnected, { headers }));
      }
      const grant = this.binds.grantOf(terminator.connId);
      if (grant !== undefined) this.#granted.set(circuit.connId, grant);
      // The host's key is in its answer, or was in its Bind. The controller may still know the key of the process that
      // hosted the terminator before, so that each answer contains the key of the process that accepted the circuit.
      const publicKey = answer.headers.bytes(edge.publicKey) ?? terminator.peerData.get(edge.publicKey);
      const hasKeys = publicKey !== undefined && incoming.peerData.has(edge.publicKey);
      if (circuit instanceof DataCircuit) circuit.start(hasKeys);
      return new Map(publicKey === undefined ? [] : [[edge.publicKey, publicKey]]);
    } catch (error) {
      circuit?.close();
      if (error instanceof ChannelError && error.code === 'timeout')
        throw new FrontdoorError('timeout', 'dial-timeout', `the host did not answer within ${timeoutMs} ms`);
      if (error instanceof ChannelError && error.code === 'closed')
        throw hostGone(this.#context.terminators.byId(terminator.id) !== undefined);
      throw error;
    }
  }

  async #onConnect(frame: Frame): Promise<void> {
    const connId = frame.headers.u32(edge.connId);
    if (connId === undefined) return;
    const fault =
      this.#connIdFault(connId) ??
      (this.#dialing.size >= MAX_PENDING_CONNECTS ? 'too many dials' : undefined) ??
      memoryFault(frame, this.session.identityId, this.#memory, this.#context.log);
    if (fault !== undefined) {
      this.channel.reply(frame, stateClosed(connId, fault));
      return;
    }
    this.#dialing.add(connId);
    try {
      await this.#dial(keptFrame(frame), connId);
    } finally {
      this.#memory.giveBack(this.session.identityId, costOf(frame));
    }
  }

  async #dial(frame: Frame, connId: number): Promise<void> {
    try {
      const { grants } = this.#context;
      const { session } = this;
      const grant =
        session instanceof TokenSession ? await grants.grant(session, textOfBody(frame), 'Dial') : undefined;
      if (grant !== undefined && 'fault' in grant) {
        this.#refuseDial(frame, connId, grant.fault);
        return;
      }
      if (!this.#dialing.has(connId)) return;
      const asked = { frame, session: this.session, fingerprint: this.channel.peer.fingerprint };
      const { created, controllerId } = await requestCircuit(asked, this.#context);
      this.#onCircuitCreated(frame, connId, created, controllerId, grant);
    } catch (error) {
      this.#refuseDial(frame, connId, messageOf(error), refusalCodes(error, this.isOurs));
    }
  }

  #refuseDial(frame: Frame, connId: number, reason: string, codes?: FrameHeaders): void {
    if (!this.#dialing.delete(connId)) return;
    const { identityId } = this.session;
    this.#context.summedLog.info(
      `${identityId} ${reason}`,
      { identity: identityId, err: reason },
      'dial failed',
    );
    // The text is never empty: the C SDK takes an empty one for an expired session and starts over.
    this.channel.reply(frame, stateClosed(connId, reason || 'dial failed', codes));
  }

  #onCircuitCreated(
    frame: Frame,
    connId: number,
    created: CircuitCreated,
    controllerId: string,
    grant: ConnectionGrant | undefined,
  ): void {
    // The policies may have changed while the controller created the circuit.
    const fault = grant === undefined ? undefined : this.#context.grants.faultOf(grant);
    if (!this.#dialing.has(connId) || this.channel.isClosed || fault !== undefined) {
      this.#context.reportFault(created.circuitId, controllerId, false);
      this.#refuseDial(frame, connId, fault ?? 'the channel is closed');
      return;
    }
    this.#dialing.delete(connId);
    const takesXgress = frame.headers.bool(edge.useXgressToSdk);
    const token = textOfBody(frame);
    const circuit = this.#openCircuit({ ...created, controllerId }, connId, false, takesXgress, token);
    if (grant !== undefined) this.#granted.set(connId, grant);
    this.channel.reply(frame, connectedFrame(connId, created, takesXgress ? controllerId : undefined));
    const hasKeys = frame.headers.has(edge.publicKey) && created.peerData.has(edge.publicKey);
    if (circuit instanceof DataCircuit) circuit.start(hasKeys);
  }

  /** Returns true for frames that cause an answer. Data of an open circuit causes none. */
  #isAnswered({ contentType: type, headers }: Frame): boolean {
    return type !== contentType.data || !this.#circuits.has(headers.u32(edge.connId) ?? -1);
  }

  #onSdkData(frame: Frame): void {
    const connId = frame.headers.u32(edge.connId);
    if (connId === undefined) return;
    const circuit = this.#circuits.get(connId);
    // An xgress SDK sends a Data FIN in addition to its EOF payload. It has no effect here.
    if (circuit instanceof DataCircuit)
      eachCircuit([circuit], this.#context.forwarder, (one) => one.onSdkData(frame));
    else if (circuit === undefined && frame.body.length > 0)
      this.channel.send(stateClosed(connId, 'no such connection'));
  }

  #onXgClose(circuitId: string): void {
    const ends = this.#xgressCircuits.get(circuitId);
    ends?.initiator?.close();
    ends?.terminator?.close();
  }

  #onStateClosed(frame: Frame): void {
    const connId = frame.headers.u32(edge.connId);
    if (connId === undefined) return;
    this.#dialing.delete(connId);
    this.binds.remove(connId);
    this.#circuits.get(connId)?.close();
  }

  #onTrace(frame: Frame): void {
    const circuit = this.#circuits.get(frame.headers.u32(edge.connId) ?? -1);
    if (circuit !== undefined) circuit.onTrace(frame);
    else this.channel.send(traceOfSdk(frame, undefined).frame);
  }

  #openCircuit(
    of: { readonly circuitId: string; readonly address: string; readonly controllerId: string },
    connId: number,
    isTerminator: boolean,
    isXgress: boolean,
    sessionToken: string,
  ): XgressCircuit | DataCircuit {
    const { forwarder, ends, log, xgress: config } = this.#context;
    const { circuitId, address, controllerId } = of;
    const options: EdgeCircuitOptions = {
      channel: this.channel,
      forwarder,
      circuitId,
      address,
      controllerId,
      connId,
      isTerminator,
      sessionToken,
      meters: isTerminator ? ends.egress : ends.ingress,
      gate: this.#gate,
      reading: this.#reading,
      onClosed: (circuit) => this.#onCircuitClosed(circuit),
      onEnded: (circuit) => this.#context.reportFault(circuitId, controllerId, circuit.isTerminator),
    };
    const circuit = isXgress
      ? new XgressCircuit(options)
      : new DataCircuit({ ...options, ends, config, log });
    this.#circuits.set(connId, circuit);
    if (circuit instanceof DataCircuit) {
      this.#dataCircuits.add(circuit);
    } else {
      this.#xgressCircuits.add(circuit);
    }
    forwarder.register(circuitId, address, circuit, controllerId);
    return circuit;
  }

  #onCircuitClosed(circuit: EdgeCircuit): void {
    this.#circuits.delete(circuit.connId);
    this.#granted.delete(circuit.connId);
    if (circuit instanceof DataCircuit) this.#dataCircuits.delete(circuit);
    this.#xgressCircuits.delete(circuit);
  }

  #connIdFault(connId: number): string | undefined {
    if (connId >= FIRST_ROUTER_CONN_ID) return 'connection id out of range';
    if (this.#circuits.has(connId) || this.binds.has(connId) || this.#dialing.has(connId)) {
      return 'connection id in use';
    }
    return this.#circuits.size + this.binds.size >= MAX_CONNECTIONS ? 'too many connections' : undefined;
  }

  #takeConnId(): number {
    do {
      this.#nextConnId = this.#nextConnId === 0xffff_ffff ? FIRST_ROUTER_CONN_ID : this.#nextConnId + 1;
    } while (this.#circuits.has(this.#nextConnId));
    return this.#nextConnId;
  }
}
