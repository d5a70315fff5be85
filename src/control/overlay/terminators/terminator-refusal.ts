/** Why a request about a terminator is refused, and the checks of what requests of all kinds contain. */
import { EdgeErrorCode, RetryHint, type PeerDataEntry } from '#wire/circuits';
import { isTooMuchPeerData } from '../mesh/peer-data.ts';
import { Precedence } from './terminator-registry.ts';

const MAX_COST = 65_535;
/** The address of a hosted terminator is also its id. */
const MAX_ID_CHARACTERS = 64;
const MAX_TEXT_CHARACTERS = 512;

export interface TerminatorRefusal {
  readonly text: string;
  readonly code: number;
  readonly retryHint: number;
  /** For refusals that belong in the audit trail. */
  readonly audit?: TerminatorAudit | undefined;
}

export interface TerminatorAudit {
  readonly identityId: string | undefined;
  readonly reason: string;
  readonly share: string | undefined;
}

/** What a router says of a terminator that it wants. */
export interface WantedTerminator {
  readonly address: string;
  readonly instanceId: string;
  readonly cost: number;
  readonly precedence: number;
  readonly peerData: readonly PeerDataEntry[];
}

export function faultOf(
  { address, instanceId, peerData, cost, precedence }: WantedTerminator,
  binding: string,
  isHosted: boolean,
): TerminatorRefusal | undefined {
  const { invalidTerminator } = EdgeErrorCode;
  const longest = isHosted ? MAX_ID_CHARACTERS : MAX_TEXT_CHARACTERS;
  if (binding === '' || address === '')
    return final(invalidTerminator, 'a terminator needs binding and address');
  if (address.length > longest)
    return final(invalidTerminator, `the address is too long: at most ${longest} characters`);
  if (Math.max(binding.length, instanceId.length) > MAX_TEXT_CHARACTERS)
    return final(invalidTerminator, 'binding or instance id is too long');
  if (isTooMuchPeerData(peerData)) return final(invalidTerminator, 'too much peer data');
  return faultOfChange({ cost, precedence });
}

export function faultOfChange(change: {
  readonly cost?: number;
  readonly precedence?: number;
}): TerminatorRefusal | undefined {
  const { cost = 0, precedence = Precedence.default } = change;
  if (cost > MAX_COST) return final(EdgeErrorCode.invalidCost, `cost above ${MAX_COST}`);
  const isPrecedence = Object.values<number>(Precedence).includes(precedence);
  return isPrecedence ? undefined : final(EdgeErrorCode.invalidPrecedence, 'unknown precedence');
}

export function final(code: number, text: string, audit?: TerminatorAudit): TerminatorRefusal {
  return { text, code, retryHint: RetryHint.notRetriable, audit };
}

export function busy(text: string): TerminatorRefusal {
  return { text, code: EdgeErrorCode.internal, retryHint: RetryHint.tooBusy };
}
