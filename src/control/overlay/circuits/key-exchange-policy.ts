/**
 * Whether the ends of a circuit get each other's keys of end-to-end encryption (ADR 0029). A host has a key if it can
 * encrypt, and then its dialers need one.
 */
export interface KeyExchangeCase {
  readonly hasDialerKey: boolean;
  readonly hasHostKey: boolean;
  /** A gateway, which has no key only if it is of an earlier version. */
  readonly isGateway: boolean;
  readonly hostedMs: number;
  /** What the administrator of the service decided; undefined for shares. */
  readonly isRequired?: boolean | undefined;
  /** The dialer is in the process of the only router on the path, and the host is our agent. */
  readonly isInProcess: boolean;
}

/** A gateway and a router that run in this process, joined by a channel in memory. */
export interface LocalEnds {
  readonly gatewayId: string;
  readonly routerId: string;
}

/** `clear`: neither end gets a key. */
export type KeyExchange = 'exchange' | 'clear' | 'refuse';

/** For so long after a host came with a key, dialers may have read that it has none. */
export const KEYLESS_GRACE_MS = 600_000;

export function judgeKeyExchange(given: KeyExchangeCase): KeyExchange {
  if (given.isInProcess) return 'clear';
  if (given.isRequired !== undefined) return given.isRequired && !given.hasDialerKey ? 'refuse' : 'exchange';
  if (given.hasDialerKey || !given.hasHostKey) return 'exchange';
  return given.isGateway || given.hostedMs < KEYLESS_GRACE_MS ? 'clear' : 'refuse';
}
