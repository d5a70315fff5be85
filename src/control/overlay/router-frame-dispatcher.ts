/**
 * Dispatches frames from a router to the part that handles them. Unknown types are ignored, as the protocol
 * requires; a malformed body closes only that router's channel. Frames are accepted only from a router's current
 * channel.
 */
import { FrontdoorError, messageOf, type Clock, type Log } from '#base';
import { failAlone } from '#net';
import { contentType, headerId, messageName, textOfBody, type Frame } from '#wire';
import { decodeRouteResult } from '#wire/circuits';
import { ctrlMessages, type CtrlBody } from '#wire/ctrl';
import type { FabricEvents } from './model/fabric-events.ts';
import type { OverlayModel } from './model/overlay-model.ts';
import { CircuitBuilder } from './circuits/circuit-builder.ts';
import type { CircuitParts } from './circuit-parts.ts';
import {
  DIRECT_DIALS,
  FABRIC_DIALS,
  SDK_DIALS,
  TUNNEL_DIALS,
  type CircuitRequestKind,
} from './circuits/circuit-request-kinds.ts';
import { isOnPath } from './circuits/circuit-registry.ts';
import type { ConnectedRouter } from './mesh/connected-router.ts';
import type { MeshParts } from './mesh-parts.ts';
import type { PermissionParts } from './permission-parts.ts';
import type { RequestHandlers } from './request-handlers.ts';
import {
  FABRIC_REQUESTS,
  SDK_REQUESTS,
  TUNNEL_REQUESTS,
  type TerminatorRequestKind,
} from './terminators/terminator-request-kinds.ts';

export interface DispatcherParts {
  readonly model: OverlayModel;
  readonly mesh: MeshParts;
  readonly circuits: CircuitParts;
  readonly permissions: PermissionParts;
  readonly requests: RequestHandlers;
  readonly events: FabricEvents;
  readonly clock: Clock;
  readonly log: Log;
}

type ConnectDetails = CtrlBody<'connectEvents'>['events'][number]['connectTimes'][number];

type Handler = (router: ConnectedRouter, frame: Frame) => void | Promise<void>;

const MAX_CIRCUITS_PER_MESSAGE = 10_000;
const MAX_VALIDATED_SESSIONS = 256;
const MAX_CONNECTS_PER_IDENTITY = 100;
const MAX_PORT = 65_535;
const DIALED_PROTOCOL = 'tls';

const unsupported: Handler = (router, frame) =>
  router.result(frame, false, 'not supported by this controller');

export class RouterFrameDispatcher {
  readonly #parts: DispatcherParts;
  readonly #handlers: ReadonlyMap<number, Handler>;

