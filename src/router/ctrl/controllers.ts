/**
 * The interface of the router's parts to its connected controllers. A part participates in the control channel with
 * handlers for message types, and with values for inspections of the router.
 */
import type { Channel } from '#net/channel';
import type { Frame } from '#wire';

/** Valid while its channel is open. A controller that reconnects is represented by a new object. */
export interface Controller {
  readonly id: string;
  /** The version in its hello, such as `v1.7.2`. */
  readonly version: string;
  readonly channel: Channel;
  /** True if it answers heartbeats in time, and has sent something since it was last suspected. */
  readonly isResponsive: boolean;
  /** Notes that it does not respond. Others have precedence until it sends something. */
  suspect(): void;
}

export interface Controllers {
  /**
   * Returns the connected controllers in order of preference: responsive ones first, then those that are neither
   * stopping nor new, then the leader, then the oldest channel.
   */
  all(): readonly Controller[];
  /** Returns the preferred controller for requests that any controller can answer. */
  best(): Controller | undefined;
  byId(id: string): Controller | undefined;
  /** Sends a copy to each controller. Returns the number of channels that accepted it. */
  broadcast(frame: Frame): number;
  onConnected(listener: (controller: Controller) => void): void;
  onDisconnected(listener: (controller: Controller) => void): void;
}

/** Can throw: a malformed body closes the channel of that controller, and other errors are logged. */
export type CtrlHandler = (frame: Frame, from: Controller) => void;
/** Handlers by content type; each type belongs to one part. */
export type CtrlHandlers = ReadonlyMap<number, CtrlHandler>;

/**
 * Returns a part's value, as JSON, for a name of an InspectRequest (lower case), or a promise of it that is settled within
 * seconds; undefined for other names.
 */
export type InspectSource = (name: string) => unknown;
