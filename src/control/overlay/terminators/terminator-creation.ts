/**
 * Creates a terminator that a router asked for, for an SDK or as its own tunnel identity. The caller has checked that the
 * identity may host the service; here are the checks of the request itself, and the bounds.
 */
import type { Clock, Log } from '#base';
import { EdgeErrorCode, RetryHint, type PeerDataEntry } from '#wire/circuits';
import { CreateTerminatorResult } from '#wire/ctrl';
import { isShare } from '../model/overlay-model.ts';
import type { AnyService } from '../model/overlay-model.ts';
import type { FabricTerminatorIndex } from './fabric-terminator-index.ts';
import { copyPeerData, isTooMuchPeerData } from '../routers/peer-data.ts';
import { Precedence, type TerminatorRegistry } from './terminator-registry.ts';

/** More hosts of one service than load balancing needs. Stops a host that creates terminators endlessly. */
const MAX_TERMINATORS_PER_SERVICE = 128;
const MAX_ID_CHARACTERS = 64;
export const MAX_TERMINATOR_COST = 65_535;

export interface TerminatorCreationParts {
  readonly terminators: TerminatorRegistry;
  /** The ids of the two indexes are distinct. */
  readonly fabricTerminators: FabricTerminatorIndex;
  readonly clock: Clock;
  readonly log: Log;
}

/** The fields that requests of SDKs and of tunnels share. */
export interface WantedTerminator {
  /** Also the id. */
  readonly address: string;
  readonly instanceId: string;
  readonly cost: number;
  readonly precedence: number;
  readonly peerData: readonly PeerDataEntry[];
}

export interface TerminatorHost {
  readonly routerId: string;
  readonly identityId: string;
  readonly service: AnyService;
  readonly binding: string;
  /** Called for refusals that belong in the audit trail. */
  onRefused(reason: string): void;
}

export interface TerminatorRefusal {
  readonly result: CreateTerminatorResult;
  readonly text: string;
  readonly code: number;
  readonly retryHint: number;
}

export class TerminatorCreation {
  readonly #parts: TerminatorCreationParts;

  constructor(parts: TerminatorCreationParts) {
    this.#parts = parts;
  }

  /** Returns undefined when it exists. Rejects if it could not be stored. */
  async create(wanted: WantedTerminator, host: TerminatorHost): Promise<TerminatorRefusal | undefined> {
    const { terminators, fabricTerminators, clock, log } = this.#parts;
    const { service, routerId, identityId, binding } = host;
    const { address: id, cost, precedence } = wanted;
    const fault = faultOf(wanted);
    if (fault !== undefined) return fault;
    const known = terminators.get(id);
    if (known !== undefined) {
      const isSame =
        known.serviceId === service.id && known.routerId === routerId && known.identityId === identityId;
      if (!isSame) {
        host.onRefused('terminator-of-another');
        return final(EdgeErrorCode.invalidTerminator, 'this terminator id is taken');
      }
      // A later process of the same host takes over, with a key of its own.
      const change = { peerData: copyPeerData(wanted.peerData), cost, precedence };
      if (await terminators.bindAgain(known, change)) return undefined;
    }
    if (fabricTerminators.get(id) !== undefined)
      return final(EdgeErrorCode.invalidTerminator, 'this terminator id is taken');
    if (terminators.ofService(service.id).size >= MAX_TERMINATORS_PER_SERVICE) {
      host.onRefused('too-many-terminators');
      return final(EdgeErrorCode.invalidTerminator, 'the service has too many terminators');
    }
    await terminators.add({
      id,
      serviceId: service.id,
      isEdge: !isShare(service),
      routerId,
      identityId,
      binding,
      address: id,
      instanceId: wanted.instanceId,
      cost,
      precedence,
      peerData: copyPeerData(wanted.peerData),
      createdAtMs: clock.nowMs(),
    });
    log.info({ terminator: id, service: service.id, router: routerId, binding }, 'terminator created');
    return undefined;
  }
}

function faultOf(wanted: WantedTerminator): TerminatorRefusal | undefined {
  const { address, instanceId, peerData, cost, precedence } = wanted;
  const { invalidTerminator, invalidCost, invalidPrecedence } = EdgeErrorCode;
  if (address === '' || address.length > MAX_ID_CHARACTERS)
    return final(invalidTerminator, 'a terminator id has 1 to 64 characters');
  if (instanceId.length > MAX_ID_CHARACTERS * 4)
    return final(invalidTerminator, 'the instance id is too long');
  if (isTooMuchPeerData(peerData)) return final(invalidTerminator, 'too much peer data');
  if (cost > MAX_TERMINATOR_COST) return final(invalidCost, 'cost above 65535');
  return isPrecedence(precedence) ? undefined : final(invalidPrecedence, 'unknown precedence');
}

export function isPrecedence(value: number): boolean {
  return value === Precedence.default || value === Precedence.required || value === Precedence.failed;
}

function final(code: number, text: string): TerminatorRefusal {
  return { result: CreateTerminatorResult.FAILED_OTHER, text, code, retryHint: RetryHint.notRetriable };
}

export function busy(text: string): TerminatorRefusal {
  return {
    result: CreateTerminatorResult.FAILED_BUSY,
    text,
    code: EdgeErrorCode.internal,
    retryHint: RetryHint.tooBusy,
  };
}