  constructor(parts: DispatcherParts) {
    this.#parts = parts;
    this.#handlers = new Map<number, Handler>([
      [contentType.ping, (router, frame) => router.result(frame, true, 'ok')],
      [contentType.clientHello, (router, frame) => this.#onClientHello(router, frame)],
      [contentType.validateSessions, (router, frame) => this.#onValidateSessions(router, frame)],
      [contentType.connectEvents, (router, frame) => this.#onConnectEvents(router, frame)],
      [contentType.routeResult, (router, frame) => this.#onRouteResult(router, frame)],
      [contentType.circuitConfirmation, (router, frame) => this.#onConfirmation(router, frame)],
      [contentType.verifyRouter, (router, frame) => this.#onVerifyRouter(router, frame)],
      [contentType.updateRouterInterfaces, (router, frame) => router.result(frame, true)],
      [contentType.quiesceRouter, (router, frame) => this.#onQuiesce(router, frame, true)],
      [contentType.dequiesceRouter, (router, frame) => this.#onQuiesce(router, frame, false)],
      // Only the operator can delete a router.
      [contentType.decommissionRouter, unsupported],
      [contentType.result, (router, frame) => this.#onStrayResult(router, frame)],
      ...circuitHandlers(parts.requests),
      ...terminatorHandlers(parts),
      ...permissionHandlers(parts),
      ...meshHandlers(parts),
    ]);
  }

  dispatch(router: ConnectedRouter, frame: Frame): void {
    if (!this.#parts.mesh.routers.isCurrent(router)) return;
    const handler = this.#handlers.get(frame.contentType);
    if (handler === undefined) {
      this.#parts.log.debug(
        { router: router.id, message: messageName(frame.contentType) },
        'message ignored',
      );
      return;
    }
    try {
      const pending = handler(router, frame);
      if (pending !== undefined) pending.catch((error: unknown) => this.#onFailure(router, frame, error));
    } catch (error) {
      this.#onFailure(router, frame, error);
    }
  }

  #onFailure(router: ConnectedRouter, frame: Frame, error: unknown): void {
    const fields = { router: router.id, message: messageName(frame.contentType), err: error };
    if (error instanceof FrontdoorError && error.kind === 'protocol') {
      this.#parts.log.warn(fields, 'malformed message, control channel closed');
      router.channel.close(messageOf(error));
      return;
    }
    // The error is ours, not the peer's, so the channel stays open. A router that waits for an answer gets one.
    const fail = (): void => router.result(frame, false, 'internal error of the controller');
    failAlone(
      { kind: 'message', id: `${fields.message} of ${router.id}`, log: this.#parts.log, fail },
      error,
    );
  }

  #onClientHello(router: ConnectedRouter, frame: Frame): void {
    const { mesh, permissions, clock } = this.#parts;
    const { sessionFeed, dataModel } = permissions;
    const hello = ctrlMessages.clientHello.decode(frame.body);
    const advertised = hello.listeners.map(({ advertise }) => advertise);
    // Our clients dial `tls` alone; a router can have a listener of another protocol beside it, or instead.
    const dialed = advertised.find((one) => one?.protocol === DIALED_PROTOCOL);
    const hostname = dialed?.hostname ?? hello.hostname;
    const port = dialed?.port ?? Number(hello.protocolPorts[0]);
    const isNumber = Number.isInteger(port) && port > 0 && port <= MAX_PORT;
    const isUsable = hostname !== '' && isNumber && (dialed !== undefined || advertised.length === 0);
    mesh.routers.setEdge(router, isUsable ? { hostname, port } : undefined);
    router.hasEdge = true;
    router.wantsPublicKeys = frame.headers.bool(headerId.edgeCtrl.routerDataModel);
    sessionFeed.sendAll(router, clock.nowMs());
    if (router.wantsPublicKeys) dataModel.sendKeys(router);
  }

  /** Only identities of the model count. That bounds what is kept of them, here and by those who are notified. */
  #onConnectEvents(router: ConnectedRouter, frame: Frame): void {
    const { model, circuits } = this.#parts;
    const { events, fullState } = ctrlMessages.connectEvents.decode(frame.body);
    const present = router.presentIdentities;
    const changed = new Set(fullState ? present : []);
    if (fullState) present.clear();
    for (const { identityId, isConnected, connectTimes } of events) {
      const isKnown = model.identity(identityId) !== undefined;
      if (isKnown && isConnected) present.add(identityId);
      else present.delete(identityId);
      if (!isKnown) continue;
      changed.add(identityId);
      this.#reportConnects(router, identityId, connectTimes);
    }
    circuits.prober.onPresence(changed);
  }

  #reportConnects(router: ConnectedRouter, identityId: string, connects: readonly ConnectDetails[]): void {
    const { events } = this.#parts;
    if (!events.has('connect')) return;
    for (const { connectTime, srcAddr, dstAddr } of connects.slice(0, MAX_CONNECTS_PER_IDENTITY))
      events.emit('connect', {
        sourceType: 'identity',
        sourceId: identityId,
        sourceAddress: srcAddr,
        destinationType: 'router',
        destinationId: router.id,
        destinationAddress: dstAddr,
        atMs: Number(connectTime),
      });
  }

  #onValidateSessions(router: ConnectedRouter, frame: Frame): void {
    const { sessionTokens } = ctrlMessages.validateSessions.decode(frame.body);
    const asked = sessionTokens.slice(0, MAX_VALIDATED_SESSIONS);
    const dead = asked.filter((token) => !this.#parts.permissions.sessionCheck.isAlive(token));
    if (dead.length > 0) router.send(ctrlMessages.sessionRemoved.frame({ tokens: dead }));
  }

  #onRouteResult(router: ConnectedRouter, frame: Frame): void {
    const { mesh, log } = this.#parts;
    const { builder, rerouter, prober } = this.#parts.circuits;
    const { circuits } = mesh;
    const result = decodeRouteResult(frame);
    if (builder.onRouteResult(router, result)) return;
    if (rerouter.onRouteResult(router, frame, result) || prober.onRouteResult(router, result)) return;
    const circuit = circuits.get(result.circuitId);
    if (!CircuitBuilder.isStray(result) || (circuit !== undefined && isOnPath(circuit, router.id))) return;
    log.debug({ router: router.id, circuit: result.circuitId }, 'late response to a Route');
    if (result.isSuccess) circuits.unroute(result.circuitId, [router.id], true);
  }

  #onQuiesce(router: ConnectedRouter, frame: Frame, isQuiesced: boolean): void {
    const { mesh, circuits, log } = this.#parts;
    mesh.routers.setQuiesced(router.id, isQuiesced);
    if (isQuiesced) circuits.leaving.onQuiesced(router.id);
    const text = isQuiesced ? 'router quiesced' : 'router dequiesced';
    log.info({ router: router.id }, text);
    router.result(frame, true, text);
  }

  #onConfirmation(router: ConnectedRouter, frame: Frame): void {
    const { circuits } = this.#parts.mesh;
    const { circuitIds } = ctrlMessages.circuitConfirmation.decode(frame.body);
    for (const id of circuitIds.slice(0, MAX_CIRCUITS_PER_MESSAGE)) {
      const circuit = circuits.get(id);
      if (circuit === undefined || !isOnPath(circuit, router.id)) circuits.unroute(id, [router.id], true);
    }
  }

  #onVerifyRouter(router: ConnectedRouter, frame: Frame): void {
    const { routerId, fingerprints } = ctrlMessages.verifyRouter.decode(frame.body);
    const identity = this.#parts.model.identity(routerId);
    // The leaf is first; further entries prove nothing.
    const leaf = fingerprints[0];
    const isKnown = identity?.kind === 'router' && leaf !== undefined && identity.fingerprints.includes(leaf);
    router.result(frame, isKnown, isKnown ? 'router verified' : 'no such router with this certificate');
  }

  #onStrayResult(router: ConnectedRouter, frame: Frame): void {
    this.#parts.log.debug({ router: router.id, text: textOfBody(frame) }, 'result without a pending request');
  }
}

