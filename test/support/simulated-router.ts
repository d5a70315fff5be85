/**
 * The parts of a router that agents and dials meet, put together without connections: edge channels, terminators, routes.
 * It is connected to a real control plane of the same process.
 */
import { X509Certificate } from 'node:crypto';
import { silentLog, WorkerPool } from '#base';
import { SummedLog } from '#net';
import type { Channel } from '#net/channel';
import { contentType, HeaderWriter, headerId, type Frame } from '#wire';
import { decodeCircuitCreated, decodeEdgeRefusal } from '#wire/circuits';
import { ctrlMessages, encodeRouterHello, FaultSubject } from '#wire/ctrl';
import { VERSION_TEXT, type OverlayWorld } from '../../src/control/overlay/testing/overlay-world.ts';
import { CircuitRoutes } from '../../src/router/circuits/circuit-routes.ts';
import {
  FORWARDER_DEFAULTS,
  XGRESS_CONFIG_DEFAULTS,
} from '../../src/router/config/testing/router-config-defaults.ts';
import { CircuitAsker } from '../../src/router/ctrl/circuit-asker.ts';
import type { Controller, CtrlHandlers } from '../../src/router/ctrl/controllers.ts';
import { edgeDialer } from '../../src/router/edge/edge-dialer.ts';
import { EdgePeer } from '../../src/router/edge/edge-peer.ts';
import type { EdgePeerContext } from '../../src/router/edge/edge-peer-context.ts';
import { EdgeTerminatorRegistry } from '../../src/router/edge/edge-terminator-registry.ts';
import { TerminatorMessages } from '../../src/router/edge/terminator-messages.ts';
import { CircuitFaults } from '../../src/router/forwarder/circuit-faults.ts';
import { Forwarder } from '../../src/router/forwarder/forwarder.ts';
import { NO_METRICS } from '../../src/router/metrics/metrics.ts';
import { ControllerList } from '../../src/router/testing/controller-list.ts';
import { EgressDialers } from '../../src/router/xgress/egress-dialers.ts';
import { XgressEnds } from '../../src/router/xgress/xgress-ends.ts';

const DIAL_MS = 30_000;
const REQUEST_MS = 5_000;

export class SimulatedRouter {
  readonly id: string;
  readonly #world: OverlayWorld;
  readonly #controllers = new ControllerList();
  readonly #peers = new Map<Channel, EdgePeer>();
  readonly #faults: CircuitFaults;
  readonly #forwarder: Forwarder;
  readonly #ends: XgressEnds;
  readonly #routes: CircuitRoutes;
  readonly #terminators: EdgeTerminatorRegistry;
  readonly #handlers: CtrlHandlers;
  readonly #context: EdgePeerContext;
  #controller: Controller | undefined;
  #isClosed = false;

