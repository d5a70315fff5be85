/**
 * There are three kinds of requests for circuits: an SDK dials, with a service session or by the policies that its router has
 * evaluated (V3 of OpenZiti 2.1); a router dials as its own tunnel identity; or a router dials a service of the fabric for
 * one of its own listeners, without an identity. A kind reads its message, finds out who may dial what, and has its form of
 * answers. circuit-requests.ts does the rest for all.
 */
import { headerId, type Frame } from '#wire';
import {
  decodeCreateCircuitV2,
  decodeCreateCircuitV3,
  EdgeErrorCode,
  encodeCircuitCreated,
  encodeCircuitFailed,
  encodeCircuitSuccess,
  encodeEdgeRefusal,
  peerDataEntries,
  RetryHint,
  type CircuitRequestV2,
  type PeerDataEntry,
} from '#wire/circuits';
import { ctrlMessages } from '#wire/ctrl';
import type { FabricService, OverlayModel } from '../model/overlay-model.ts';
import type { Service } from '../model/service.ts';
import type { ServiceSessionCheck, SessionVerdict } from '../permits/service-session-check.ts';
import { refusalOf } from '../permits/request-refusal.ts';
import { judgeTunnel } from '../permits/tunnel-access.ts';
import type { ConnectedRouter } from '../mesh/connected-router.ts';
import { isTooMuchPeerData } from '../mesh/peer-data.ts';
import type { DialedService } from '../terminators/terminator-selector.ts';
import type { CircuitFailure, CircuitOutcome } from './circuit-builder.ts';

export interface DialJudges {
  readonly model: OverlayModel;
  readonly sessions: ServiceSessionCheck;
}

/** A dial that is permitted. */
export interface PermittedDial {
  readonly service: DialedService;
  /** Undefined if the router itself dials. */
  readonly identityId: string | undefined;
  /** Undefined without a service session. */
  readonly sessionId: string | undefined;
  readonly instanceId: string;
  readonly peerData: Iterable<readonly [number, Uint8Array]>;
}

export interface RefusedDial extends CircuitFailure {
  /** For refusals that belong in the audit trail. */
  readonly audit?: {
    readonly identityId: string | undefined;
    readonly reason: string;
    readonly share?: string | undefined;
  };
}

export interface CircuitRequestKind {
  /** @throws FrontdoorError `protocol` */
  read(judges: DialJudges, router: ConnectedRouter, frame: Frame): PermittedDial | RefusedDial;
  grant(router: ConnectedRouter, asked: Frame, circuit: Extract<CircuitOutcome, { isMade: true }>): void;
  refuse(router: ConnectedRouter, asked: Frame, failure: CircuitFailure): void;
}

const MAX_SERVICE_CHARACTERS = 512;
/** Lower numbers are headers of the channel. */
const FIRST_PEER_DATA_KEY = 128;

const SDK_ANSWERS: Pick<CircuitRequestKind, 'grant' | 'refuse'> = {
  grant(router, asked, { circuit, ingressAddress: address, peerData, tags }) {
    router.send(encodeCircuitCreated(asked, { circuitId: circuit.id, address, peerData, tags }));
  },
  refuse(router, asked, failure) {
    router.send(encodeEdgeRefusal(asked, failure));
  },
};

export const SDK_DIALS: CircuitRequestKind = {
  grant: SDK_ANSWERS.grant,
  refuse: SDK_ANSWERS.refuse,
  read({ sessions }, router, frame) {
    const request = decodeCreateCircuitV2(frame);
    return dialOfSdk(request, sessions.judge(request, 'Dial', router.id));
  },
};

export const DIRECT_DIALS: CircuitRequestKind = {
  grant: SDK_ANSWERS.grant,
  refuse: SDK_ANSWERS.refuse,
  read({ sessions }, router, frame) {
    const request = decodeCreateCircuitV3(frame);
    if (request.circuitId === '') return dialOfSdk(request, sessions.judgeDirectDial(request, router.id));
    // OpenZiti's routers leave it to the controller. An id of a router could be that of another circuit.
    const text = 'this controller chooses the ids of circuits';
    return { text, code: EdgeErrorCode.internal, retryHint: RetryHint.notRetriable };
  },
};

