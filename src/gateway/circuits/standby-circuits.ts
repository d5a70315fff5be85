/**
 * Standby circuits for times without a control plane, in which no new circuits can be made: a few for each share
 * with recent requests. The agent connects one to the private service when its first bytes arrive, so that it can
 * be idle for any time. The gateway's sweep timer makes and drops them; requests cost nothing.
 */
import { CircuitError } from '#sdk';
import type { GatewayLimits } from '../limits/gateway-limits.ts';
import type { GatewayRoute, Upstream } from './upstream.ts';

/** A share without requests for this time gets no new standby circuits and loses its existing ones. */
const DEMAND_MS = 10 * 60_000;
/** If there is no room, a share that was idle for this time loses its circuits to one that was not. */
const LOSES_AFTER_MS = 10_000;
const ROUND_MS = 1_000;
/** Dials for all shares together, so that the circuits come one after the other after a restart. */
const MAX_DIALS_PER_ROUND = 8;
const MAX_DIALS = 8;
/**
 * A host that ends an unused standby circuit sooner connected it at once, because its version does not support
 * standby.
 */
const SHORT_LIFE_MS = 120_000;
const REFUSED_MS = 10 * 60_000;
/** Pause after a dial that failed, or a circuit that broke. */
const RETRY_MS = 30_000;
/** Interval of dials while no control plane responds. A successful dial shows that it is back. */
const PROBE_MS = 10_000;

export interface StandbyOptions {
  readonly limits: GatewayLimits;
  /** Rejects with a `CircuitError`. */
  readonly dial: (route: GatewayRoute) => Promise<Upstream>;
  readonly finish: (upstream: Upstream) => void;
}

interface ShareStandby {
  readonly circuits: Upstream[];
  dialing: number;
}

export class StandbyCircuits {
  readonly #options: StandbyOptions;
  readonly #shares = new Map<GatewayRoute, ShareStandby>();
  readonly #maxShares: number;
  #dialing = 0;
  #nextRoundMs = 0;
  #nextProbeMs = 0;

  constructor(options: StandbyOptions) {
    const { standbyPerShare, maxStandbyCircuits } = options.limits;
    this.#options = options;
    this.#maxShares = standbyPerShare === 0 ? 0 : Math.floor(maxStandbyCircuits / standbyPerShare);
  }

  /** Requests standby circuits for a share that is hosted and in use. */
  want(route: GatewayRoute, nowMs: number): void {
    if (this.#maxShares === 0 || route.retired || this.#shares.has(route)) return;
    if (this.#shares.size >= this.#maxShares && !this.#dropQuietest(nowMs)) return;
    this.#shares.set(route, { circuits: [], dialing: 0 });
  }

  take(route: GatewayRoute): Upstream | undefined {
    const circuits = this.#shares.get(route)?.circuits;
    for (let upstream = circuits?.pop(); upstream !== undefined; upstream = circuits?.pop()) {
      if (!upstream.closed && !upstream.ended && upstream.circuit.isLeaving !== true) return upstream;
      this.#options.finish(upstream);
    }
    return undefined;
  }

  /** Handles a circuit that sent data, ended or closed by itself. Returns false if it is not a standby circuit. */
  lost(upstream: Upstream, nowMs: number): boolean {
    const { route } = upstream;
    const circuits = this.#shares.get(route)?.circuits;
    const at = circuits?.indexOf(upstream) ?? -1;
    if (at === -1) return false;
    circuits!.splice(at, 1);
    const didBreak = upstream.closed && !upstream.ended;
    const isRefused = !didBreak && nowMs - upstream.openedMs < SHORT_LIFE_MS;
    route.slot.standbyAfterMs = nowMs + (isRefused ? REFUSED_MS : RETRY_MS);
    return true;
  }

  drop(route: GatewayRoute): void {
    const share = this.#shares.get(route);
    this.#shares.delete(route);
    for (const upstream of share?.circuits.splice(0) ?? []) this.#options.finish(upstream);
  }

  close(): void {
    for (const route of [...this.#shares.keys()]) this.drop(route);
  }

  /** `isControlAway`: the last dial got no response from a control plane. */
  sweep(nowMs: number, isControlAway: boolean): void {
    if (nowMs < this.#nextRoundMs) return;
    this.#nextRoundMs = nowMs + ROUND_MS;
    if (!isControlAway) this.#nextProbeMs = nowMs + PROBE_MS;
    let most = Math.min(MAX_DIALS_PER_ROUND, MAX_DIALS - this.#dialing);
    if (isControlAway) most = Math.min(most, nowMs < this.#nextProbeMs ? 0 : 1);
    let begun = 0;
    for (const [route, share] of this.#shares) {
      if (!isControlAway && nowMs - route.slot.wantedMs >= DEMAND_MS) {
        this.drop(route);
        continue;
      }
      this.#dropLeaving(share);
      if (begun >= most || nowMs < route.slot.standbyAfterMs) continue;
      if (share.circuits.length + share.dialing >= this.#options.limits.standbyPerShare) continue;
      begun += 1;
      this.#nextProbeMs = nowMs + PROBE_MS;
      void this.#dial(route, share, nowMs);
    }
  }

  #dropLeaving({ circuits }: ShareStandby): void {
    for (let at = circuits.length - 1; at >= 0; at -= 1) {
      if (circuits[at]!.circuit.isLeaving !== true) continue;
      const [leaving] = circuits.splice(at, 1);
      this.#options.finish(leaving!);
    }
  }

  #dropQuietest(nowMs: number): boolean {
    let quietest: GatewayRoute | undefined;
    for (const route of this.#shares.keys())
      if (quietest === undefined || route.slot.wantedMs < quietest.slot.wantedMs) quietest = route;
    if (quietest === undefined || nowMs - quietest.slot.wantedMs < LOSES_AFTER_MS) return false;
    this.drop(quietest);
    return true;
  }

  async #dial(route: GatewayRoute, share: ShareStandby, nowMs: number): Promise<void> {
    share.dialing += 1;
    this.#dialing += 1;
    try {
      const upstream = await this.#options.dial(route);
      if (this.#shares.get(route) === share) share.circuits.push(upstream);
      else this.#options.finish(upstream);
    } catch (error) {
      const isRefused = error instanceof CircuitError && error.code === 'service-refused';
      route.slot.standbyAfterMs = nowMs + (isRefused ? REFUSED_MS : RETRY_MS);
    } finally {
      share.dialing -= 1;
      this.#dialing -= 1;
    }
  }
}
