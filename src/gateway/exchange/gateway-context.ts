/**
 * The state that all connections of one gateway share. The clock is coarse and serves deadlines; the sweep
 * advances it.
 */
import type { Log } from '#base';
import type { AccessControl } from '../access/access.ts';
import type { ChallengeAnswers } from '../acme/challenge-answer.ts';
import type { RequestCircuits } from '../services/request-circuits.ts';
import type { RoutePool } from '../circuits/upstream.ts';
import type { GatewayLimits } from '../limits/gateway-limits.ts';
import type { HeadBudget } from '../limits/head-budget.ts';
import type { RequestHead } from '../http/request-head-policy.ts';
import type { RequestObserver } from './request-record.ts';
import type { ProxyTrust } from './request-clients.ts';
import type { RequestRecords } from './request-records.ts';
import type { SlowBodies } from './slow-bodies.ts';
import type { ResponseHead } from '../http/response-head-policy.ts';
import type { ShareRouteTable } from '../shares/share-routes.ts';

/** Counted since the start. */
export interface GatewayCounters {
  requests: number;
  /** Requests that were refused or not served, with the gateway's own page or a cut response. */
  failures: number;
  retries: number;
  upgrades: number;
  /** TLS handshakes with clients. */
  failedHandshakes: number;
}

export interface GatewayContext {
  readonly limits: GatewayLimits;
  readonly headBudget: HeadBudget;
  readonly table: ShareRouteTable<RoutePool>;
  readonly pool: RequestCircuits;
  readonly log: Log;
  readonly access: AccessControl;
  /** Undefined if no proxy is trusted. */
  readonly trust: ProxyTrust | undefined;
  /** Answers to a certificate authority; undefined unless single names get certificates automatically. */
  readonly challenges: ChallengeAnswers | undefined;
  readonly records: RequestRecords;
  readonly observer: RequestObserver;
  readonly counters: GatewayCounters;
  readonly slowBodies: SlowBodies;
  /**
   * Scratch object for the head that is being read. It is valid until the handler returns; code that keeps it
   * longer replaces it.
   */
  requestHead: RequestHead;
  readonly responseHead: ResponseHead;
  /** Monotonic milliseconds, advanced by the sweep. A late sweep advances it only a little. */
  nowMs: number;
  /** Whether the gateway is closing, so that every response is the last one of its connection. */
  draining: boolean;
}
