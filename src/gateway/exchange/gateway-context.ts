/** What all connections of one gateway share. The clock is coarse, for deadlines: the sweep moves it. */
import type { Log } from '#base';
import type { AccessControl } from '../access/access.ts';
import type { CircuitPool } from '../circuits/circuit-pool.ts';
import type { RoutePool } from '../circuits/upstream.ts';
import type { GatewayLimits } from '../limits/gateway-limits.ts';
import type { RequestHead } from '../http/request-head-policy.ts';
import type { RequestObserver } from './request-record.ts';
import type { RequestRecords } from './request-records.ts';
import type { ResponseHead } from '../http/response-head-policy.ts';
import type { ShareRouteTable } from '../shares/share-table.ts';

/** Counted since the start. */
export interface GatewayCounters {
  requests: number;
  /** Requests refused or not served, by the gateway's own page or by a broken answer. */
  failures: number;
  retries: number;
  upgrades: number;
  /** Of TLS with clients. */
  failedHandshakes: number;
}

export interface GatewayContext {
  readonly limits: GatewayLimits;
  readonly table: ShareRouteTable<RoutePool>;
  readonly pool: CircuitPool;
  readonly log: Log;
  readonly access: AccessControl;
  readonly records: RequestRecords;
  readonly observer: RequestObserver;
  readonly counters: GatewayCounters;
  /** Scratch for the head that is being read: valid until the handler returns, or whoever needs it longer replaces it. */
  requestHead: RequestHead;
  readonly responseHead: ResponseHead;
  /** Monotonic, in milliseconds of this process running: moved by the sweep, and little by one that is late. */
  nowMs: number;
  /** Closing: every answer is the last one of its connection. */
  draining: boolean;
}
