/**
 * Selects the dialer of a circuit's far end by binding. `edge` dials SDKs that host services; the router itself dials
 * `transport` and similar bindings, if the configuration lists them under `dialers`.
 */
import { FrontdoorError } from '#base';
import type { DialerConfig } from '../config/router-config.ts';

export interface EgressDial {
  readonly circuitId: string;
  /** The address of the new end. */
  readonly address: string;
  /** The terminator's address, in the form of its binding. */
  readonly destination: string;
  readonly controllerId: string;
  readonly peerData: ReadonlyMap<number, Uint8Array>;
  /** The deadline by `performance.now()`. */
  readonly deadlineMs: number;
  /** Aborted when the circuit is unrouted during the dial. */
  readonly signal: AbortSignal;
}

/** Registers the end and resolves with its peer data for the dialing side. Rejects with the reason of the refusal. */
export type EgressDialer = (dial: EgressDial) => Promise<ReadonlyMap<number, Uint8Array>>;

/** Bindings that a router dials itself. */
const OWN_BINDINGS: ReadonlySet<string> = new Set([
  'transport',
  'edge_transport',
  'transport_udp',
  'proxy',
  'proxy_udp',
]);

/** The terminator requires something that this router does not support, so an operator has to correct it. */
export function misconfigured(message: string): FrontdoorError {
  return new FrontdoorError('invalid', 'misconfigured-terminator', message);
}

export class EgressDialers {
  readonly #dialers = new Map<string, EgressDialer>();
  readonly #listed: ReadonlyMap<string, DialerConfig>;

  /** `listed` are the `dialers` of the configuration. Of equal bindings the last one is used. */
  constructor(listed: readonly DialerConfig[]) {
    this.#listed = new Map(listed.map((dialer) => [dialer.binding, dialer]));
  }

  /** True for `edge`, and for a listed binding that this version can dial. */
  add(binding: string, dialer: EgressDialer): void {
    this.#dialers.set(binding, dialer);
  }

  listed(binding: string): DialerConfig | undefined {
    return this.#listed.get(binding);
  }

  /** Returns true if this router can have terminators with this binding. */
  knows(binding: string): boolean {
    return this.#dialers.has(binding);
  }

  /** Rejects with `misconfigured-terminator` when the router has no dialer with that binding. */
  async dial(binding: string, dial: EgressDial): Promise<ReadonlyMap<number, Uint8Array>> {
    const dialer = this.#dialers.get(binding);
    if (dialer !== undefined) return dialer(dial);
    const listed = this.#listed.get(binding);
    if (listed !== undefined)
      throw misconfigured(`${listed.path}.binding: this router cannot dial by "${binding}"`);
    if (OWN_BINDINGS.has(binding))
      throw misconfigured(
        `this router may not dial by "${binding}": its configuration lists no such dialers`,
      );
    throw misconfigured(`no dialer for binding "${binding}" on this router`);
  }
}
