/**
 * What a controller's messages do at this router: log-ins, circuits, terminators. Runs on one channel's frames in
 * their order; what has to wait for an SDK runs on its own, so that the channel is never held up.
 */
import { FrontdoorError, messageOf, textOf, type Log } from '#base';
import type { Channel } from '#net';
import {
  contentType,
  encodeRouteResult,
  HeaderWriter,
  headerId,
  messageName,
  RouteErrorCode,
  WIRE_VERSION,
  type Frame,
} from '#wire';
import { ctrlMessages, type CtrlBody } from '#wire/ctrl';
import { HostRefusal } from '../edge/dial-refusal.ts';
import type { EdgePeer } from '../edge/edge-peer.ts';
import type { TerminatorRegistry } from '../edge/terminator-registry.ts';
import type { Forwarder } from '../forwarder.ts';
import type { ApiSessionRegistry } from './api-session-registry.ts';

/** A host must answer a Dial within this, however long the route may take. */
const MAX_HOST_DIAL_MS = 5_000;
const DEFAULT_ROUTE_MS = 10_000;
const MAX_SESSION_CHUNKS = 100_000;

export interface CtrlContext {
  readonly log: Log;
  readonly sessions: ApiSessionRegistry;
  readonly terminators: TerminatorRegistry;
  readonly forwarder: Forwarder;
  /** `host:port` that SDKs dial; undefined without an edge listener. */
  advertised(): { readonly host: string; readonly port: number; readonly bind: string } | undefined;
  peerOf(channel: Channel): EdgePeer | undefined;
  /** Circuits are owned by the controller that routed them. */
  ownCircuit(circuitId: string, channel: Channel): void;
  disownCircuit(circuitId: string): void;
  /** Renewed certificates of this router. */
  onCertificates(frame: Frame, channel: Channel): void;
}

export class CtrlHandlers {
  readonly #context: CtrlContext;
  readonly #channel: Channel;
  #chunks: { id: string; sessions: CtrlBody<'apiSessionAdded'>['apiSessions'] } | undefined;

  constructor(context: CtrlContext, channel: Channel) {
    this.#context = context;
    this.#channel = channel;
  }

  onFrame(frame: Frame): void {
    const { log, sessions, terminators } = this.#context;
    switch (frame.contentType) {
      case contentType.serverHello:
        this.#onServerHello(frame);
        return;
      case contentType.apiSessionAdded:
        this.#onSessionsAdded(frame);
        return;
      case contentType.apiSessionUpdated:
        sessions.add(ctrlMessages.apiSessionUpdated.decode(frame.body).apiSessions);
        return;
      case contentType.apiSessionRemoved:
        sessions.remove(ctrlMessages.apiSessionRemoved.decode(frame.body).tokens);
        return;
      case contentType.route:
        void this.#onRoute(frame);
        return;
      case contentType.unroute:
        this.#onUnroute(ctrlMessages.unroute.decode(frame.body).circuitId);
        return;
      case contentType.createTerminatorV2Response:
        terminators.onCreateResponse(ctrlMessages.createTerminatorV2Response.decode(frame.body));
        return;
      case contentType.validateTerminatorsV2: {
        const states = terminators.states(ctrlMessages.validateTerminatorsV2.decode(frame.body).terminators);
        this.#channel.reply(frame, ctrlMessages.validateTerminatorsV2Response.frame({ states }));
        return;
      }
      case contentType.validateTerminators:
        this.#onValidateTerminators(frame);
        return;
      case contentType.enrollmentCertsResponse:
        this.#context.onCertificates(frame, this.#channel);
        return;
      case contentType.inspectRequest:
        this.#channel.reply(frame, ctrlMessages.inspectResponse.frame({ success: true }));
        return;
      case contentType.result:
      case contentType.error:
        log.debug({ text: textOf(frame.body) }, 'late answer of the controller');
        return;
      default:
        log.debug({ type: messageName(frame.contentType) }, 'controller message without effect');
    }
  }

