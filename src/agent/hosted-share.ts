/**
 * One share while this agent hosts it: the bind at the overlay, the way to its private service, its circuits and
 * their limit, and what the agent's own looks say. Hot only where a circuit starts; bytes run in `circuit-copy.ts`.
 */
import { type Log, messageOf } from '#base';
import type { BindableService, Circuit, HostedService, IncomingDial, OverlayHost } from '#sdk';
import type { AllowedNetwork } from '#domain';
import { CircuitCopy } from './circuit-copy.ts';
import type { ShareTarget } from './share-target.ts';
import { connectTarget } from './target-connection.ts';
import type { HealthWatch, TargetHealthMonitor } from './target-health.ts';
import type { TargetResolver } from './target-resolver.ts';

/** What the share leads to, judged: a way to go, or why there is none. */
export type TargetWay =
  | { readonly target: ShareTarget; readonly only: readonly AllowedNetwork[] | undefined }
  | { readonly problem: string };

export interface HostedShareOptions {
  readonly service: BindableService;
  readonly way: TargetWay;
  readonly host: OverlayHost;
  readonly health: TargetHealthMonitor;
  readonly resolver: TargetResolver;
  readonly log: Log;
  readonly maxCircuits: number;
  readonly connectTimeoutMs: number;
  readonly targetCa?: string | undefined;
  /** How long circuits to a former target may go on. */
  readonly retargetGraceMs: number;
  /** A circuit closed: somebody may be waiting for the last one. */
  readonly onIdle: () => void;
}

export class HostedShare {
  readonly service: BindableService;
  readonly #options: HostedShareOptions;
  readonly #log: Log;
  readonly #handle: HostedService;
  readonly #copies = new Set<CircuitCopy>();
  /** Dials whose connection to the service is under way, each with the way to give it up. */
  readonly #connecting = new Set<() => void>();
  readonly #graceTimers = new Set<NodeJS.Timeout>();
  #way: TargetWay;
  #watch: HealthWatch | undefined;
  #bindProblem: string | undefined;
  #closing = false;
  #closed = false;