  constructor(id: string, world: OverlayWorld) {
    this.id = id;
    this.#world = world;
    const common = { metrics: NO_METRICS, log: silentLog };
    const controllers = this.#controllers;
    this.#faults = new CircuitFaults({ controllers, faultTxIntervalMs: 1_000, ...common });
    this.#forwarder = new Forwarder({
      routerId: id,
      faults: this.#faults,
      closeCheckIntervalMs: FORWARDER_DEFAULTS.xgressCloseCheckIntervalMs,
      metrics: NO_METRICS,
    });
    this.#ends = new XgressEnds({ forwarder: this.#forwarder, faults: this.#faults, ...common });
    const dialers = new EgressDialers([]);
    const config = FORWARDER_DEFAULTS;
    this.#routes = new CircuitRoutes({ forwarder: this.#forwarder, dialers, config, log: silentLog });
    this.#terminators = new EdgeTerminatorRegistry({
      log: silentLog,
      requestTimeoutMs: REQUEST_MS,
      controllers,
      pool: new WorkerPool({ name: 'terminators', queueLength: 1_000, workerCount: 10, log: silentLog }),
      onEstablished: (terminator) => this.#peers.get(terminator.channel)?.binds.onEstablished(terminator),
      onFailed: (terminator, reason) =>
        this.#peers.get(terminator.channel)?.binds.onFailed(terminator, reason),
    });
    const peerOf = (channel: Channel): EdgePeer | undefined => this.#peers.get(channel);
    const xgress = XGRESS_CONFIG_DEFAULTS;
    dialers.add('edge', edgeDialer({ terminators: this.#terminators, peerOf, config: xgress }));
    this.#handlers = new Map([
      ...this.#routes.handlers(),
      ...new TerminatorMessages(this.#terminators, []).handlers(),
    ]);
    this.#context = {
      log: silentLog,
      summedLog: new SummedLog(silentLog),
      forwarder: this.#forwarder,
      terminators: this.#terminators,
      asker: new CircuitAsker(controllers),
      // Sessions here are announced ones.
      grants: undefined!,
      tokenSessions: undefined!,
      sendToControllers: (frame) => controllers.broadcast(frame) > 0,
      reportFault: (circuitId, controllerId, isTerminator) =>
        this.#faults.onCircuitClosed(circuitId, controllerId, isTerminator),
      ends: this.#ends,
      xgress,
    };
  }

  get isConnected(): boolean {
    return this.#controller !== undefined;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Whether it has a bind of the environment, over a channel that it believes to be alive. */
  hosts(environmentId: string): boolean {
    return [...this.#peers.values()].some(
      ({ session, binds }) => session.identityId === environmentId && binds.size > 0,
    );
  }

  loseController(): void {
    this.#controller?.channel.close('lost');
  }

  async connect(): Promise<void> {
    if (this.#isClosed || this.#controller !== undefined) return;
    const { cert } = await this.#world.identityOf(this.id);
    const channel = await this.#world.controller.acceptMemory({
      helloId: this.id,
      helloHeaders: encodeRouterHello(VERSION_TEXT, []),
      certificate: new X509Certificate(cert),
    });
    const controller: Controller = {
      id: 'ctrl1',
      version: 'v1.7.2',
      channel,
      isResponsive: true,
      suspect: () => {},
    };
    channel.handle({
      onFrame: (frame) => this.#handlers.get(frame.contentType)?.(frame, controller),
      onClose: () => {
        if (this.#controller !== controller) return;
        this.#controller = undefined;
        this.#controllers.remove(controller);
      },
    });
    const headers = new HeaderWriter().bool(headerId.edgeCtrl.routerDataModel, true);
    channel.send(ctrlMessages.clientHello.frame({ version: 'v1.7.2', listeners: [] }, headers));
    this.#controller = controller;
    this.#controllers.add(controller);
  }

  /** The far end of an agent's channel. */
  accept(channel: Channel, environmentId: string): void {
    const session = {
      id: `session-${environmentId}`,
      token: `token-${environmentId}`,
      identityId: environmentId,
      fingerprints: [`fp-${environmentId}`],
    };
    const peer = new EdgePeer(channel, session, this.#context);
    this.#peers.set(channel, peer);
    channel.handle({
      onFrame: (frame) => peer.onFrame(frame),
      onData: (frame) => peer.onData(frame),
      onBodyPart: (part) => peer.onBodyPart(part),
      onDrain: () => peer.onDrain(),
      onClose: () => {
        this.#peers.delete(channel);
        peer.onClosed();
      },
    });
  }

  /** Asks for a circuit as for a gateway, and ends it. Resolves with why there was none. */
  async dial(dialerId: string, serviceId: string): Promise<string | undefined> {
    const channel = this.#controller?.channel;
    if (channel === undefined) return 'no control plane';
    let answer: Frame;
    try {
      answer = await channel.request(this.#world.dialFrame(dialerId, serviceId), DIAL_MS);
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
    if (answer.contentType !== contentType.createCircuitV2Response) return decodeEdgeRefusal(answer).text;
    const { circuitId: id } = decodeCircuitCreated(answer);
    channel.send(ctrlMessages.fault.frame({ subject: FaultSubject.INGRESS_FAULT, id }));
    return undefined;
  }

  /** Loses everything but its identity. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#terminators.close();
    for (const { channel } of [...this.#peers.values()]) channel.close('the router is stopping');
    this.#controller?.channel.close('the router is stopping');
    this.#ends.close();
    this.#routes.close();
    this.#faults.close();
    this.#forwarder.close();
  }
}