  #onServerHello(frame: Frame): void {
    const advertised = this.#context.advertised();
    const listeners =
      advertised === undefined
        ? []
        : [
            {
              address: {
                value: `tls:${advertised.bind}`,
                protocol: 'tls',
                ...splitHostPort(advertised.bind),
              },
              advertise: {
                value: `${advertised.host}:${advertised.port}`,
                protocol: 'tls',
                hostname: advertised.host,
                port: advertised.port,
              },
            },
          ];
    const hello = ctrlMessages.clientHello.frame(
      {
        version: WIRE_VERSION,
        hostname: advertised?.host ?? '',
        protocols: advertised === undefined ? [] : ['tls'],
        protocolPorts: advertised === undefined ? [] : [String(advertised.port)],
        listeners,
      },
      new HeaderWriter().bool(headerId.edgeCtrl.routerDataModel, false),
    );
    this.#channel.reply(frame, hello);
  }

  /** A full set comes in chunks and counts only when it is whole. */
  #onSessionsAdded(frame: Frame): void {
    const { isFullState, apiSessions } = ctrlMessages.apiSessionAdded.decode(frame.body);
    if (!isFullState) {
      this.#context.sessions.add(apiSessions);
      return;
    }
    const { id, isLast } = chunkState(frame);
    if (this.#chunks === undefined || this.#chunks.id !== id) this.#chunks = { id, sessions: [] };
    this.#chunks.sessions.push(...apiSessions);
    if (this.#chunks.sessions.length > MAX_SESSION_CHUNKS * 100) {
      throw new FrontdoorError('protocol', 'too-many-sessions', 'the session set never ends');
    }
    if (!isLast) return;
    const { sessions } = this.#chunks;
    this.#chunks = undefined;
    this.#context.sessions.replaceAll(sessions);
  }

  async #onRoute(frame: Frame): Promise<void> {
    const receivedMs = performance.now();
    let circuitId = '';
    let attempt = 0;
    try {
      const route = ctrlMessages.route.decode(frame.body);
      ({ circuitId, attempt } = route);
      this.#context.ownCircuit(circuitId, this.#channel);
      const peerData = route.egress === undefined ? new Map() : await this.#dialEgress(route, receivedMs);
      const forwards = route.forwards.map(({ srcAddress, dstAddress }) => ({
        source: srcAddress,
        destination: dstAddress,
      }));
      this.#context.forwarder.route(circuitId, forwards);
      this.#channel.send(
        encodeRouteResult(frame, { circuitId, attempt, isSuccess: true, error: '', errorCode: 0, peerData }),
      );
    } catch (error) {
      const errorCode = routeErrorCode(error);
      this.#context.log.info({ circuit: circuitId, err: messageOf(error), code: errorCode }, 'route failed');
      if (circuitId === '') return;
      const failure = {
        circuitId,
        attempt,
        isSuccess: false,
        error: messageOf(error),
        errorCode,
        peerData: new Map(),
      };
      this.#channel.send(encodeRouteResult(frame, failure));
    }
  }

  /** Both ends of a circuit are on one router until routers have links: nothing of it can still be on its way. */
  #onUnroute(circuitId: string): void {
    this.#context.disownCircuit(circuitId);
    this.#context.forwarder.unroute(circuitId);
  }

  async #dialEgress(route: CtrlBody<'route'>, receivedMs: number): Promise<ReadonlyMap<number, Uint8Array>> {
    const { binding, address, destination, peerData } = route.egress!;
    if (binding !== 'edge') {
      throw new FrontdoorError(
        'invalid',
        'unknown-binding',
        `no dialer for binding "${binding}" on this router`,
      );
    }
    if (this.#context.forwarder.hasDestination(address)) return new Map();
    const terminator = this.#context.terminators.byId(destination.replace(/^hosted:/, ''));
    const host = terminator === undefined ? undefined : this.#context.peerOf(terminator.channel);
    if (terminator === undefined || host === undefined) {
      throw new FrontdoorError(
        'notFound',
        'unknown-terminator',
        `terminator ${destination} is not hosted here`,
      );
    }
    const routeMs = route.timeout > 0n ? Number(route.timeout / 1_000_000n) : DEFAULT_ROUTE_MS;
    const timeoutMs = Math.max(1, Math.min(MAX_HOST_DIAL_MS, routeMs - (performance.now() - receivedMs)));
    const incoming = {
      circuitId: route.circuitId,
      address,
      controllerId: this.#channel.peer.id,
      peerData: new Map(Object.entries(peerData).map(([key, value]) => [Number(key), value])),
    };
    return host.dialHost(terminator, incoming, timeoutMs);
  }

  #onValidateTerminators(frame: Frame): void {
    const { terminators } = ctrlMessages.validateTerminators.decode(frame.body);
    const invalid = terminators
      .map(({ id }) => id)
      .filter((id) => this.#context.terminators.byId(id) === undefined);
    for (let at = 0; at < invalid.length; at += 50) {
      this.#channel.send(ctrlMessages.removeTerminators.frame({ terminatorIds: invalid.slice(at, at + 50) }));
    }
  }
}

function routeErrorCode(error: unknown): number {
  if (error instanceof HostRefusal) return error.routeCode;
  if (!(error instanceof FrontdoorError)) return RouteErrorCode.generic;
  if (error.code === 'unknown-terminator') return RouteErrorCode.invalidTerminator;
  if (error.code === 'unknown-binding') return RouteErrorCode.misconfiguredTerminator;
  return error.kind === 'timeout' ? RouteErrorCode.dialTimeout : RouteErrorCode.generic;
}

/** Header 1014 of a full session set: which set this chunk is of, and whether it is the last. */
function chunkState(frame: Frame): { id: string; isLast: boolean } {
  try {
    const state: unknown = JSON.parse(frame.headers.text(headerId.apiSessions.state) ?? '{"isLast":true}');
    const { id, isLast } = state as { id?: unknown; isLast?: unknown };
    return { id: typeof id === 'string' ? id : '', isLast: isLast === true };
  } catch (cause) {
    throw new FrontdoorError('protocol', 'malformed-headers', 'malformed session set', { cause });
  }
}

function splitHostPort(text: string): { hostname: string; port: number } {
  const at = text.lastIndexOf(':');
  return { hostname: text.slice(0, at), port: Number(text.slice(at + 1)) };
}
