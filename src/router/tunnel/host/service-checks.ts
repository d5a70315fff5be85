/**
 * Runs the health checks of hosted terminators, each at its interval, and applies their actions. All checks together run
 * in a bounded pool; a check that finds no place is left out until its next time.
 */
import type { Clock, Log } from '#base';
import { WorkerPool } from '../../pools/worker-pool.ts';
import { applyHealthActions, stepCheckRun, type CheckRun } from './health-action-machine.ts';
import type { HealthCheckConfig } from './host-config.ts';
import type { HostedTerminator } from './hosted-terminator.ts';
import type { ServiceProbe } from './service-probe.ts';

export interface ServiceChecksOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly probe: ServiceProbe;
  /** The terminator has new values. */
  onChanged(terminator: HostedTerminator): void;
  /** An action sends the result itself. */
  onEvent(terminator: HostedTerminator, passed: boolean): void;
}

interface Check {
  readonly terminator: HostedTerminator;
  readonly config: HealthCheckConfig;
  timer: NodeJS.Timeout | undefined;
  run: CheckRun | undefined;
}

/** Checks of services that do not respond must not delay those of others for long. */
const CONCURRENT_CHECKS = 256;
const WAITING_CHECKS = 4_096;

export class ServiceChecks {
  readonly #options: ServiceChecksOptions;
  readonly #pool: WorkerPool;
  readonly #checks = new Map<string, readonly Check[]>();

  constructor(options: ServiceChecksOptions) {
    this.#options = options;
    this.#pool = new WorkerPool({
      name: 'tunnel.checks',
      queueLength: WAITING_CHECKS,
      workerCount: CONCURRENT_CHECKS,
      log: options.log,
    });
  }

  /** Checks the service at once and then at its intervals, in place of earlier checks of the terminator. */
  start(terminator: HostedTerminator): void {
    this.stop(terminator.id);
    const checks = terminator.config.checks.map((config) => ({
      terminator,
      config,
      timer: undefined,
      run: undefined,
    }));
    if (checks.length === 0) return;
    this.#checks.set(terminator.id, checks);
    for (const check of checks) this.#begin(check);
  }

  stop(terminatorId: string): void {
    for (const { timer } of this.#checks.get(terminatorId) ?? []) clearTimeout(timer);
    this.#checks.delete(terminatorId);
  }

  close(): void {
    for (const id of [...this.#checks.keys()]) this.stop(id);
    this.#pool.close();
  }

  #begin(check: Check): void {
    const { clock, log } = this.#options;
    const { service } = check.terminator;
    const startedMs = clock.monotonicMs();
    const next = (): void => {
      if (!this.#isActive(check)) return;
      const restMs = Math.max(0, startedMs + check.config.intervalMs - clock.monotonicMs());
      check.timer = setTimeout(() => this.#begin(check), restMs);
    };
    const isTaken = this.#pool.offer(async () => {
      if (this.#isActive(check)) this.#apply(check, await this.#options.probe(check.config));
      next();
    });
    if (isTaken) return;
    log.warn({ service: service.name }, 'a health check is left out, because too many are running');
    next();
  }

  #isActive(check: Check): boolean {
    return this.#checks.get(check.terminator.id)?.includes(check) === true;
  }

  #apply(check: Check, fault: string | undefined): void {
    if (!this.#isActive(check)) return;
    const { clock, log, onChanged, onEvent } = this.#options;
    const { terminator, config } = check;
    const passed = fault === undefined;
    const wasPassing = check.run?.passed ?? true;
    const nowMs = clock.monotonicMs();
    check.run = stepCheckRun(check.run, passed, nowMs);
    const { name } = terminator.service;
    if (passed !== wasPassing)
      log.warn(
        { service: name, terminator: terminator.id, fault },
        `health check ${passed ? 'passes again' : 'fails'}`,
      );
    const { values, baseline } = terminator;
    const outcome = applyHealthActions(config.actions, check.run, values, baseline, nowMs);
    const { cost, precedence } = outcome.values;
    if (outcome.sendsEvent) onEvent(terminator, passed);
    if (cost === values.cost && precedence === values.precedence) return;
    terminator.values = outcome.values;
    onChanged(terminator);
  }
}
