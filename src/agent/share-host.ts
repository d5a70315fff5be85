/**
 * One share while this agent hosts it: its bind in the overlay, its private service, its circuits and their
 * limit, and the results of the agent's health checks. Only starting a circuit is on the hot path here;
 * `circuit-copy.ts` moves the bytes.
 */
import { messageOf, newNumber, ShortLivedMap, ShortLivedSet, textOf, type Log } from '#base';
import { decodeRouteData } from '#domain/upstream';
import type { BindableService, Circuit, DialRefusal, HostedService, IncomingDial, OverlayHost } from '#sdk';
import { decodeCircuitClient, type CircuitClient } from '#domain/agent-shapes';
import { encodeProxyHeader } from '#net';
import type { AgentTraffic } from './agent-traffic.ts';
import { containDial } from './contained-dial.ts';
import { CircuitCopy, type CopyHandlers } from './circuit-copy.ts';
import type { Backend, JudgedBackend } from './backends/backend.ts';
import { StandbyCircuit } from './standby-circuit.ts';
import type { HealthWatch, TargetHealthMonitor } from './backends/target-health.ts';

/** Limit for circuits of one share that callers keep for later, without a connection to its service. */
const MAX_STANDBY_CIRCUITS = 64;

/** The party for which the service is connected. Exactly one of the two methods is called. */
interface Caller {
  /** The client that a gateway named. */
  readonly client: CircuitClient | undefined;
  readonly take: () => Circuit;
  readonly refuse: (reason: string, code?: DialRefusal) => void;
  /** The bytes that the circuit has delivered already. */
  readonly received: readonly Uint8Array[];
  /** That of the target; undefined: the share's own target. */
  readonly path: string | undefined;
}

export interface HostedShareOptions {
  readonly service: BindableService;
  /** Whether gateways alone may dial it, so that the clients that dials name are those of visitors. */
  readonly isPublic: boolean;
  readonly backend: JudgedBackend;
  /** Those for paths of the share, which dials name. */
  readonly paths: ReadonlyMap<string, JudgedBackend>;
  readonly host: OverlayHost;
  readonly health: TargetHealthMonitor;
  readonly log: Log;
  readonly maxCircuits: number;
  readonly traffic: AgentTraffic;
  /** How long circuits to a former target may continue. */
  readonly retargetGraceMs: number;
  /** A circuit closed, and a caller may be waiting for the last one. */
  readonly onIdle: () => void;
}

export class ShareHost {
  readonly #options: HostedShareOptions;
  readonly #log: Log;
  #service: BindableService;
  #handle: HostedService;
  /** The bind that `#handle` replaces, until that is bound. */
  #formerHandle: HostedService | undefined;
  readonly #copies = new ShortLivedSet<CircuitCopy>();
  readonly #standing = new ShortLivedSet<StandbyCircuit>();
  /** Dials that are connecting to the service, each with the function that cancels it. */
  readonly #connecting = new ShortLivedMap<number, () => void>();
  readonly #graceTimers = new Set<NodeJS.Timeout>();
  #backend: JudgedBackend;
  #paths: ReadonlyMap<string, JudgedBackend>;
  /** The paths of circuits to a target of a path. */
  readonly #pathOf = new WeakMap<CircuitCopy, string>();
  #watch: HealthWatch | undefined;
  #bindProblem: string | undefined;
  #isLowered = false;
  #closing = false;
  #closed = false;

  constructor(options: HostedShareOptions) {
    this.#options = options;
    this.#service = options.service;
    this.#backend = options.backend;
    this.#paths = options.paths;
    this.#log = options.log.child({ share: options.service.name });
    this.#handle = this.#bind();
    this.#watchTarget();
  }

  get service(): BindableService {
    return this.#service;
  }

  get hosting(): HostedService['state'] {
    return this.#handle.state;
  }

  /** Circuits that are connected to the service, or about to be. */
  get circuits(): number {
    return this.#copies.size + this.#connecting.size;
  }

  /** Undefined before the first check. */
  get healthy(): boolean | undefined {
    return 'problem' in this.#backend ? false : this.#watch?.passed;
  }