/**
 * Where a service of the edge management API and a private share have one name, the service is dialed. Services of the fabric
 * are not dialed this way.
 */
export const TUNNEL_DIALS: CircuitRequestKind = {
  read({ model }, router, frame) {
    const { id } = router;
    const request = ctrlMessages.createTunnelCircuitV2.decode(frame.body);
    const named =
      model.edge.serviceNamed(request.serviceName) ?? model.grantedService(id, request.serviceName);
    const verdict = judgeTunnel(model, id, named, 'Dial');
    if (!verdict.isAllowed) return refusalOf({ ...verdict, identityId: id });
    if (isTooMuchPeerData(request.peerData)) return tooMuchPeerData();
    return {
      service: dialed(verdict.service),
      identityId: id,
      sessionId: undefined,
      instanceId: request.terminatorInstanceId,
      peerData: pairs(request.peerData),
    };
  },
  grant(router, asked, { circuit, ingressAddress: address, peerData, tags }) {
    const granted = ctrlMessages.createTunnelCircuitV2Response.frame({
      circuitId: circuit.id,
      address,
      peerData: peerDataEntries(peerData),
      tags: Object.fromEntries(tags),
    });
    router.channel.reply(asked, granted);
  },
  refuse: SDK_ANSWERS.refuse,
};

export const FABRIC_DIALS: CircuitRequestKind = {
  read({ model }, _router, frame) {
    const request = ctrlMessages.circuitRequest.decode(frame.body);
    const found = findFabricService(model, request.service);
    if ('code' in found) return found;
    if (isTooMuchPeerData(request.peerData)) return tooMuchPeerData();
    const peerData = pairs(request.peerData);
    return { ...found, identityId: undefined, sessionId: undefined, peerData };
  },
  grant(router, asked, { circuit, ingressAddress: address, peerData }) {
    const ofHost = [...peerData].filter(
      ([key]) => key >= FIRST_PEER_DATA_KEY && key !== headerId.ctrl.ingressAddress,
    );
    const granted = { circuitId: circuit.id, address, peerData: new Map(ofHost) };
    router.channel.send(encodeCircuitSuccess(asked, granted));
  },
  refuse(router, asked, { text }) {
    router.channel.send(encodeCircuitFailed(asked, text));
  },
};

function dialOfSdk(
  { terminatorInstanceId: instanceId, peerData }: Omit<CircuitRequestV2, 'sessionToken'>,
  verdict: SessionVerdict,
): PermittedDial | RefusedDial {
  if (!verdict.isAllowed) return refusalOf(verdict);
  const { session, service } = verdict;
  const { id: sessionId, identityId } = session;
  return { service: dialed(service), identityId, sessionId, instanceId, peerData };
}

function dialed(service: Service): DialedService {
  return { id: service.id, name: service.name };
}

function tooMuchPeerData(): RefusedDial {
  return { text: 'too much peer data', code: EdgeErrorCode.internal, retryHint: RetryHint.tooBusy };
}

function pairs(entries: readonly PeerDataEntry[]): [number, Uint8Array][] {
  return entries.map(({ key, value }) => [key, value]);
}

/** Finds a service by id or name, also as `instance@service`. */
function findFabricService(
  model: OverlayModel,
  text: string,
): { readonly service: FabricService; readonly instanceId: string } | RefusedDial {
  const lookUp = (named: string): FabricService | undefined =>
    model.fabricService(named) ?? model.fabricServiceNamed(named);
  const whole = lookUp(text);
  if (whole !== undefined) return { service: whole, instanceId: '' };
  const at = text.indexOf('@');
  const named = at < 0 ? text : text.slice(at + 1);
  const service = at < 0 ? undefined : lookUp(named);
  if (service !== undefined) return { service, instanceId: text.slice(0, at) };
  const shown = named.slice(0, MAX_SERVICE_CHARACTERS);
  const problem = isShareNamed(model, named)
    ? `${shown} is a share: routers dial services of the fabric only`
    : `there is no service ${shown}`;
  return { text: problem, code: EdgeErrorCode.invalidService, retryHint: RetryHint.notRetriable };
}

function isShareNamed(model: OverlayModel, text: string): boolean {
  if (model.hostedService(text) !== undefined) return true;
  for (const service of model.hostedServices()) if (service.name === text) return true;
  return false;
}
