/**
 * The router's two health checks. `controllerPing`: a controller responds to heartbeats within the timeout; the check
 * sends no messages of its own. `link.health`: there are enough links, which are listed in its details.
 */
import type { Clock, Log } from '#base';
import type { HealthChecksConfig } from '../config/router-config.ts';
import { HealthCheck, type CheckFinding, type CheckState } from './health-check.ts';

/** A link in the details of the check. */
export interface LinkHealth {
  readonly linkId: string;
  readonly destRouterId: string;
  /** Mean latency in nanoseconds; undefined before the first measurement. */
  readonly latency: number | undefined;
  /** The addresses of the connections as `tcp:host:port`. */
  readonly connections: readonly {
    readonly type: string;
    readonly localAddress: string;
    readonly remoteAddress: string;
  }[];
}

export interface HealthChecksOptions {
  readonly config: HealthChecksConfig;
  /** Returns the connected controllers. */
  readonly controllers: () => readonly { readonly isResponsive: boolean }[];
  readonly links: () => readonly LinkHealth[];
  readonly clock: Clock;
  readonly log: Log;
}

export interface Health {
  readonly isHealthy: boolean;
  readonly checks: readonly CheckState[];
}

/** Interval at which a pending check looks for a responsive controller. */
const LOOK_AGAIN_MS = 250;

export class HealthChecks {
  readonly #options: HealthChecksOptions;
  readonly #checks: readonly HealthCheck[];
  #again: NodeJS.Timeout | undefined;
  #giveUp: (() => void) | undefined;

  constructor(options: HealthChecksOptions) {
    this.#options = options;
    const { config, clock } = options;
    const { ctrlPing, link } = config;
    const onChange = (state: CheckState): void => this.#onChange(state);
    this.#checks = [
      new HealthCheck({
        id: 'controllerPing',
        isInitiallyHealthy: false,
        clock,
        onChange,
        intervalMs: ctrlPing.intervalMs,
        initialDelayMs: ctrlPing.initialDelayMs,
        look: () => this.#lookForController(),
      }),
      new HealthCheck({
        id: 'link.health',
        isInitiallyHealthy: link.minLinks === 0,
        clock,
        onChange,
        intervalMs: link.intervalMs,
        initialDelayMs: link.initialDelayMs,
        look: () => this.#lookAtLinks(),
      }),
    ];
  }

  health(): Health {
    const checks = this.#checks.map(({ state }) => state);
    return { checks, isHealthy: checks.every(({ isHealthy }) => isHealthy) };
  }

  close(): void {
    for (const check of this.#checks) check.close();
    this.#giveUp?.();
  }

  #lookForController(): Promise<CheckFinding> | CheckFinding {
    const first = this.#controllerProblem();
    const { timeoutMs } = this.#options.config.ctrlPing;
    if (first === undefined || timeoutMs <= 0) return pinged(first);
    const untilMs = this.#options.clock.monotonicMs() + timeoutMs;
    return new Promise((resolve) => {
      this.#giveUp = () => {
        clearTimeout(this.#again);
        resolve(pinged(this.#controllerProblem()));
      };
      const look = (): void => {
        const leftMs = untilMs - this.#options.clock.monotonicMs();
        const problem = this.#controllerProblem();
        if (problem === undefined || leftMs <= 0) resolve(pinged(problem));
        else this.#again = setTimeout(look, Math.min(LOOK_AGAIN_MS, leftMs));
        this.#again?.unref();
      };
      look();
    });
  }

  #controllerProblem(): string | undefined {
    const controllers = this.#options.controllers();
    if (controllers.some(({ isResponsive }) => isResponsive)) return undefined;
    return controllers.length === 0 ? 'no control channels established yet' : 'control channels are slow';
  }

  #lookAtLinks(): CheckFinding {
    const links = this.#options.links();
    const { minLinks } = this.#options.config.link;
    const details = links.length === 0 ? null : links.map(linkDetails);
    if (links.length >= minLinks) return { details };
    return { details, problem: `link count ${links.length} less than configured minimum of ${minLinks}` };
  }

  #onChange({ id, isHealthy, problem }: CheckState): void {
    const { log } = this.#options;
    if (isHealthy) log.info({ check: id }, 'health check passes');
    else log.warn({ check: id, problem }, 'health check fails');
  }
}

function pinged(problem: string | undefined): CheckFinding {
  return problem === undefined ? { details: null } : { details: null, problem };
}

function linkDetails({ linkId, destRouterId, latency, connections }: LinkHealth) {
  const byType = [...connections].sort((a, b) => (a.type < b.type ? -1 : 1));
  return {
    linkId,
    destRouterId,
    latency,
    addresses: Object.fromEntries(
      byType.map(({ type, localAddress, remoteAddress }) => [
        type,
        { localAddr: localAddress, remoteAddr: remoteAddress },
      ]),
    ),
  };
}
