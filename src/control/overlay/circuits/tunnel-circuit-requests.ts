/**
 * CreateTunnelCircuitV2: a router dials a service of the edge management API, or a private share that is granted to it, for a
 * client of its tunnel listener, as its own identity. Of two with one name, the service is dialed. Services of the fabric
 * are not dialed this way. The number of pending dials and of circuits per router is bounded.
 */
import { utf8, type Log } from '#base';
import { headerId, makeFrame, type Frame } from '#wire';
import {
  EdgeErrorCode,
  encodeEdgeRefusal,
  peerDataEntries,
  RetryHint,
  type PeerData,
  type PeerDataEntry,
} from '#wire/circuits';
import { ctrlMessages } from '#wire/ctrl';
import { isShare, type OverlayModel, serviceName } from '../model/overlay-model.ts';
import type { CircuitBuilder, CircuitFailure, CircuitOutcome } from './circuit-builder.ts';
import type { CircuitRegistry } from './circuit-registry.ts';
import { PENDING_LIMITS, type PendingLimits } from './circuit-requests.ts';
import type { ConnectedRouter } from '../routers/connected-router.ts';
import type { Terminator } from '../terminators/terminator-registry.ts';
import { judgeKeyExchange } from './key-exchange-policy.ts';
import { copyPeerData, isTooMuchPeerData } from '../routers/peer-data.ts';
import type { RefusalTrail } from './refusal-trail.ts';
import { judgeTunnel } from '../permits/tunnel-access.ts';

export interface TunnelCircuitRequestsOptions {
  readonly model: OverlayModel;
  readonly builder: CircuitBuilder;
  readonly circuits: CircuitRegistry;
  readonly refusals: Pick<RefusalTrail, 'request'>;
  readonly log: Log;
  readonly limits?: PendingLimits | undefined;
}

/** A router reads from the data model that shares are encrypted, also of a host that has just come. */
const NEITHER_GATEWAY_NOR_LATE = { isGateway: false, isInProcess: false, hostedMs: Infinity } as const;
const { peerData: keys } = headerId;

export class TunnelCircuitRequests {
  readonly #options: TunnelCircuitRequestsOptions;
  readonly #limits: PendingLimits;

  constructor(options: TunnelCircuitRequestsOptions) {
    this.#options = options;
    this.#limits = options.limits ?? PENDING_LIMITS;
  }

  /** @throws FrontdoorError `protocol` */
  create(router: ConnectedRouter, frame: Frame): void {
    const { model, builder, refusals } = this.#options;
    const request = ctrlMessages.createTunnelCircuitV2.decode(frame.body);
    // The pending request must not retain the socket's read buffer.
    const asked = makeFrame(frame.contentType, { sequence: frame.sequence });
    const name = request.serviceName;
    const named = model.edge.serviceNamed(name) ?? model.grantedShare(router.id, name);
    const verdict = judgeTunnel(model, router.id, named, 'Dial');
    if (!verdict.isAllowed) {
      const { reason, service } = verdict;
      refusals.request({
        action: 'dial',
        identityId: router.id,
        reason,
        share: service && serviceName(service),
        routerId: router.id,
      });
      this.#refuse(router, asked, verdict);
      return;
    }
    const peerData = this.#peerDataOf(request.peerData, router.id);
    const full = peerData === undefined ? 'too much peer data' : this.#whatIsFull(router);
    if (peerData === undefined || full !== undefined) {
      const failure = { text: full ?? '', code: EdgeErrorCode.internal, retryHint: RetryHint.tooBusy };
      this.#refuse(router, asked, failure);
      return;
    }
    const { service } = verdict;
    const dialer = {
      hasDialerKey: peerData.has(keys.publicKey),
      isRequired: isShare(service) ? undefined : service.encryptionRequired,
      ...NEITHER_GATEWAY_NOR_LATE,
    };
    router.pendingCircuits += 1;
    const wish = {
      service: { id: service.id, name: serviceName(service) },
      identityId: router.id,
      sessionId: undefined,
      ingress: router,
      instanceId: request.terminatorInstanceId,
      peerData,
      judgeKeys: ({ peerData: hostData }: Terminator) =>
        judgeKeyExchange({ ...dialer, hasHostKey: hostData.has(headerId.edge.publicKey) }),
    };
    builder.build(wish, (outcome) => {
      router.pendingCircuits -= 1;
      this.#answer(router, asked, outcome);
    });
  }

  #whatIsFull(router: ConnectedRouter): string | undefined {
    if (router.pendingCircuits >= this.#limits.maxPendingPerRouter)
      return 'this router has too many dials in progress';
    return this.#options.circuits.hasRoomFor(router.id) ? undefined : 'this router has too many circuits';
  }

  /** Copies the data, with the known facts instead of the router's statements about itself. */
  #peerDataOf(entries: readonly PeerDataEntry[], routerId: string): PeerData | undefined {
    if (isTooMuchPeerData(entries)) return undefined;
    const peerData = copyPeerData(entries);
    const name = utf8(this.#options.model.identity(routerId)?.name ?? routerId);
    peerData.delete(keys.cryptoMethod);
    peerData.set(keys.callerId, name);
    peerData.set(keys.dialerIdentityId, utf8(routerId));
    peerData.set(keys.dialerIdentityName, name);
    return peerData;
  }

  #answer(router: ConnectedRouter, asked: Frame, outcome: CircuitOutcome): void {
    if (!outcome.isMade) {
      this.#refuse(router, asked, outcome);
      return;
    }
    const { circuit, ingressAddress: address, peerData, tags } = outcome;
    const granted = ctrlMessages.createTunnelCircuitV2Response.frame({
      circuitId: circuit.id,
      address,
      peerData: peerDataEntries(peerData),
      tags: Object.fromEntries(tags),
    });
    router.channel.reply(asked, granted);
  }

  #refuse(router: ConnectedRouter, asked: Frame, failure: CircuitFailure): void {
    const { circuitId, code, text, detail } = failure;
    const fields = { router: router.id, circuit: circuitId, code, reason: detail ?? text };
    this.#options.log.info(fields, 'circuit of a tunnel refused');
    router.send(encodeEdgeRefusal(asked, failure));
  }
}
