/**
 * `frontdoor tunnel host`: hosts services that the identity may bind, each as its config or an explicit target says. It follows
 * services, policies and configs, and hosts again what comes back.
 */
import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { messageOf, systemClock, type HostPort, type Log } from '#base';
import { UdpDialer, type DatagramConnection } from '#net/datagrams';
import type { EdgeService } from '#sdk';
import { NameLookups } from '#net/names';
import { FarEndDialer, ServiceChecks, serviceProbe } from '#sdk/hosting';
import { HostedEntry } from './hosted-entry.ts';
import { hostPlans, type HostPlan } from './host-plan.ts';
import type { TunnelOverlay } from './tunnel-overlay.ts';

export interface HostedTarget {
  readonly service: string;
  /** Instead of the service's config. */
  readonly target?: HostPort | undefined;
}

export interface TunnelHostOptions {
  readonly overlay: Pick<TunnelOverlay, 'api' | 'host' | 'close' | 'name'>;
  /** Empty: every service that the identity may host and that has a config. */
  readonly services: readonly HostedTarget[];
  readonly log: Log;
}

const FOLLOW_MS = 5_000;
const RETRY_MS = 1_000;

export class TunnelHost {
  /** Resolves with the names of the hosted services when all that were asked for are hosted, for the first time. */
  readonly ready: Promise<readonly string[]>;
  readonly #options: TunnelHostOptions;
  readonly #entries = new Map<string, HostedEntry>();
  readonly #checks: ServiceChecks<HostedEntry>;
  readonly #farEnds: FarEndDialer<DatagramConnection>;
  readonly #processId = randomUUID();
  /** The problem of each service that is not hosted, by its name; each is logged once. */
  #problems = new Map<string, string>();
  readonly #isReady = Promise.withResolvers<readonly string[]>();
  readonly #cut = new AbortController();
  #idle = Promise.withResolvers<void>();
  #mark: string | undefined;
  #timer: NodeJS.Timeout | undefined;
  #closing: Promise<void> | undefined;

  constructor(options: TunnelHostOptions) {
    this.#options = options;
    this.ready = this.#isReady.promise;
    const names = new NameLookups();
    this.#checks = new ServiceChecks<HostedEntry>({
      clock: systemClock,
      log: options.log,
      probe: serviceProbe(names.forSockets),
      onChanged: (entry) => entry.pushValues(),
      onEvent: (entry, passed) => entry.reportHealth(passed),
    });
    this.#farEnds = new FarEndDialer({ udp: new UdpDialer(), lookup: names.lookup });
    void this.#follow();
  }

  /** Circuits that are open or being made. */
  get openCircuits(): number {
    return [...this.#entries.values()].reduce((sum, { circuits }) => sum + circuits, 0);
  }

  /**
   * Takes no more circuits, waits up to `drainMs` for the open ones, and ends. A second call with less time shortens that.
   */
  close(drainMs: number): Promise<void> {
    if (drainMs <= 0) this.#cut.abort();
    this.#closing ??= this.#close(drainMs);
    return this.#closing;
  }

  async #close(drainMs: number): Promise<void> {
    clearTimeout(this.#timer);
    this.#checks.close();
    for (const entry of this.#entries.values()) entry.withdraw();
    const late = AbortSignal.any([AbortSignal.timeout(Math.max(0, drainMs)), this.#cut.signal]);
    const over = Promise.withResolvers<void>();
    late.addEventListener('abort', () => over.resolve(), { once: true });
    if (this.openCircuits > 0 && !late.aborted) await Promise.race([this.#idle.promise, over.promise]);
    for (const entry of this.#entries.values()) entry.close('the tunnel stopped');
    await this.#options.overlay.close();
  }

  async #follow(): Promise<void> {
    const { overlay, log } = this.#options;
    let nextMs = FOLLOW_MS;
    try {
      const mark = await overlay.api.serviceUpdates();
      if (mark !== this.#mark) {
        const [services, identity] = [await overlay.api.services(), await overlay.api.currentIdentity()];
        if (this.#closing !== undefined) return;
        const problems = new Map<string, string>();
        this.#apply(
          this.#wanted(services, problems).flatMap(([service, target]) => {
            try {
              return hostPlans(service, target, identity);
            } catch (error) {
              problems.set(service.name, messageOf(error));
              return [];
            }
          }),
        );
        this.#report(problems);
        this.#mark = mark;
        this.#checkReady();
      }
    } catch (error) {
      log.debug({ err: messageOf(error) }, 'the services cannot be followed at the moment');
      if (this.#mark === undefined) nextMs = RETRY_MS;
    }
    if (this.#closing === undefined) this.#timer = setTimeout(() => void this.#follow(), nextMs);
  }

  /** The services to host, each with its explicit target. */
  #wanted(
    services: readonly EdgeService[],
    problems: Map<string, string>,
  ): (readonly [EdgeService, HostPort | undefined])[] {
    const { services: asked, overlay } = this.#options;
    const allowed = services.filter(({ permissions }) => permissions.includes('Bind'));
    if (asked.length === 0)
      return allowed
        .filter(({ config }) => Object.keys(config).length > 0)
        .map((service) => [service, undefined]);
    return asked.flatMap(({ service: name, target }) => {
      const service = allowed.find((one) => one.name === name);
      if (service !== undefined) return [[service, target] as const];
      const remedy = `let a service policy of type Bind name the service and ${overlay.name}`;
      problems.set(name, `there is no service "${name}" that this identity may host: ${remedy}`);
      return [];
    });
  }

  #report(problems: Map<string, string>): void {
    for (const [service, problem] of problems)
      if (this.#problems.get(service) !== problem)
        this.#options.log.error({ service, problem }, 'a service is not hosted');
    this.#problems = problems;
  }

  #apply(plans: readonly HostPlan[]): void {
    const leaving = new Map(this.#entries);
    for (const plan of plans) {
      const entry = leaving.get(plan.key);
      if (entry?.isSameBind(plan) !== true) continue;
      leaving.delete(plan.key);
      if (isDeepStrictEqual([entry.config, entry.baseline], [plan.config, plan.baseline])) continue;
      entry.change(plan);
      this.#checks.start(entry);
    }
    for (const entry of leaving.values()) {
      this.#entries.delete(entry.id);
      this.#checks.stop(entry.id);
      entry.close('the service is no longer hosted here');
      this.#options.log.info({ service: entry.service.name }, 'no longer hosting a service');
    }
    for (const plan of plans) if (!this.#entries.has(plan.key)) this.#add(plan);
  }

  #add(plan: HostPlan): void {
    const { overlay, log } = this.#options;
    const entry = new HostedEntry({
      plan,
      log,
      host: overlay.host,
      farEnds: this.#farEnds,
      processId: this.#processId,
      keyPem: overlay.api.identity.keyPem,
      onBound: () => this.#checkReady(),
      onEnded: () => {
        if (this.#closing !== undefined && this.openCircuits === 0) this.#idle.resolve();
      },
    });
    this.#entries.set(plan.key, entry);
    this.#checks.start(entry);
  }

  #checkReady(): void {
    if (this.#mark === undefined) return;
    const entries = [...this.#entries.values()];
    const names = new Set(entries.map(({ service }) => service.name));
    const isWhole = this.#options.services.every(({ service }) => names.has(service));
    if (isWhole && entries.every(({ isBound }) => isBound)) this.#isReady.resolve([...names]);
  }
}
