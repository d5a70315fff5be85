/** How messages reach a destination: one file for each type, and one row in the table of the sender. */
import type { NotificationDestination } from './destination-store.ts';

export interface NotificationMessage {
  /** Attempts to deliver a message share its ID, so that a receiver recognizes duplicates. */
  readonly id: string;
  readonly type: string;
  readonly atMs: number;
  /** JSON. */
  readonly data: string;
}

export interface Attempt {
  /** The status of the answer, of HTTP or SMTP; null if there was none. */
  readonly status: number | null;
  /** Undefined if it was delivered. */
  readonly problem: string | undefined;
  /** Whether another attempt would have the same result. */
  readonly isFinal?: boolean | undefined;
  /** Nothing was sent, because the organization may send again at this time only. */
  readonly waitUntilMs?: number | undefined;
  /** Marks of the recipients that have the message now, which the next attempt leaves out. */
  readonly accepted?: readonly string[] | undefined;
}

export interface Outgoing {
  readonly destination: NotificationDestination;
  /** Those that become one: for a webhook it is one. */
  readonly messages: readonly NotificationMessage[];
  /** Marks of recipients that have them already. */
  readonly accepted: readonly string[];
  readonly signal: AbortSignal;
}

export interface DestinationChannel {
  /** Never rejects for a destination that cannot be reached. */
  send(outgoing: Outgoing): Promise<Attempt>;
}
