/** What changes the TXT records of challenges (DNS-01): the operator's program or the API of a DNS provider. ADR 0095. */
import { FrontdoorError } from '#base';

export interface ChallengeRecord {
  /** `_acme-challenge.zone`, without a dot at its end. */
  readonly name: string;
  /** The name at which the record is written: the one behind the aliases (CNAME) of `name`, or `name` itself. */
  readonly target: string;
  readonly value: string;
}

/** Both methods reject with `dns-provider-failed` or `dns-hook-failed`, whose message names what to correct, and no secret. */
export interface DnsProvider {
  /**
   * The names below which an alias may lead to be followed. Undefined if the provider itself judges where a record is
   * written.
   */
  readonly delegations: readonly string[] | undefined;
  /** Adds a value beside the others of the name. A value that exists is no error. */
  add(record: ChallengeRecord, signal: AbortSignal): Promise<void>;
  /** Removes one value, and no other of the name. A value that does not exist is no error. */
  remove(record: ChallengeRecord, signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

export function providerFailure(message: string, cause?: unknown): FrontdoorError {
  return new FrontdoorError('unavailable', 'dns-provider-failed', message, { cause });
}
