/**
 * Follows the shares that the control plane lists for this agent: a cheap query every few seconds, and the lists
 * when its result changed, and periodically. Hosted shares continue however long the control plane is away.
 */
import { BackOff, FrontdoorError, type Log, messageOf } from '#base';
import type { AgentControlPlane, AgentShare } from './agent-network.ts';
import type { ShareRegistry } from './share-registry.ts';

export interface ShareFollowerOptions {
  readonly controlPlane: AgentControlPlane;
  readonly table: ShareRegistry;
  readonly version: string;
  readonly log: Log;
  readonly pollMs?: number;
  /** The lists are fetched at least this often. */
  readonly refreshMs?: number;
}

export type ControlPlaneState = 'connected' | 'away' | 'refused';

const REFUSED_POLL_MS = 30_000;

export class ShareFollower {
  readonly #controlPlane: AgentControlPlane;
  readonly #table: ShareRegistry;
  readonly #version: string;
  readonly #log: Log;
  readonly #pollMs: number;
  readonly #refreshMs: number;
  readonly #backOff = new BackOff({ minMs: 500, maxMs: 5_000, factor: 2 });
  #timer: NodeJS.Timeout | undefined;
  #state: ControlPlaneState = 'away';
  #problem: string | undefined;
  #lastChange: string | undefined;
  #refreshedMs = 0;
  #isVersionReported = false;
  #running: Promise<void> | undefined;
  #queued: Promise<void> | undefined;
  #fetching: Promise<readonly AgentShare[]> | undefined;
  #stopped = false;

  constructor(options: ShareFollowerOptions) {
    this.#controlPlane = options.controlPlane;
    this.#table = options.table;
    this.#version = options.version;
    this.#log = options.log;
    this.#pollMs = options.pollMs ?? 2_000;
    this.#refreshMs = options.refreshMs ?? 30_000;
  }

  get state(): ControlPlaneState {
    return this.#state;
  }

  get problem(): string | undefined {
    return this.#problem;
  }

  /** Resolves after the first attempt, whatever its result. */
  async start(): Promise<void> {
    await this.syncNow();
  }

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
  }

  /** Fetches and applies the current lists. Failures are kept as state, not thrown. */
  syncNow(): Promise<void> {
    if (this.#running === undefined) return this.#run(true);
    // A running fetch may have read the lists before the caller's change, so all waiting callers share one
    // more.
    this.#queued ??= this.#running.then(() => {
      this.#queued = undefined;
      return this.#run(true);
    });
    return this.#queued;
  }

  /** Fetches the shares with their measured status. Concurrent callers share one response. */
  fetchShares(): Promise<readonly AgentShare[]> {
    this.#fetching ??= this.#controlPlane
      .shares()
      .then((shares) => {
        this.#table.setShares(shares);
        return shares;
      })
      .finally(() => {
        this.#fetching = undefined;
      });
    return this.#fetching;
  }

  #run(whole: boolean): Promise<void> {
    clearTimeout(this.#timer);
    this.#running = this.#sync(whole).finally(() => {
      this.#running = undefined;
      if (!this.#stopped && this.#queued === undefined) this.#schedule();
    });
    return this.#running;
  }

  #schedule(): void {
    clearTimeout(this.#timer);
    let delayMs = this.#pollMs * (0.8 + 0.4 * Math.random());
    if (this.#state === 'away') delayMs = this.#backOff.next();
    if (this.#state === 'refused') delayMs = REFUSED_POLL_MS;
    this.#timer = setTimeout(() => {
      if (this.#running === undefined) void this.#run(false);
    }, delayMs);
  }

  async #sync(whole: boolean): Promise<void> {
    if (this.#stopped) return;
    try {
      const change = await this.#controlPlane.lastServiceChange();
      const due = performance.now() - this.#refreshedMs >= this.#refreshMs;
      if (whole || due || change !== this.#lastChange) {
        const services = await this.#controlPlane.bindableServices();
        const shares = await this.#controlPlane.shares();
        if (this.#stopped) return;
        const complete = this.#table.apply(services, shares);
        this.#lastChange = complete ? change : undefined;
        this.#refreshedMs = performance.now();
      }
      this.#enter('connected', undefined);
      this.#backOff.reset();
      if (!this.#isVersionReported) {
        await this.#controlPlane.reportVersion(this.#version);
        this.#isVersionReported = true;
      }
    } catch (error) {
      const refused =
        error instanceof FrontdoorError && ['unauthenticated', 'forbidden'].includes(error.kind);
      this.#enter(refused ? 'refused' : 'away', messageOf(error));
      this.#lastChange = undefined;
    }
  }

  #enter(state: ControlPlaneState, problem: string | undefined): void {
    const before = this.#state;
    const first = before === 'away' && this.#problem === undefined;
    this.#state = state;
    this.#problem = problem;
    if (state === before && !first) return;
    if (state === 'connected') this.#log.info({}, 'following the control plane');
    else if (state === 'away')
      this.#log.warn({ problem }, 'the control plane does not respond; shares stay as they are');
    else {
      this.#log.error(
        { problem },
        'the control plane refuses this agent: its environment may have been deleted; enroll again with a new code',
      );
    }
  }
}
