/**
 * A gateway's workers: one process each on the same ports, all with the gateway's identity, which is renewed here. One
 * that dies is started again; all are replaced one by one on request, the new one before the old one stops. On
 * the overlay they differ by their API sessions: each worker has its own, and channels belong to sessions.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { randomBytes } from 'node:crypto';
import { BackOff, FrontdoorError, messageOf, type Clock, type Log } from '#base';
import type { GatewayCommandOptions } from '#cli';
import { TICKET_SECRET_BYTES, type CertificateStore, type NeededCertificate } from '#gateway';
import { outwardDialerOf } from '#net';
import type { IdentityFile } from '#net/files';
import { CONTROL_PLANES_FILE, EdgeApiClient, KeptControlPlanes, IdentityRenewal } from '#sdk';
import type { AutomaticCertificates } from './gateway-demand.ts';
import { DRAIN_MS } from './lifetime.ts';
import type { ToWorker } from './worker-messages.ts';
import { WorkerPorts } from './worker-ports.ts';
import { WorkerProcess } from './worker-process.ts';

/** Pause before a restart, during which connections wait. */
const RESTART = { minMs: 100, maxMs: 2_000, factor: 2 };
/** After so long, a worker that is not back leaves its connections to the others. */
const HOLD_MS = 4_000;
const HOLD_LOOK_MS = 500;
/** A worker that lived so long is restarted without a pause. */
const STEADY_MS = 15_000;
const CRASH_WINDOW_MS = 60_000;

export interface GatewayWorkersOptions {
  readonly options: GatewayCommandOptions;
  /** The supervisor reads them, so that a problem is reported once. Undefined when HTTPS is off. */
  readonly certificates: CertificateStore | undefined;
  /** Obtains what the workers want, and gives it to `certificates`. Undefined when certificates are files alone. */
  readonly automatic?: AutomaticCertificates | undefined;
  /** Absolute path; each worker keeps its files below `workers/`. */
  readonly dataDir: string;
  readonly identity: IdentityFile;
  readonly identityFile: string;
  readonly version: string;
  readonly log: Log;
  /** The clock by which the certificate is renewed; the system's when absent. */
  readonly clock?: Clock;
}

interface Slot {
  /** Index of the worker, from 0. */
  readonly index: number;
  readonly backOff: BackOff;
  worker: WorkerProcess | undefined;
  restart: NodeJS.Timeout | undefined;
  release: NodeJS.Timeout | undefined;
}

export class GatewayWorkers {
  readonly #options: GatewayWorkersOptions;
  readonly #ports: WorkerPorts;
  readonly #slots: readonly Slot[];
  readonly #api: EdgeApiClient;
  readonly #renewal: IdentityRenewal;
  readonly #ticketSecret = randomBytes(TICKET_SECRET_BYTES).toString('base64');
  /** Every process that has not ended, including those that were replaced. */
  readonly #living = new Set<WorkerProcess>();
  #crashesAtMs: number[] = [];
  #isFresh = false;
  #replacing: Promise<boolean> | undefined;
  #closing: Promise<void> | undefined;

