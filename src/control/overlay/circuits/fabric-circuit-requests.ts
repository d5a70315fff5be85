/**
 * CircuitRequest: a router dials a fabric service for a connection to one of its own listeners. Shares cannot be
 * dialed this way, because that requires an identity.
 */
import { headerId, makeFrame, type Frame } from '#wire';
import { encodeCircuitFailed, encodeCircuitSuccess, type PeerData, type PeerDataEntry } from '#wire/circuits';
import { ctrlMessages } from '#wire/ctrl';
import type { Log } from '#base';
import { serviceName, type FabricService, type OverlayModel } from '../model/overlay-model.ts';
import type { CircuitBuilder, CircuitOutcome } from './circuit-builder.ts';
import type { CircuitRegistry } from './circuit-registry.ts';
import { PENDING_LIMITS, type PendingLimits } from './circuit-requests.ts';
import type { ConnectedRouter } from '../routers/connected-router.ts';
import { copyPeerData, isTooMuchPeerData } from '../routers/peer-data.ts';

export interface FabricCircuitRequestsOptions {
  readonly model: OverlayModel;
  readonly builder: CircuitBuilder;
  readonly circuits: CircuitRegistry;
  readonly log: Log;
  readonly limits?: PendingLimits | undefined;
}

const MAX_SERVICE_CHARACTERS = 512;
/** Lower numbers are headers of the channel. */
const FIRST_PEER_DATA_KEY = 128;
const { peerData: keys } = headerId;
/** Headers with an SDK's identity, which a router does not have. */
const IDENTITY_KEYS: ReadonlySet<number> = new Set([
  keys.callerId,
  keys.dialerIdentityId,
  keys.dialerIdentityName,
  keys.cryptoMethod,
]);

interface Wanted {
  readonly service: FabricService;
  readonly instanceId: string;
}

export class FabricCircuitRequests {
  readonly #options: FabricCircuitRequestsOptions;
  readonly #limits: PendingLimits;
  /** Changes with the model's services. */
  readonly #byName = new Map<string, FabricService>();

  constructor(options: FabricCircuitRequestsOptions) {
    this.#options = options;
    this.#limits = options.limits ?? PENDING_LIMITS;
    const { model } = options;
    this.#index();
    model.onChange(({ type }) => {
      if (type === 'fabric-service') this.#index();
    });
  }

  /** @throws FrontdoorError `protocol` */
  create(router: ConnectedRouter, frame: Frame): void {
    const request = ctrlMessages.circuitRequest.decode(frame.body);
    const asked = makeFrame(frame.contentType, { sequence: frame.sequence });
    const wanted = this.#find(request.service);
    const peerData = peerDataOf(request.peerData);
    const refusal = typeof wanted === 'string' ? wanted : this.#whatIsFull(router);
    if (refusal !== undefined || typeof wanted === 'string' || peerData === undefined) {
      this.#refuse(router, asked, refusal ?? 'too much peer data');
      return;
    }
    router.pendingCircuits += 1;
    const { service, instanceId } = wanted;
    const wish = {
      service,
      identityId: undefined,
      sessionId: undefined,
      ingress: router,
      instanceId,
      peerData,
    };
    this.#options.builder.build(wish, (outcome) => {
      router.pendingCircuits -= 1;
      this.#answer(router, asked, outcome);
    });
  }

  /** Finds a service by id or name, also as `instance@service`. Returns a text if there is none. */
  #find(text: string): Wanted | string {
    const whole = this.#lookUp(text);
    if (whole !== undefined) return { service: whole, instanceId: '' };
    const at = text.indexOf('@');
    const named = at < 0 ? text : text.slice(at + 1);
    const service = at < 0 ? undefined : this.#lookUp(named);
    if (service !== undefined) return { service, instanceId: text.slice(0, at) };
    const shown = named.slice(0, MAX_SERVICE_CHARACTERS);
    if (this.#isShare(named)) return `${shown} is a share: routers dial services of the fabric only`;
    return `there is no service ${shown}`;
  }

  #lookUp(text: string): FabricService | undefined {
    return this.#options.model.fabricService(text) ?? this.#byName.get(text);
  }

  #isShare(text: string): boolean {
    const { model } = this.#options;
    if (model.service(text) !== undefined) return true;
    for (const service of model.services()) if (serviceName(service) === text) return true;
    return false;
  }

  #index(): void {
    this.#byName.clear();
    for (const service of this.#options.model.fabricServices()) this.#byName.set(service.name, service);
  }

  #whatIsFull(router: ConnectedRouter): string | undefined {
    if (router.pendingCircuits >= this.#limits.maxPendingPerRouter)
      return 'this router has too many dials in progress';
    return this.#options.circuits.hasRoomFor(router.id) ? undefined : 'this router has too many circuits';
  }

  #answer(router: ConnectedRouter, asked: Frame, outcome: CircuitOutcome): void {
    if (!outcome.isMade) {
      this.#refuse(router, asked, outcome.detail ?? outcome.text, outcome.circuitId);
      return;
    }
    const { circuit, ingressAddress, peerData } = outcome;
    const ofHost = [...peerData].filter(
      ([key]) => key >= FIRST_PEER_DATA_KEY && key !== headerId.ctrl.ingressAddress,
    );
    const granted = { circuitId: circuit.id, address: ingressAddress, peerData: new Map(ofHost) };
    router.channel.send(encodeCircuitSuccess(asked, granted));
  }

  #refuse(router: ConnectedRouter, asked: Frame, text: string, circuitId?: string): void {
    this.#options.log.info({ router: router.id, circuit: circuitId, reason: text }, 'circuit refused');
    router.channel.send(encodeCircuitFailed(asked, text));
  }
}

/** Returns undefined if there is too much. */
function peerDataOf(entries: readonly PeerDataEntry[]): PeerData | undefined {
  if (isTooMuchPeerData(entries)) return undefined;
  return copyPeerData(entries.filter(({ key }) => !IDENTITY_KEYS.has(key)));
}
