/**
 * Runs the health checks of hosted terminators, each at its interval, and applies their actions. All checks together run
 * in a bounded pool; a check that finds no place is left out until its next time.
 */
import { WorkerPool, type Clock, type Log } from '#base';
import {
  applyHealthActions,
  stepCheckRun,
  type CheckRun,
  type TerminatorValues,
} from './health-action-machine.ts';
import type { HealthCheckConfig } from './host-config.ts';
import type { ServiceProbe } from './service-probe.ts';

/** A terminator whose checks run. */
export interface CheckedTerminator {
  readonly id: string;
  readonly service: { readonly name: string };
  readonly config: { readonly checks: readonly HealthCheckConfig[] };
  /** Values without health checks. */
  readonly baseline: TerminatorValues;
  /** Values by the latest results of health checks. */
  values: TerminatorValues;
}

export interface ServiceChecksOptions<Terminator extends CheckedTerminator> {
  readonly clock: Clock;
  readonly log: Log;
  readonly probe: ServiceProbe;
  /** The terminator has new values. */
  onChanged(terminator: Terminator): void;
  /** An action sends the result itself. */
  onEvent(terminator: Terminator, passed: boolean): void;
}

interface Check<Terminator> {
  readonly terminator: Terminator;
  readonly config: HealthCheckConfig;
  timer: NodeJS.Timeout | undefined;
  run: CheckRun | undefined;
}

/** Checks of services that do not respond must not delay those of others for long. */
const CONCURRENT_CHECKS = 256;
const WAITING_CHECKS = 4_096;

export class ServiceChecks<Terminator extends CheckedTerminator> {
  readonly #options: ServiceChecksOptions<Terminator>;
  readonly #pool: WorkerPool;
  readonly #checks = new Map<string, readonly Check<Terminator>[]>();

  constructor(options: ServiceChecksOptions<Terminator>) {
    this.#options = options;
    this.#pool = new WorkerPool({
      name: 'tunnel.checks',
      queueLength: WAITING_CHECKS,
      workerCount: CONCURRENT_CHECKS,
      log: options.log,
    });
  }

  /** Checks the service at once and then at its intervals, instead of earlier checks of the terminator. */
  start(terminator: Terminator): void {
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

  #begin(check: Check<Terminator>): void {
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

  #isActive(check: Check<Terminator>): boolean {
    return this.#checks.get(check.terminator.id)?.includes(check) === true;
  }

  #apply(check: Check<Terminator>, fault: string | undefined): void {
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
