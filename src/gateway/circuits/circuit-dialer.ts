import type { Circuit } from '#sdk';

/** Opens circuits to private services. The wiring provides an implementation that uses routers. */
export interface CircuitDialer {
  /**
   * Returns a new circuit to the service, paused. With `isStandby`, the agent connects to the service only when
   * bytes arrive. Rejects with a `CircuitError`.
   */
  dial(serviceId: string, timeoutMs: number, options?: { readonly isStandby?: boolean }): Promise<Circuit>;
}
