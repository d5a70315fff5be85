/**
 * Who connects the far end of a circuit at this router: a dialer per binding. `edge` reaches hosts that SDKs are;
 * `transport` and its like dial themselves, and only when the configuration lists them under `dialers`.
 */
import { FrontdoorError } from '#base';
import type { DialerConfig } from '../config/router-config.ts';

export interface EgressDial {
  readonly circuitId: string;
  /** Of the end to be. */
  readonly address: string;
  /** The terminator's address, in the form of its binding. */
  readonly destination: string;
  readonly controllerId: string;
  readonly peerData: ReadonlyMap<number, Uint8Array>;
  /** By `performance.now()`. */
  readonly deadlineMs: number;
  /** Aborted when the circuit is taken away meanwhile. */
  readonly signal: AbortSignal;
}

/** Registers the end and resolves with its peer data for the dialing side. Rejects with the reason of the refusal. */
export type EgressDialer = (dial: EgressDial) => Promise<ReadonlyMap<number, Uint8Array>>;

/** Bindings that a router dials itself. */
const OWN_BINDINGS: ReadonlySet<string> = new Set(['transport', 'transport_udp', 'proxy', 'proxy_udp']);

/** The terminator asks for something that this router cannot do, which an operator has to correct. */
export function misconfigured(message: string): FrontdoorError {
  return new FrontdoorError('invalid', 'misconfigured-terminator', message);
}

export class EgressDialers {
  readonly #dialers = new Map<string, EgressDialer>();
  readonly #listed: ReadonlyMap<string, DialerConfig>;

  /** `listed`: the `dialers` of the configuration; of equal bindings the last counts. */
  constructor(listed: readonly DialerConfig[]) {
    this.#listed = new Map(listed.map((dialer) => [dialer.binding, dialer]));
  }

  /** For `edge`, and for a listed binding that this version can dial. */
  add(binding: string, dialer: EgressDialer): void {
    this.#dialers.set(binding, dialer);
  }

  listed(binding: string): DialerConfig | undefined {
    return this.#listed.get(binding);
  }

  /** Whether a terminator of this binding can stand here. */
  knows(binding: string): boolean {
    return this.#dialers.has(binding);
  }

  /** Rejects with `misconfigured-terminator` when no dialer here has that binding. */
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
