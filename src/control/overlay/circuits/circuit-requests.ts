/**
 * CreateCircuitV2 and V3 from routers. V3, of OpenZiti 2.1, names the service instead of a service session, because
 * the router has evaluated the policies. The session proves the dialer, never the request itself, and the number of
 * pending dials per router and identity is bounded. Responses are sent only to the requesting channel.
 */
import { utf8, type Clock, type Log } from '#base';
import { SummedLog } from '#net';
import { headerId, makeFrame, type Frame } from '#wire';
import {
  decodeCreateCircuitV2,
  decodeCreateCircuitV3,
  encodeCircuitCreated,
  encodeEdgeRefusal,
  EdgeErrorCode,
  RetryHint,
  type CircuitRequestV2,
} from '#wire/circuits';
import { type OverlayModel, serviceName } from '../model/overlay-model.ts';
import type { CircuitBuilder, CircuitFailure, CircuitOutcome } from './circuit-builder.ts';
import type { CircuitRegistry } from './circuit-registry.ts';
import type { ConnectedRouter } from '../routers/connected-router.ts';
import type { Terminator } from '../terminators/terminator-registry.ts';
import { judgeKeyExchange, type KeyExchange, type LocalEnds } from './key-exchange-policy.ts';
import type { CircuitPath } from './path-policy.ts';
import type { RefusalTrail } from './refusal-trail.ts';
import type { ServiceSessionCheck, SessionVerdict } from '../permits/service-session-check.ts';

export interface PendingLimits {
  readonly maxPendingPerRouter: number;
  readonly maxPendingPerIdentity: number;
}

export const PENDING_LIMITS: PendingLimits = { maxPendingPerRouter: 4_096, maxPendingPerIdentity: 2_048 };

export interface CircuitRequestsOptions {
  readonly model: OverlayModel;
  readonly sessions: ServiceSessionCheck;
  readonly builder: CircuitBuilder;
  readonly circuits: CircuitRegistry;
  readonly localEnds: () => LocalEnds | undefined;
  readonly clock: Clock;
  readonly refusals: Pick<RefusalTrail, 'request'>;
  readonly log: Log;
  readonly limits?: PendingLimits | undefined;
}

interface Dial {
  readonly identityId: string;
  readonly share: string;
}

interface RefusedDial {
  readonly identityId: string | undefined;
  readonly reason: string | undefined;
  readonly share?: string;
}

const { peerData: keys } = headerId;

export class CircuitRequests {
  readonly #options: CircuitRequestsOptions;
  readonly #summedLog: SummedLog;
  readonly #limits: PendingLimits;
  readonly #pendingPerIdentity = new Map<string, number>();

  constructor(options: CircuitRequestsOptions) {
    this.#summedLog = new SummedLog(options.log);
    this.#options = options;
    this.#limits = options.limits ?? PENDING_LIMITS;
  }

  /** @throws FrontdoorError `protocol` */
  create(router: ConnectedRouter, frame: Frame): void {
    const request = decodeCreateCircuitV2(frame);
    this.#build(router, frame, request, this.#options.sessions.judge(request, 'Dial', router.id));
  }

  /** @throws FrontdoorError `protocol` */
  createV3(router: ConnectedRouter, frame: Frame): void {
    const request = decodeCreateCircuitV3(frame);
    if (request.circuitId === '') {
      this.#build(router, frame, request, this.#options.sessions.judgeDirectDial(request, router.id));
      return;
    }
    // OpenZiti's routers leave it to the controller. An id of a router could be that of another circuit.
    const text = 'this controller chooses the ids of circuits';
    this.#refuse(router, frame, { text, code: EdgeErrorCode.internal, retryHint: RetryHint.notRetriable });
  }