  /** Why the share is not served, as far as this agent knows. */
  get problem(): string | undefined {
    if ('problem' in this.#backend) return this.#backend.problem;
    if (this.#handle.state !== 'bound' && this.#bindProblem !== undefined) return this.#bindProblem;
    if (this.#watch?.reason !== undefined) return this.#watch.reason;
    for (const [path, backend] of this.#paths) if ('problem' in backend) return `${path}: ${backend.problem}`;
    return undefined;
  }

  /**
   * Binds again if circuits of the service are to be encrypted now, or no longer. The former bind ends once the new one
   * has taken over its terminator. Open circuits continue as they are.
   */
  follow(service: BindableService): void {
    if (this.#closing || service.encryption === this.#service.encryption) return;
    this.#service = service;
    this.#formerHandle?.close();
    this.#formerHandle = this.#handle;
    this.#formerHandle.onState = () => {};
    this.#log.info({ encryption: service.encryption ?? 'none' }, 'encryption of the share changed');
    this.#handle = this.#bind();
    if (this.#isLowered) this.#handle.lower();
  }

  retarget(backend: JudgedBackend): void {
    const before = this.#backend;
    this.#backend = backend;
    if (isSame(before, backend)) return;
    this.#log.info(
      'problem' in backend ? { problem: backend.problem } : { target: backend.describe().target },
      'target of the share changed',
    );
    const former = [...this.#copies].filter((copy) => !this.#pathOf.has(copy));
    for (const giveUp of [...this.#connecting.values()]) giveUp();
    if ('problem' in backend) {
      this.#dropStanding(backend.problem);
      for (const copy of former) copy.stop(backend.problem);
    } else this.#stopLater(former);
    this.#watchTarget();
  }

  retargetPaths(paths: ReadonlyMap<string, JudgedBackend>): void {
    const before = this.#paths;
    const isKept = (path: string): boolean => {
      const [was, is] = [before.get(path), paths.get(path)];
      return was !== undefined && is !== undefined && isSame(was, is);
    };
    this.#paths = new Map([...paths].map(([path, is]) => [path, isKept(path) ? before.get(path)! : is]));
    this.#stopLater([...this.#copies].filter((copy) => isOfChanged(this.#pathOf.get(copy), isKept)));
    for (const [path, backend] of this.#paths)
      if ('problem' in backend && !isKept(path))
        this.#log.warn({ path, problem: backend.problem }, 'target of a path is refused');
  }

  #stopLater(copies: readonly CircuitCopy[]): void {
    if (copies.length === 0) return;
    const timer = setTimeout(() => {
      this.#graceTimers.delete(timer);
      for (const copy of copies) copy.stop('the target of the share changed');
    }, this.#options.retargetGraceMs);
    this.#graceTimers.add(timer);
  }

  /**
   * The agent is stopping: lowers the precedence, so that other hosts are preferred, but shares without another
   * host are still served, and so are their standby circuits, which callers without another host dial here again.
   */
  lower(): void {
    this.#isLowered = true;
    this.#dropStanding('the agent is stopping');
    this.#handle.lower();
  }

  /** Stops hosting. Open circuits continue. */
  withdraw(): void {
    if (this.#closing) return;
    this.#closing = true;
    this.#watch?.close();
    this.#handle.onState = () => {};
    this.#handle.close();
    this.#endFormer();
    for (const giveUp of [...this.#connecting.values()]) giveUp();
    this.#dropStanding('the agent is stopping');
  }

  /** Ends everything at once. */
  close(reason: string): void {
    if (this.#closed) return;
    this.withdraw();
    this.#closed = true;
    for (const timer of this.#graceTimers) clearTimeout(timer);
    for (const copy of [...this.#copies]) copy.stop(reason);
  }

  copies(): Iterable<CircuitCopy> {
    return this.#copies;
  }

  #bind(): HostedService {
    const handle = this.#options.host.bind(this.#service, (incoming) =>
      containDial(incoming, this.#service.name, this.#log, (dial) => this.#onDial(dial)),
    );
    handle.onState = (state, error) => {
      this.#bindProblem = state === 'bound' ? undefined : error?.message;
      if (state === 'bound') {
        this.#endFormer();
        this.#log.info({}, 'share is hosted');
        this.#reportHealth();
      } else if (error !== undefined) {
        this.#log.warn({ state, error: error.message }, 'share is not hosted');
      }
    };
    return handle;
  }

  #endFormer(): void {
    this.#formerHandle?.close();
    this.#formerHandle = undefined;
  }

  #watchTarget(): void {
    this.#watch?.close();
    this.#watch = undefined;
    if ('problem' in this.#backend) {
      this.#log.warn({ problem: this.#backend.problem }, 'share is refused');
      this.#reportHealth();
      return;
    }
    this.#watch = this.#options.health.watch(this.#backend, (passed, reason) => {
      if (passed) this.#log.info({}, 'private service responds');
      else this.#log.warn({ reason }, 'private service does not respond');
      this.#reportHealth();
    });
  }

  #reportHealth(): void {
    const { healthy } = this;
    if (healthy !== undefined && this.#handle.state === 'bound') this.#handle.reportHealth(healthy);
  }

  /** Without a path: the target of the share. A gateway may know a path sooner, or for longer. */
  #backendFor(path: string | undefined): JudgedBackend {
    if (path === undefined) return this.#backend;
    return this.#paths.get(path) ?? { problem: `this agent has no target for the path ${path} of the share` };
  }

  #onDial(incoming: IncomingDial): void {
    const path = pathOfDial(incoming);
    const backend = this.#backendFor(path);
    if ('problem' in backend) {
      incoming.refuse(backend.problem);
      return;
    }
    if (this.#closing) {
      incoming.refuse('the agent is stopping', 'not-now');
      return;
    }
    const isFull = this.circuits + this.#standing.size >= this.#options.maxCircuits;
    const [standby] = this.#standing;
    // A circuit that is needed now displaces one that is kept for later.
    if (isFull && standby !== undefined && incoming.isStandby !== true)
      standby.circuit.destroy('its place is needed');
    else if (isFull) {
      const code = incoming.isStandby === true ? 'not-now' : 'service-refused';
      incoming.refuse(`share ${this.service.name} has its ${this.#options.maxCircuits} circuits`, code);
      return;
    }
    if (incoming.isStandby === true) this.#standBy(incoming);
    else {
      this.#connect(backend, {
        client: this.#options.isPublic ? decodeCircuitClient(incoming.appData) : undefined,
        take: () => incoming.accept(),
        refuse: (reason, code) => incoming.refuse(reason, code),
        received: [],
        path,
      });
    }
  }

  /** Accepts the dial at once, and connects to the service when the first bytes arrive. */
  #standBy(incoming: IncomingDial): void {
    if (this.#standing.size >= MAX_STANDBY_CIRCUITS) {
      incoming.refuse(
        `share ${this.service.name} has its ${MAX_STANDBY_CIRCUITS} standby circuits`,
        'not-now',
      );
      return;
    }
    let giveUp: (() => void) | undefined;
    const standing = new StandbyCircuit(incoming.accept(), {
      onWanted: (standby) => {
        this.#standing.delete(standby);
        const { circuit, received } = standby;
        if ('problem' in this.#backend) circuit.destroy(this.#backend.problem);
        else {
          giveUp = this.#connect(this.#backend, {
            client: undefined,
            take: () => circuit,
            refuse: (reason) => circuit.destroy(reason),
            received,
            path: undefined,
          });
        }
      },
      onGone: (standby) => {
        this.#standing.delete(standby);
        giveUp?.();
        this.#options.onIdle();
      },
    });
    if (!standing.isGone && standing.received.length === 0) this.#standing.add(standing);
  }

  #dropStanding(reason: string): void {
    for (const { circuit } of [...this.#standing]) circuit.destroy(reason);
  }

  /** Connects to the service for one caller. Returns a function that cancels it. */
  #connect(backend: Backend, caller: Caller): () => void {
    const { path } = caller;
    const watch = path === undefined ? this.#watch : undefined;
    const number = newNumber();
    let cancel = (): void => {};
    const giveUp = (): void => {
      cancel();
      if (!this.#connecting.delete(number)) return;
      if (this.#closing) caller.refuse('the agent is stopping', 'not-now');
      else caller.refuse('the target of the share changed');
    };
    this.#connecting.set(number, giveUp);
    const { traffic } = this.#options;
    cancel = backend.open(
      (connection) => {
        this.#connecting.delete(number);
        let circuit: Circuit;
        try {
          circuit = caller.take();
        } catch (error) {
          this.#log.debug(
            { error: messageOf(error) },
            'caller disconnected before the service was connected',
          );
          connection.abort();
          this.#options.onIdle();
          return;
        }
        const handlers: CopyHandlers = {
          onAlive: () => {
            if (watch?.passed === false) watch.spoke();
          },
          onClosed: (done, broken) => {
            this.#copies.delete(done);
            traffic.end(done);
            if (broken !== undefined)
              this.#log.debug({ circuit: done.circuit.id, reason: broken }, 'circuit broke');
            this.#options.onIdle();
          },
        };
        const { proxyProtocol } = backend.describe();
        if (proxyProtocol !== undefined) connection.write(encodeProxyHeader(proxyProtocol, caller.client));
        const copy = new CircuitCopy(circuit, connection, handlers, caller.received);
        this.#copies.add(copy);
        if (path !== undefined) this.#pathOf.set(copy, path);
        traffic.begin(copy);
      },
      (failure) => {
        this.#connecting.delete(number);
        traffic.fail();
        this.#log.debug({ reason: failure.message }, 'refused a circuit');
        caller.refuse(failure.message, failure.code === 'timeout' ? 'service-timeout' : 'service-refused');
        watch?.hint();
        this.#options.onIdle();
      },
    );
    return giveUp;
  }
}

function isSame(a: JudgedBackend, b: JudgedBackend): boolean {
  if ('problem' in a || 'problem' in b) return 'problem' in a && 'problem' in b && a.problem === b.problem;
  const [one, other] = [a.describe(), b.describe()];
  return (
    one.target === other.target &&
    one.isOwn === other.isOwn &&
    one.tls === other.tls &&
    one.proxyProtocol === other.proxyProtocol
  );
}

function isOfChanged(path: string | undefined, isKept: (path: string) => boolean): boolean {
  return path !== undefined && !isKept(path);
}

function pathOfDial({ appData }: IncomingDial): string | undefined {
  return appData === undefined ? undefined : decodeRouteData(textOf(appData));
}
