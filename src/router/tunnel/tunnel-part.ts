/**
 * Tunnels: listeners with the binding `tunnel` carry services for programs that know nothing of the overlay. The services
 * are those of the router's own identity, which the data model contains. Only this file connects the parts below.
 */
import type { Clock, Log } from '#base';
import type { TunnelListenerConfig } from '../config/router-config.ts';
import type { Controllers, CtrlHandlers } from '../ctrl/controllers.ts';
import type { TerminatorCheck } from '../edge/terminator-messages.ts';
import type { DataModel } from '../model/data-model.ts';
import type { WorkerPool } from '../pools/worker-pool.ts';
import type { EgressDialers } from '../xgress/egress-dialers.ts';
import type { IngressCircuits } from '../xgress/ingress-circuits.ts';
import type { XgressEnds } from '../xgress/xgress-ends.ts';
import { TunnelCircuits } from './circuits/tunnel-circuits.ts';
import { HostPart } from './host/host-part.ts';
import { ProxyPart } from './proxy/proxy-part.ts';
import { TunnelServices } from './services/tunnel-services.ts';

export interface TunnelPartOptions {
  readonly routerId: string;
  readonly listeners: readonly TunnelListenerConfig[];
  readonly model: DataModel;
  readonly controllers: Controllers;
  /** Time limit for a controller's answer. */
  readonly requestTimeoutMs: number;
  /** The pool of `forwarder.rateLimited*`. */
  readonly rateLimiter: WorkerPool;
  readonly ingress: IngressCircuits;
  readonly dialers: EgressDialers;
  readonly ends: XgressEnds;
  /** Returns the place of a key in the router file: file, line and key. */
  placeOf(path: string): string;
  readonly clock: Clock;
  readonly log: Log;
}

/** A direction or mode of a tunnel. */
interface TunnelFeature {
  /** Messages of controllers that it handles. */
  handlers?(): readonly CtrlHandlers[];
  /** Validate its terminators. */
  readonly terminatorChecks?: readonly TerminatorCheck[];
  /** Accepts no more connections. Circuits remain. */
  close(): void | Promise<void>;
}

const ANY_HOST = '0.0.0.0';

export class TunnelPart {
  readonly #options: TunnelPartOptions;
  readonly #services: TunnelServices;
  readonly #features: TunnelFeature[] = [];

  private constructor(options: TunnelPartOptions) {
    this.#options = options;
    const { routerId, model, log } = options;
    this.#services = new TunnelServices({ routerId, model, log });
  }

  /** Rejects with a `FrontdoorError` when something that a listener needs is not available. */
  static async open(options: TunnelPartOptions): Promise<TunnelPart> {
    const part = new TunnelPart(options);
    try {
      part.#openHost();
      for (const listener of options.listeners) await part.#open(listener);
      return part;
    } catch (error) {
      await part.close();
      throw error;
    }
  }

  handlers(): CtrlHandlers[] {
    return this.#features.flatMap((feature) => feature.handlers?.() ?? []);
  }

  get terminatorChecks(): TerminatorCheck[] {
    return this.#features.flatMap(({ terminatorChecks = [] }) => terminatorChecks);
  }

  /** Closes ports, so that clients choose another router. Circuits remain until the ends of the router close. */
  async close(): Promise<void> {
    for (const feature of this.#features.splice(0).reverse()) await feature.close();
    this.#services.close();
  }

  /** Every mode hosts. The router has one identity, so that several listeners host its services once. */
  #openHost(): void {
    const { listeners, dialers } = this.#options;
    const config = dialers.listed('tunnel')?.xgress ?? listeners[0]?.xgress;
    if (config === undefined) return;
    this.#features.push(new HostPart({ ...this.#options, services: this.#services, config }));
  }

  async #open(listener: TunnelListenerConfig): Promise<void> {
    const { ingress, placeOf, clock, log } = this.#options;
    const services = this.#services;
    const dialer = new TunnelCircuits({ services, ingress, config: listener.xgress });
    this.#features.push(dialer);
    if (listener.mode.name !== 'proxy') return;
    const entries = { entries: listener.services, placeOf, host: ANY_HOST };
    const options = { ...entries, config: listener, services, dialer, clock, log };
    this.#features.push(await ProxyPart.open(options));
  }
}