  #build(
    router: ConnectedRouter,
    frame: Frame,
    request: Omit<CircuitRequestV2, 'sessionToken'>,
    verdict: SessionVerdict,
  ): void {
    if (!verdict.isAllowed) {
      this.#refuse(router, frame, verdict, verdict);
      return;
    }
    const { session, service } = verdict;
    const { identityId } = session;
    const pending = this.#pendingPerIdentity.get(identityId) ?? 0;
    const full = this.#whatIsFull(router, identityId, pending);
    if (full !== undefined) {
      const failure = { text: full, code: EdgeErrorCode.internal, retryHint: RetryHint.tooBusy };
      this.#refuse(router, frame, failure, {
        reason: 'too-many-dials',
        identityId,
        share: serviceName(service),
      });
      return;
    }
    router.pendingCircuits += 1;
    this.#pendingPerIdentity.set(identityId, pending + 1);
    const wish = {
      service: { id: service.id, name: serviceName(service) },
      identityId,
      sessionId: session.id,
      ingress: router,
      instanceId: request.terminatorInstanceId,
      peerData: this.#peerDataOf(request, identityId),
      judgeKeys: (terminator: Terminator, path: CircuitPath) =>
        this.#judgeKeys(
          identityId,
          service.id,
          request.peerData.has(headerId.edge.publicKey),
          terminator,
          path,
        ),
    };
    // The pending request must not retain the socket's read buffer.
    const asked = makeFrame(frame.contentType, { sequence: frame.sequence });
    this.#options.builder.build(wish, (outcome) => {
      router.pendingCircuits -= 1;
      this.#release(identityId);
      this.#answer(router, asked, outcome, { identityId, share: serviceName(service) });
    });
  }

  #whatIsFull(router: ConnectedRouter, identityId: string, pending: number): string | undefined {
    const { maxPendingPerRouter, maxPendingPerIdentity } = this.#limits;
    if (router.pendingCircuits >= maxPendingPerRouter) return 'this router has too many dials in progress';
    if (pending >= maxPendingPerIdentity) return 'this identity has too many dials in progress';
    return this.#options.circuits.hasRoomFor(identityId) ? undefined : 'this identity has too many circuits';
  }

  #judgeKeys(
    dialerId: string,
    serviceId: string,
    hasDialerKey: boolean,
    terminator: Terminator,
    path: CircuitPath,
  ): KeyExchange {
    const { model, localEnds, clock } = this.#options;
    const ends = localEnds();
    const hostId = terminator.identityId;
    return judgeKeyExchange({
      hasDialerKey,
      hasHostKey: terminator.peerData.has(headerId.edge.publicKey),
      isGateway: model.identity(dialerId)?.kind === 'gateway',
      isRequired: model.edge.service(serviceId)?.encryptionRequired,
      hostedMs: clock.nowMs() - (terminator.createdAtMs ?? 0),
      isInProcess:
        ends?.gatewayId === dialerId &&
        path.routerIds.length === 1 &&
        path.routerIds[0] === ends.routerId &&
        hostId !== undefined &&
        (model.identity(hostId)?.agentVersion ?? null) !== null,
    });
  }

  /** Replaces the dialer's statements about itself by the known facts. */
  #peerDataOf(request: Pick<CircuitRequestV2, 'peerData'>, identityId: string): Map<number, Uint8Array> {
    const peerData = new Map<number, Uint8Array>();
    for (const [key, value] of request.peerData) peerData.set(key, new Uint8Array(value));
    const name = utf8(this.#options.model.identity(identityId)?.name ?? identityId);
    peerData.delete(keys.cryptoMethod);
    peerData.set(keys.callerId, name);
    peerData.set(keys.dialerIdentityId, utf8(identityId));
    peerData.set(keys.dialerIdentityName, name);
    return peerData;
  }

  #release(identityId: string): void {
    const left = (this.#pendingPerIdentity.get(identityId) ?? 1) - 1;
    if (left === 0) this.#pendingPerIdentity.delete(identityId);
    else this.#pendingPerIdentity.set(identityId, left);
  }

  #answer(router: ConnectedRouter, frame: Frame, outcome: CircuitOutcome, dial: Dial): void {
    if (!outcome.isMade) {
      const isGateway = this.#options.model.identity(dial.identityId)?.kind === 'gateway';
      // Gateways record for the owner of a share why it was not reached.
      const text = isGateway ? (outcome.detail ?? outcome.text) : outcome.text;
      this.#refuse(router, frame, { ...outcome, text }, { ...dial, reason: this.#reasonOf(outcome, dial) });
      return;
    }
    const { circuit, ingressAddress, peerData, tags } = outcome;
    router.send(
      encodeCircuitCreated(frame, { circuitId: circuit.id, address: ingressAddress, peerData, tags }),
    );
  }

  /** Returns the reason for the audit trail, or undefined if it does not belong there. */
  #reasonOf({ code }: CircuitFailure, { identityId }: Dial): string | undefined {
    // A gateway's request records show owners which shares it could not reach.
    if (this.#options.model.identity(identityId)?.kind === 'gateway') return undefined;
    if (code === EdgeErrorCode.invalidTerminator) return 'no-terminator';
    return code === EdgeErrorCode.invalidSession ? 'not-granted' : undefined;
  }

  #refuse(router: ConnectedRouter, frame: Frame, failure: CircuitFailure, dial?: RefusedDial): void {
    const { circuitId, code, text, detail } = failure;
    this.#summedLog.info(
      `${dial?.share ?? ''} ${code} ${text}`,
      { router: router.id, identity: dial?.identityId, circuit: circuitId, code, reason: detail ?? text },
      'circuit refused',
    );
    if (dial?.reason !== undefined) {
      const { identityId, reason, share } = dial;
      const refused = { identityId, reason, share, routerId: router.id };
      this.#options.refusals.request({ action: 'dial', ...refused });
    }
    router.send(encodeEdgeRefusal(frame, failure));
  }
}
