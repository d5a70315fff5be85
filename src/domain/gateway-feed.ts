/**
 * The stream of `GET /gateway/v1/shares`: one JSON object a line. A snapshot first (or the deltas since the version
 * that the gateway named), then deltas whose version is the last one plus one, and heartbeats in between.
 */
export interface GatewayShare {
  /** The overlay's service id: what a gateway dials. */
  readonly id: string;
  readonly token: string;
  /** Lower-case host names under which the share is served. */
  readonly hosts: readonly string[];
  readonly authProviderIds: readonly string[];
  readonly frontdoorId: string;
  readonly environmentId: string;
  readonly updatedAtMs: number;
}

export interface GatewaySnapshot {
  readonly type: 'snapshot';
  readonly version: number;
  /** Names one run of the control plane: versions compare only within it. */
  readonly epoch: string;
  readonly shares: readonly GatewayShare[];
}

export interface GatewayDelta {
  readonly type: 'delta';
  readonly version: number;
  readonly set: readonly GatewayShare[];
  /** Service ids. */
  readonly removed: readonly string[];
}

export interface GatewayHeartbeat {
  readonly type: 'heartbeat';
}

export type GatewayFeedEvent = GatewaySnapshot | GatewayDelta | GatewayHeartbeat;

/** A heartbeat comes this often; three missing ones mean that the stream is dead. */
export const GATEWAY_FEED_HEARTBEAT_MS = 5_000;
