import type { DataFrame } from '#wire/xgress';
import type { RouterLatency } from './router-latency.ts';

/** The functions that a circuit requires from its channel. */
export interface CircuitCarrier<Carried> {
  /** Whether the channel will end soon although circuits have another path. */
  readonly isLeaving: boolean;
  /** Whether far ends get copies: memory of acknowledged data may be used again. */
  readonly copiesData: boolean;
  /** Whether the router drops frames of a circuit while its queues are full. */
  readonly isLossy: boolean;
  /** Whether another channel replaces it, because nothing comes from the router. */
  readonly isReplaced: boolean;
  readonly latency: Pick<RouterLatency, 'isSilent'>;
  /** Whether there is room for one payload. The result holds only for that one, because others wait too. */
  hasRoom(circuit: Carried): boolean;
  /** `onChannelDrain` is called when it is the circuit's turn. */
  awaitRoom(circuit: Carried): void;
  sendData(frame: DataFrame): void;
  /** After the batch of frames that is being received; with `mayWait` within milliseconds, together with others. */
  acknowledgeLater(circuit: Carried, mayWait: boolean): void;
  /** Returns whether a circuit that has ended cleanly may stay for a while; there is a limit for their number. */
  mayLinger(circuit: Carried): boolean;
  /** Reports the close to the router, unless the router reported it. */
  closed(circuit: Carried, notifyRouter: boolean): void;
}
