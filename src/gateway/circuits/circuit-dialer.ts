import { utf8 } from '#base';
import { encodeRouteData } from '#domain/upstream';
import type { Circuit } from '#sdk';

export interface CircuitDialOptions {
  readonly isStandby?: boolean;
  readonly appData?: Uint8Array;
}

/** `path`: that of the target, if it is not the share's own. Standby circuits are for the share's own target. */
export function dialOptionsOf(path: string | undefined): CircuitDialOptions {
  return path === undefined ? {} : { appData: utf8(encodeRouteData(path)) };
}

/** Opens circuits to private services. The wiring provides an implementation that uses routers. */
export interface CircuitDialer {
  /**
   * Returns a new circuit to the service, paused. With `isStandby`, the agent connects to the service only when
   * bytes arrive; `appData` is for the agent. Rejects with a `CircuitError`.
   */
  dial(serviceId: string, timeoutMs: number, options?: CircuitDialOptions): Promise<Circuit>;
}