  private constructor(options: GatewayWorkersOptions, ports: WorkerPorts, controlPlanes: KeptControlPlanes) {
    const { log, version, identity } = options;
    this.#options = options;
    this.#ports = ports;
    this.#slots = Array.from({ length: options.options.workers }, (_, index) => ({
      index,
      backOff: new BackOff(RESTART),
      worker: undefined,
      restart: undefined,
      release: undefined,
    }));
    const outward = outwardDialerOf(process.env);
    const api = new EdgeApiClient({ identity, log, version, configTypes: [], controlPlanes, outward });
    this.#api = api;
    options.automatic?.source.follow(({ name, outcome, certificate = null, failure = null }) =>
      this.#sendAll({ type: 'certificate', name, outcome, certificate, failure }),
    );
    this.#renewal = new IdentityRenewal({
      client: {
        get identity() {
          return api.identity;
        },
        extendIdentity: (csrPem) => api.extendIdentity(csrPem),
        // The workers get it first: once the new certificate is used, the old one ends.
        useIdentity: (renewed) => {
          this.#sendAll({ type: 'identity', identity: renewed });
          api.useIdentity(renewed);
        },
        session: () => api.session(),
        changedAuthorities: () => api.changedAuthorities(),
        isRenewalRequested: () => api.isRenewalRequested(),
        onAuthoritiesChange: (listener) => api.onAuthoritiesChange(listener),
      },
      path: options.identityFile,
      log,
      clock: options.clock,
    });
  }

  /** Resolves when all workers listen. Rejects with the error of the first that did not start, after ending the others. */
  static async start(options: GatewayWorkersOptions): Promise<GatewayWorkers> {
    const { listen: host, httpPort, httpsPort, workers, metricsListen: metrics } = options.options;
    const ports = await WorkerPorts.open({
      host,
      httpPort,
      httpsPort: options.certificates === undefined ? undefined : httpsPort,
      workers,
      metrics,
    });
    const listFile = join(options.dataDir, CONTROL_PLANES_FILE);
    const controlPlanes = await KeptControlPlanes.load(listFile, options.log);
    const started = new GatewayWorkers(options, ports, controlPlanes);
    // The list comes with the log-in, so that a renewal finds another control plane.
    started.#api.session().catch((error: unknown) => {
      options.log.debug({ err: messageOf(error) }, 'the list of control planes is not known yet');
    });
    try {
      for (const slot of started.#slots) mkdirSync(started.#folderOf(slot), { recursive: true, mode: 0o700 });
      const areFresh = await Promise.all(started.#slots.map((slot) => started.#start(slot).ready));
      started.#isFresh = areFresh.every(Boolean);
    } catch (error) {
      await started.close(0);
      throw error;
    }
    return started;
  }

  /** Whether a control plane had sent the shares to each worker when they started. */
  get isFresh(): boolean {
    return this.#isFresh;
  }

  get plainPort(): number {
    return this.#ports.plainPort;
  }

  get securePort(): number | undefined {
    return this.#ports.securePort;
  }

  /** Renews the certificate now if that is due; resolves to whether a new one is in use. */
  checkIdentity(): Promise<boolean> {
    return this.#renewal.check();
  }

  async reload(): Promise<void> {
    // Before the workers want again what was refused.
    this.#options.automatic?.source.retry();
    this.#sendAll({ type: 'reload' });
    await this.#options.certificates?.reload();
  }

  /**
   * Replaces each worker's process, one after the other; the former one drains when the new one serves. Resolves to
   * false when a new one did not start; the others stay as they are then. A call during a replacement joins it.
   */
  replace(): Promise<boolean> {
    this.#replacing ??= this.#replace().finally(() => {
      this.#replacing = undefined;
    });
    return this.#replacing;
  }

  /** No worker is ready from now on, and each serves as before. */
  announceStop(): void {
    this.#sendAll({ type: 'stopping' });
  }

  /** Drains all workers for at most `drainMs`. A second call without a time cuts what is left. */
  close(drainMs: number): Promise<void> {
    if (this.#closing !== undefined && drainMs === 0) for (const worker of this.#living) void worker.stop(0);
    this.#closing ??= this.#close(drainMs);
    return this.#closing;
  }

  async #close(drainMs: number): Promise<void> {
    this.#renewal.close();
    await this.#options.automatic?.source.close();
    for (const slot of this.#slots) this.#forget(slot);
    // The supervisor's sockets close first: one that is held here alone would take connections that no worker accepts.
    this.#ports.close();
    await Promise.all([...this.#living].map((worker) => worker.stop(drainMs)));
    await this.#api.close();
  }

  async #replace(): Promise<boolean> {
    const { log } = this.#options;
    for (const slot of this.#slots) {
      if (this.#closing !== undefined) return false;
      clearTimeout(slot.restart);
      const former = slot.worker;
      this.#ports.hold(slot.index);
      const next = this.#start(slot);
      try {
        await next.ready;
      } catch {
        log.error({ worker: slot.index + 1 }, 'a new worker did not start: the others stay');
        // The former worker continues serving.
        if (former !== undefined && this.#living.has(former)) {
          slot.worker = former;
          this.#forget(slot);
        }
        next.kill();
        return false;
      }
      if (former !== undefined && this.#living.has(former)) void former.stop(DRAIN_MS);
    }
    log.info({ workers: this.#slots.length }, 'all workers were replaced');
    return true;
  }

  #start(slot: Slot): WorkerProcess {
    const { options, automatic, version, log } = this.#options;
    const number = slot.index + 1;
    const worker = new WorkerProcess(
      {
        type: 'start',
        number,
        workers: this.#slots.length,
        options,
        dataDir: this.#folderOf(slot),
        version,
        identity: this.#api.identity,
        plainPort: this.plainPort,
        securePort: this.securePort ?? null,
        ticketSecret: this.#ticketSecret,
        certificates: this.#options.certificates?.kept ?? null,
        automatic:
          automatic === undefined
            ? null
            : { thumbprint: automatic.thumbprint, hasWildcards: automatic.hasWildcards },
      },
      this.#ports.fdsOf(slot.index),
      (needed) => this.#want(worker, needed),
    );
    slot.worker = worker;
    this.#living.add(worker);
    worker.ready.then(
      () => {
        this.#forget(slot);
        log.info({ worker: number, pid: worker.pid }, 'worker is up');
      },
      (error: unknown) => log.error({ worker: number, err: messageOf(error) }, 'worker did not start'),
    );
    void worker.ended.then(({ reason, isClean }) => {
      this.#living.delete(worker);
      if (slot.worker === worker) this.#onEnd(slot, worker, reason);
      else log.info({ worker: number, pid: worker.pid, reason, isClean }, 'former worker ended');
    });
    return worker;
  }

  /** A worker ended without being asked to. */
  #onEnd(slot: Slot, worker: WorkerProcess, reason: string): void {
    slot.worker = undefined;
    if (this.#closing !== undefined) return;
    const nowMs = performance.now();
    this.#crashesAtMs = [...this.#crashesAtMs, nowMs].filter((atMs) => nowMs - atMs < CRASH_WINDOW_MS);
    if (nowMs - worker.startedMs >= STEADY_MS) slot.backOff.reset();
    const restartInMs = slot.backOff.next();
    this.#options.log.error(
      {
        worker: slot.index + 1,
        pid: worker.pid,
        reason,
        restartInMs,
        crashesInAMinute: this.#crashesAtMs.length,
      },
      'a worker ended by itself: started again',
    );
    slot.release ??= this.#releaseLater(slot);
    slot.restart = setTimeout(() => this.#startAgain(slot), restartInMs);
  }

  /** The time is counted in timer ticks: a machine that stood still gave the worker no time to come back. */
  #releaseLater(slot: Slot): NodeJS.Timeout {
    let looks = 0;
    const timer = setInterval(() => {
      looks += 1;
      if (looks * HOLD_LOOK_MS < HOLD_MS) return;
      clearInterval(timer);
      if (this.#ports.release(slot.index))
        this.#options.log.error(
          { worker: slot.index + 1 },
          'not back: the other workers take its connections',
        );
    }, HOLD_LOOK_MS);
    return timer;
  }

  /** Cancels what was planned when the slot's worker ended. */
  #forget(slot: Slot): void {
    clearTimeout(slot.restart);
    clearInterval(slot.release);
    slot.release = undefined;
  }

  #startAgain(slot: Slot): void {
    try {
      this.#ports.hold(slot.index);
      this.#start(slot);
    } catch (error) {
      const restartInMs = slot.backOff.next();
      this.#options.log.error(
        { worker: slot.index + 1, err: messageOf(error), restartInMs },
        'worker did not start',
      );
      slot.restart = setTimeout(() => this.#startAgain(slot), restartInMs);
    }
  }

  #want(worker: WorkerProcess, needed: readonly NeededCertificate[]): void {
    for (const name of this.#options.automatic?.source.want(needed) ?? [])
      worker.send({ type: 'certificate', name, outcome: 'refused', certificate: null, failure: null });
  }

  #folderOf({ index }: Slot): string {
    return join(this.#options.dataDir, 'workers', String(index + 1));
  }

  #sendAll(message: ToWorker): void {
    for (const worker of this.#living) worker.send(message);
  }
}

/** Throws an error for the command where several workers cannot share a port. */
export function checkWorkerCount(workers: number): void {
  if (workers > 1 && process.platform !== 'linux') {
    const message = '--workers shares one port between processes, which needs Linux';
    throw new FrontdoorError('invalid', 'workers-not-here', message);
  }
}
