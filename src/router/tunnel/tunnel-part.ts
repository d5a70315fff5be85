/**
 * Tunnels: listeners with the binding `tunnel` carry services for programs that know nothing of the overlay. The services
 * are those of the router's own identity, which the data model contains. Only this file connects the parts below.
 */
import type { Clock, Log, WorkerPool } from '#base';
import type { TunnelListenerConfig } from '../config/router-config.ts';
import type { Controllers, CtrlHandlers, InspectSource } from '../ctrl/controllers.ts';
import type { TerminatorCheck } from '../edge/terminator-messages.ts';
import type { DataModel } from '../model/data-model.ts';
import type { EgressDialers } from '../xgress/egress-dialers.ts';
import type { IngressCircuits } from '../xgress/ingress-circuits.ts';
import type { XgressEnds } from '../xgress/xgress-ends.ts';
import { TunnelCircuits } from './circuits/tunnel-circuits.ts';
import { NameServer } from './dns/name-server.ts';
import { HostPart } from './host/host-part.ts';
import { SourceAddresses } from './host/source-addresses.ts';
import { machineIdOf, type MachineRecord } from './machine/machine-record.ts';
import { ProxyPart } from './proxy/proxy-part.ts';
import { TunnelServices } from './services/tunnel-services.ts';
import { TproxyPart } from './tproxy/tproxy-part.ts';

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
  /** Path of the file that keeps the addresses of names for mode tproxy. */
  readonly namesFile: string;
  /** Lists what the parts change on this machine. */
  readonly record: MachineRecord;
  /** Returns the place of a key in the router file: file, line and key. */
  placeOf(path: string): string;
  readonly clock: Clock;
  readonly log: Log;
}

/** A direction or mode of a tunnel. */
interface TunnelFeature {
  /** Messages of controllers that it handles. */
  handlers?(): readonly CtrlHandlers[];
  readonly inspect?: InspectSource;
  /** Validate its terminators. */
  readonly terminatorChecks?: readonly TerminatorCheck[];
  /** Accepts no more connections. Circuits remain. Without it, `close` does that. */
  drain?(): void;
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

  readonly inspect: InspectSource = (name) =>
    this.#features.map((feature) => feature.inspect?.(name)).find((value) => value !== undefined);

  get terminatorChecks(): TerminatorCheck[] {
    return this.#features.flatMap(({ terminatorChecks = [] }) => terminatorChecks);
  }

  /** Closes ports, so that clients choose another router. Circuits remain. */
  async drain(): Promise<void> {
    for (const feature of this.#features.toReversed()) {
      if (feature.drain === undefined) await feature.close();
      else feature.drain();
    }
  }

  /** Also removes what modes changed on this machine. Circuits remain until the ends of the router close. */
  async close(): Promise<void> {
    for (const feature of this.#features.splice(0).reverse()) await feature.close();
    this.#services.close();
  }

  /** Every mode hosts. The router has one identity, so that several listeners host its services once. */
  #openHost(): void {
    const { listeners, dialers } = this.#options;
    const config = dialers.listed('tunnel')?.xgress ?? listeners[0]?.xgress;
    if (config === undefined) return;
    const { routerId } = this.#options;
    const sources = new SourceAddresses({ ...this.#options, id: machineIdOf(routerId, 'host') });
    // Closed last.
    this.#features.push(sources);
    this.#features.push(new HostPart({ ...this.#options, services: this.#services, config, sources }));
  }

  async #open(listener: TunnelListenerConfig): Promise<void> {
    const { ingress, placeOf, clock, log } = this.#options;
    const services = this.#services;
    const dialer = new TunnelCircuits({ services, ingress, config: listener.xgress });
    this.#features.push(dialer);
    const { mode } = listener;
    if (mode.name === 'host') return;
    const entries = { entries: mode.name === 'proxy' ? listener.services : [], placeOf, host: ANY_HOST };
    const options = { ...entries, config: listener, services, dialer, clock, log };
    this.#features.push(await ProxyPart.open(options));
    if (mode.name === 'tproxy') this.#features.push(await this.#openTproxy(listener, dialer));
  }

  async #openTproxy(config: TunnelListenerConfig, dialer: TunnelCircuits): Promise<TproxyPart> {
    const { listeners, namesFile, ...options } = this.#options;
    const ordinal = listeners.filter(({ mode }) => mode.name === 'tproxy').indexOf(config);
    const file = ordinal === 0 ? namesFile : `${namesFile}.${ordinal}`;
    return TproxyPart.open({
      ...options,
      ordinal,
      config,
      services: this.#services,
      dialer,
      openNames: (isInUse) => NameServer.open({ ...options, config, file, isInUse }),
    });
  }
}

/** Inspects the tunnels of a router, if there are any. Controllers also ask routers without them what they host. */
export function inspectTunnels(part: TunnelPart | undefined, name: string): unknown {
  return part?.inspect(name) ?? (name === 'ert-terminators' ? { entries: [], errors: [] } : undefined);
}