  constructor(options: HostedShareOptions) {
    this.#options = options;
    this.service = options.service;
    this.#way = options.way;
    this.#log = options.log.child({ share: options.service.name });
    this.#handle = options.host.bind(options.service, (incoming) => this.#onDial(incoming));
    this.#handle.onState = (state, error) => {
      this.#bindProblem = state === 'bound' ? undefined : error?.message;
      if (state === 'bound') {
        this.#log.info({}, 'share is offered to the overlay');
        this.#reportHealth();
      } else if (error !== undefined) {
        this.#log.warn({ state, error: error.message }, 'share is not offered to the overlay');
      }
    };
    this.#watchTarget();
  }

  get hosting(): HostedService['state'] {
    return this.#handle.state;
  }

  get circuits(): number {
    return this.#copies.size + this.#connecting.size;
  }

  /** Undefined before the first look. */
  get healthy(): boolean | undefined {
    return 'problem' in this.#way ? false : this.#watch?.passed;
  }

  /** What keeps it from being served, as far as this agent knows. */
  get problem(): string | undefined {
    if ('problem' in this.#way) return this.#way.problem;
    if (this.#handle.state !== 'bound' && this.#bindProblem !== undefined) return this.#bindProblem;
    return this.#watch?.reason;
  }

  retarget(way: TargetWay): void {
    if (sameWay(this.#way, way)) return;
    this.#way = way;
    this.#log.info(
      'problem' in way ? { problem: way.problem } : { target: way.target.text },
      'the target of the share changed',
    );
    const former = [...this.#copies];
    for (const giveUp of [...this.#connecting]) giveUp();
    if ('problem' in way) {
      for (const copy of former) copy.stop(way.problem);
    } else if (former.length > 0) {
      const timer = setTimeout(() => {
        this.#graceTimers.delete(timer);
        for (const copy of former) copy.stop('the target of the share changed');
      }, this.#options.retargetGraceMs);
      this.#graceTimers.add(timer);
    }
    this.#watchTarget();
  }

  /** The agent stops: others that host the share come first, and it is still served where there is none. */
  lower(): void {
    this.#handle.lower();
  }

  /** Takes the offer back; circuits go on. */
  withdraw(): void {
    if (this.#closing) return;
    this.#closing = true;
    this.#watch?.close();
    this.#handle.onState = () => {};
    this.#handle.close();
    for (const giveUp of [...this.#connecting]) giveUp();
  }

  /** Ends everything at once. */
  close(reason: string): void {
    if (this.#closed) return;
    this.withdraw();
    this.#closed = true;
    for (const timer of this.#graceTimers) clearTimeout(timer);
    for (const copy of [...this.#copies]) copy.stop(reason);
  }

  copies(): IterableIterator<CircuitCopy> {
    return this.#copies.values();
  }

  #watchTarget(): void {
    this.#watch?.close();
    this.#watch = undefined;
    if ('problem' in this.#way) {
      this.#log.warn({ problem: this.#way.problem }, 'share is refused');
      this.#reportHealth();
      return;
    }
    this.#watch = this.#options.health.watch(this.#way, (passed, reason) => {
      if (passed) this.#log.info({}, 'the private service answers');
      else this.#log.warn({ reason }, 'the private service does not answer');
      this.#reportHealth();
    });
  }

  #reportHealth(): void {
    const { healthy } = this;
    if (healthy !== undefined && this.#handle.state === 'bound') this.#handle.reportHealth(healthy);
  }

  #onDial(incoming: IncomingDial): void {
    const way = this.#way;
    if ('problem' in way) {
      incoming.refuse(way.problem);
      return;
    }
    if (this.#closing) {
      incoming.refuse('the agent is stopping', 'not-hosted');
      return;
    }
    if (this.circuits >= this.#options.maxCircuits) {
      incoming.refuse(`share ${this.service.name} has its ${this.#options.maxCircuits} circuits`);
      return;
    }
    const watch = this.#watch;
    const giveUp = (): void => {
      cancel();
      this.#connecting.delete(giveUp);
      if (this.#closing) incoming.refuse('the agent is stopping', 'not-hosted');
      else incoming.refuse('the target of the share changed');
    };
    this.#connecting.add(giveUp);
    const { resolver, connectTimeoutMs, targetCa } = this.#options;
    const cancel = connectTarget(
      { ...way, resolver, timeoutMs: connectTimeoutMs, ca: targetCa },
      (connection) => {
        this.#connecting.delete(giveUp);
        let circuit: Circuit;
        try {
          circuit = incoming.accept();
        } catch (error) {
          this.#log.debug(
            { error: messageOf(error) },
            'the caller was gone before the service was connected',
          );
          connection.abort();
          this.#options.onIdle();
          return;
        }
        const copy = new CircuitCopy(circuit, connection, {
          onAlive: () => {
            if (watch?.passed === false) watch.spoke();
          },
          onClosed: (done, broken) => {
            this.#copies.delete(done);
            if (broken !== undefined)
              this.#log.debug({ circuit: done.circuit.id, reason: broken }, 'circuit broke');
            this.#options.onIdle();
          },
        });
        this.#copies.add(copy);
      },
      (failure) => {
        this.#connecting.delete(giveUp);
        this.#log.debug({ reason: failure.message }, 'refused a circuit');
        incoming.refuse(failure.message, failure.code === 'timeout' ? 'service-timeout' : 'service-refused');
        watch?.hint();
        this.#options.onIdle();
      },
    );
  }
}

function sameWay(a: TargetWay, b: TargetWay): boolean {
  if ('problem' in a || 'problem' in b) return 'problem' in a && 'problem' in b && a.problem === b.problem;
  return a.target.text === b.target.text && (a.only === undefined) === (b.only === undefined);
}
