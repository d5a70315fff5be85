/**
 * Reports to controllers which identities have channels at this router (20415). The first and the last channel of an
 * identity are reported at once, further connections in batches, and the whole state at intervals and to each
 * controller that connects. With `connectEvents.enabled: false`, or while too many events wait, only the state is
 * reported, without times and addresses of single connections.
 */
import type { Clock } from '#base';
import { ctrlMessages, type CtrlInit } from '#wire/ctrl';
import type { ConnectEventsConfig } from '../config/router-config.ts';
import type { Controller, Controllers } from './controllers.ts';

export interface ConnectEventsOptions {
  readonly config: ConnectEventsConfig;
  readonly controllers: Controllers;
  readonly clock: Clock;
}

interface Connection {
  readonly connectTime: bigint;
  readonly srcAddr: string;
  readonly dstAddr: string;
}

/** A channel of an identity that is open. Both ends are `host:port`. */
export interface OpenConnection {
  readonly identityId: string;
  readonly id: string;
  readonly srcAddr: string;
  readonly dstAddr: string;
}

interface IdentityState {
  channelCount: number;
  isChanged: boolean;
  connections: Connection[];
}

type Events = NonNullable<CtrlInit<'connectEvents'>['events']>;

/** The zero of Go's times. */
const NEVER = '0001-01-01T00:00:00Z';

export class ConnectEvents {
  readonly #options: ConnectEventsOptions;
  readonly #states = new Map<string, IdentityState>();
  readonly #timer: NodeJS.Timeout;
  #waiting = 0;
  #lastFullMs = Number.NEGATIVE_INFINITY;
  #isReportDue = false;

  constructor(options: ConnectEventsOptions) {
    this.#options = options;
    const { config, controllers } = options;
    this.#timer = setInterval(() => this.#report(), config.batchIntervalMs);
    controllers.onConnected((controller) => this.#sendAll(controller));
  }

  /** `peerAddress` and `ownAddress` are the channel's ends as `host:port`. */
  onOpened(identityId: string, peerAddress: string, ownAddress: string): void {
    const state = this.#states.get(identityId) ?? { channelCount: 0, isChanged: false, connections: [] };
    this.#states.set(identityId, state);
    state.channelCount += 1;
    if (state.channelCount === 1) this.#onChange(state);
    const { config, clock } = this.#options;
    if (!config.isEnabled || this.#waiting >= config.maxQueuedEvents) return;
    this.#waiting += 1;
    state.connections.push({ connectTime: BigInt(clock.nowMs()), srcAddr: peerAddress, dstAddr: ownAddress });
  }

  onClosed(identityId: string): void {
    const state = this.#states.get(identityId);
    if (state === undefined || state.channelCount === 0) return;
    state.channelCount -= 1;
    if (state.channelCount === 0) this.#onChange(state);
  }

  /**
   * The value of `identity-connection-statuses`, with the names of OpenZiti's routers. A report is one message to all
   * controllers, and a controller that connects gets the whole state: nothing is "being reported" or lacks it.
   */
  inspect(open: Iterable<OpenConnection>): object {
    const { config, clock } = this.#options;
    const connections = Map.groupBy(open, ({ identityId }) => identityId);
    const identities = [...this.#states].map(([identityId, state]) => [
      identityId,
      {
        unreported_count: state.connections.length,
        unreported_state_changed: state.isChanged,
        being_reported_count: 0,
        being_reported_state_changed: false,
        connections: (connections.get(identityId) ?? []).map(({ id, srcAddr, dstAddr }) => ({
          id,
          closed: false,
          srcAddr,
          dstAddr,
        })),
      },
    ]);
    const lastFullMs = clock.nowMs() - (clock.monotonicMs() - this.#lastFullMs);
    return {
      identity_connections: Object.fromEntries(identities),
      last_full_sync: Number.isFinite(lastFullMs) ? new Date(lastFullMs).toISOString() : NEVER,
      queued_event_count: this.#waiting,
      max_queued_events: config.maxQueuedEvents,
      need_full_sync: [],
      batch_interval: `${config.batchIntervalMs}ms`,
      full_sync_interval: `${config.fullSyncIntervalMs}ms`,
    };
  }

  close(): void {
    clearInterval(this.#timer);
  }

  /** Events of the same turn are sent in the same message. */
  #onChange(state: IdentityState): void {
    state.isChanged = true;
    if (this.#isReportDue) return;
    this.#isReportDue = true;
    queueMicrotask(() => {
      this.#isReportDue = false;
      this.#report();
    });
  }

  #report(): void {
    const { config, controllers, clock } = this.#options;
    const nowMs = clock.monotonicMs();
    const fullState = nowMs - this.#lastFullMs >= config.fullSyncIntervalMs;
    const reported = [...this.#states].filter(
      ([, { isChanged, connections, channelCount }]) =>
        isChanged || connections.length > 0 || (fullState && channelCount > 0),
    );
    if (reported.length === 0 && !fullState) return;
    const events: Events = reported.map(([identityId, { channelCount, connections }]) => ({
      identityId,
      isConnected: channelCount > 0,
      connectTimes: connections,
    }));
    // Without a controller that accepts them, events wait for the next interval.
    if (controllers.broadcast(ctrlMessages.connectEvents.frame({ events, fullState })) === 0) return;
    if (fullState) this.#lastFullMs = nowMs;
    this.#waiting = 0;
    for (const [identityId, state] of reported) {
      state.connections = [];
      state.isChanged = false;
      if (state.channelCount === 0) this.#states.delete(identityId);
    }
  }

  /** A controller that connects again gets the whole state. */
  #sendAll({ channel }: Controller): void {
    const events: Events = [...this.#states]
      .filter(([, { channelCount }]) => channelCount > 0)
      .map(([identityId]) => ({ identityId, isConnected: true, connectTimes: [] }));
    channel.send(ctrlMessages.connectEvents.frame({ events, fullState: true }));
  }
}
