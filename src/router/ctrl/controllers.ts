/**
 * The controllers that this router is connected to, as its other parts see them; and how a part takes part in the
 * control channel: by handlers for message types, and by what it answers when a controller inspects the router.
 */
import type { Channel } from '#net';
import type { Frame } from '#wire';

/** Valid while its channel is open; a controller that comes back is another one. */
export interface Controller {
  readonly id: string;
  /** Of its hello, such as `v1.7.2`. */
  readonly version: string;
  readonly channel: Channel;
  /** It answers heartbeats in time. */
  readonly isResponsive: boolean;
}

export interface Controllers {
  /**
   * Connected ones: those that answer in time first, then those that neither stop nor have just come, among them the
   * leader, then the oldest channel.
   */
  all(): readonly Controller[];
  /** Whom to ask what any of them can answer. */
  best(): Controller | undefined;
  byId(id: string): Controller | undefined;
  /** A copy to each; how many took one. */
  broadcast(frame: Frame): number;
  onConnected(listener: (controller: Controller) => void): void;
  onDisconnected(listener: (controller: Controller) => void): void;
}

/** May throw: a malformed body closes that controller's channel, anything else is logged. */
export type CtrlHandler = (frame: Frame, from: Controller) => void;
/** Handlers by content type; each type belongs to one part. */
export type CtrlHandlers = ReadonlyMap<number, CtrlHandler>;

/** Returns a part's value, as JSON, for a name of an InspectRequest (lower case); undefined for other names. */
export type InspectSource = (name: string) => unknown;
