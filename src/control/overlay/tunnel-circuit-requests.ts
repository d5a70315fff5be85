/**
 * CreateTunnelCircuitV2: a router dials a service of the edge management API for a client of its tunnel listener, as its own
 * identity. Shares and services of the fabric are not dialed this way. The number of pending dials and of circuits per
 * router is bounded.
 */
import { utf8, type Log } from '#base';
import {
  EdgeErrorCode,
  encodeEdgeRefusal,
  headerId,
  makeFrame,
  peerDataRecord,
  RetryHint,
  type Frame,
  type PeerData,
} from '#wire';
import { ctrlMessages } from '#wire/ctrl';
import type { OverlayModel } from '../model/mod.ts';
import type { CircuitBuilder, CircuitFailure, CircuitOutcome } from './circuit-builder.ts';
import type { CircuitRegistry } from './circuit-registry.ts';
import { PENDING_LIMITS, type PendingLimits } from './circuit-requests.ts';
import type { ConnectedRouter } from './connected-router.ts';
import type { RefusalTrail } from './refusal-trail.ts';
import { judgeTunnel } from './tunnel-access.ts';

export interface TunnelCircuitRequestsOptions {
  readonly model: OverlayModel;
  readonly builder: CircuitBuilder;
  readonly circuits: CircuitRegistry;
  readonly refusals: Pick<RefusalTrail, 'request'>;
  readonly log: Log;
  readonly limits?: PendingLimits;
}

const MAX_PEER_DATA_BYTES = 16_384;
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
    const verdict = judgeTunnel(model, router.id, model.edge.serviceNamed(request.serviceName), 'Dial');
    if (!verdict.isAllowed) {
      const { reason, service } = verdict;
      refusals.request({
        action: 'dial',
        identityId: router.id,
        reason,
        share: service?.name,
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
    const isWithoutKey = service.encryptionRequired && !peerData.has(keys.publicKey);
    router.pendingCircuits += 1;
    const wish = {
      service,
      identityId: router.id,
      sessionId: undefined,
      ingress: router,
      instanceId: request.terminatorInstanceId,
      peerData,
      judgeKeys: () => (isWithoutKey ? ('refuse' as const) : ('exchange' as const)),
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

  /** Copies the data, with the known facts in place of the router's statements about itself. */
  #peerDataOf(record: Record<number, Uint8Array>, routerId: string): PeerData | undefined {
    const peerData = new Map<number, Uint8Array>();
    let bytes = 0;
    for (const [key, value] of Object.entries(record)) {
      bytes += value.length;
      if (bytes > MAX_PEER_DATA_BYTES) return undefined;
      peerData.set(Number(key), new Uint8Array(value));
    }
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
      peerData: peerDataRecord(peerData),
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
