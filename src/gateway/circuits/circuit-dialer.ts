import type { Circuit } from '#sdk';

/** How the gateway reaches private services; the wiring gives it one that speaks to a router. */
export interface CircuitDialer {
  /**
   * A new circuit to the service, paused. `isStandby`: the agent is asked to connect to the service when bytes come, and
   * not before. Rejects with a `CircuitError`.
   */
  dial(serviceId: string, timeoutMs: number, isStandby?: boolean): Promise<Circuit>;
}