const CIRCUIT_REQUESTS: readonly [number, CircuitRequestKind][] = [
  [contentType.createCircuitV2, SDK_DIALS],
  [contentType.createCircuitV3, DIRECT_DIALS],
  [contentType.createTunnelCircuitV2, TUNNEL_DIALS],
  [contentType.circuitRequest, FABRIC_DIALS],
];

function circuitHandlers({ circuitRequests }: RequestHandlers): [number, Handler][] {
  return CIRCUIT_REQUESTS.map(([type, kind]) => [
    type,
    (router, frame) => circuitRequests.create(kind, router, frame),
  ]);
}

const TERMINATOR_REQUESTS: readonly ['create' | 'change' | 'remove', number, TerminatorRequestKind][] = [
  ['create', contentType.createTerminatorV2, SDK_REQUESTS],
  ['change', contentType.updateEdgeTerminator, SDK_REQUESTS],
  ['remove', contentType.removeEdgeTerminator, SDK_REQUESTS],
  ['create', contentType.createTunnelTerminatorV2, TUNNEL_REQUESTS],
  ['change', contentType.updateTunnelTerminator, TUNNEL_REQUESTS],
  ['remove', contentType.removeTunnelTerminator, TUNNEL_REQUESTS],
  ['create', contentType.createTerminator, FABRIC_REQUESTS],
  ['change', contentType.updateTerminator, FABRIC_REQUESTS],
  ['remove', contentType.removeTerminator, FABRIC_REQUESTS],
];

function terminatorHandlers({ requests, circuits }: DispatcherParts): [number, Handler][] {
  const { terminatorRequests: terminators } = requests;
  const { validation } = circuits;
  return [
    ...TERMINATOR_REQUESTS.map(([verb, type, kind]): [number, Handler] => [
      type,
      (router, frame) => terminators[verb](kind, router, frame),
    ]),
    [contentType.removeTerminators, (router, frame) => terminators.removeSeveral(router, frame)],
    [contentType.healthEvent, (router, frame) => terminators.health(router, frame)],
    [contentType.tunnelHealthEvent, (router, frame) => terminators.tunnelHealth(router, frame)],
    [contentType.validateTerminatorsV2Response, (router, frame) => validation.onAnswer(router, frame)],
  ];
}

/** Sessions, the data model, and certificates of routers. */
function permissionHandlers({ permissions, clock }: DispatcherParts): [number, Handler][] {
  const { sessionFeed, dataModel, certificates } = permissions;
  return [
    [contentType.requestClientReSync, (router) => sessionFeed.onResyncRequest(router)],
    [contentType.apiSessionHeartbeat, (_router, frame) => sessionFeed.onHeartbeat(frame)],
    [
      contentType.subscribeToDataModel,
      (router, frame) => dataModel.onSubscribe(router, frame, clock.nowMs()),
    ],
    [contentType.enrollmentExtendRouter, (router, frame) => certificates.onRequest(router, frame)],
    [contentType.enrollmentExtendRouterVerify, (router, frame) => certificates.onVerify(router, frame)],
  ];
}

/** Links, peers, and what routers report about themselves. */
function meshHandlers({ mesh, requests }: DispatcherParts): [number, Handler][] {
  const { peers, membership, inspection, traces } = mesh;
  const { linkReports, alerts } = requests;
  return [
    [contentType.fault, (router, frame) => linkReports.onFault(router, frame)],
    [contentType.routerLinks, (router, frame) => linkReports.onLinks(router, frame)],
    [contentType.linkState, (router, frame) => linkReports.onState(router, frame)],
    [contentType.metrics, (router, frame) => linkReports.onMetrics(router, frame)],
    [contentType.updateLinkListeners, (router, frame) => peers.onListeners(router, frame)],
    [contentType.requestClusterMembers, (router) => membership.onRequest(router)],
    [contentType.inspectRequest, (router, frame) => inspection.answer(router, frame)],
    [contentType.traceEvent, (router, frame) => traces.onEvent(router, frame)],
    [contentType.alerts, (router, frame) => alerts.onAlerts(router, frame)],
  ];
}
