/** What a gateway holds now, and what it has counted since its start. */
export interface GatewayStats {
  readonly connections: number;
  /** Memory of unfinished and large request heads: see `HeadBudget`. */
  readonly headBytes: number;
  readonly openCircuits: number;
  readonly idleCircuits: number;
  /** Ports of shares that listen. */
  readonly openPorts: number;
  /** Connections to shares of streams. */
  readonly streamConnections: number;
  readonly dials: number;
  readonly failedDials: number;
  readonly shares: number;
  readonly slowBodies: number;
  readonly cutSlowBodies: number;
  readonly requests: number;
  readonly failures: number;
  readonly retries: number;
  readonly upgrades: number;
  readonly failedHandshakes: number;
}
