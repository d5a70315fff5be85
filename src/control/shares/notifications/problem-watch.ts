/**
 * Notices shares, agents and routers that fail or work again, and queues an event for each group of them (ADR 0111). It keeps
 * only resources that fail, or did lately. Every control plane runs one; the row of a problem decides which one reports it.
 */
import { messageOf, type Clock, type Log } from '#base';
import type { NotificationEventType } from '#contract';
import { organizationOf } from '../../audit/mod.ts';
import { inSlices } from '../../overlay/model/mod.ts';
import type { Store } from '../../store/mod.ts';
import { publishEvent } from './delivery-store.ts';
import { stepProblem, type ProblemState } from './problem-machine.ts';
import { endProblems, listReported, reportProblems, type ProblemKind } from './problem-store.ts';
import { WatchedResources, type WatchedParts } from './watched-resources.ts';

const PASS_MS = 5_000;
/** Agents connect again after a start, and routers before them. */
export const GRACE_MS = 60_000;
/** How often the reports of other control planes are read. */
const READ_MS = 60_000;
export const HOLD_MS = { share: 30_000, agent: 60_000, router: 60_000 } as const;
const MAX_NAMED = 50;

const KINDS = ['share', 'agent', 'router'] as const;
const EVENTS = {
  share: { failing: 'share.failing', healthy: 'share.healthy' },
  agent: { failing: 'agent.away', healthy: 'agent.back' },
  router: { failing: 'router.lost', healthy: 'router.back' },
} as const satisfies Record<ProblemKind, Record<'failing' | 'healthy', NotificationEventType>>;

export interface ProblemWatchOptions extends WatchedParts {
  readonly store: Pick<Store, 'db' | 'transaction' | 'isShared'>;
  readonly clock: Clock;
  readonly log: Log;
}

interface Problem {
  readonly kind: ProblemKind;
  readonly id: string;
  state: ProblemState | undefined;
}

interface Report {
  readonly kind: ProblemKind;
  readonly report: 'failing' | 'healthy';
  readonly organizationId: string;
  readonly ids: string[];
}

export class ProblemWatch {
  readonly #options: ProblemWatchOptions;
  readonly #resources: WatchedResources;
  readonly #problems = new Map<string, Problem>();
  readonly #startMs: number;
  readonly #timer: NodeJS.Timeout;
  /** Frontdoors never change their organization. */
  readonly #organizations = new Map<string, string>();
  #readMs = -Infinity;
  #hasScanned = false;
  #isClosed = false;
  #running: Promise<void> | undefined;

  constructor(options: ProblemWatchOptions) {
    this.#options = options;
    this.#resources = new WatchedResources(options);
    this.#startMs = options.clock.monotonicMs();
    options.status.onMeasured((kind, id) => {
      if (kind === 'service') this.#measure('share', id);
      else if (options.model.identity(id)?.kind === 'environment') this.#measure('agent', id);
    });
    this.#timer = setInterval(() => void this.pass(), PASS_MS);
    this.#timer.unref();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#timer);
    await this.#running;
  }

  /** Looks at every problem, and reports what is due. Never rejects. */
  pass(): Promise<void> {
    this.#running ??= this.#pass()
      .catch((error: unknown) => {
        const { log } = this.#options;
        log.warn({ cause: messageOf(error) }, 'problems could not be reported; they are reported later');
      })
      .finally(() => (this.#running = undefined));
    return this.#running;
  }

  get #nowMs(): number {
    return this.#options.clock.monotonicMs();
  }

  /** A change between two passes counts, too: one that comes and goes each second is not always seen by a pass. */
  #measure(kind: ProblemKind, id: string): void {
    if (!this.#hasScanned) return;
    const state = this.#resources.stateOf(kind, id, new Set());
    if (state !== 'bad' && !this.#problems.has(keyOf(kind, id))) return;
    if (state === 'bad' || state === 'good') this.#note(kind, id, state === 'bad');
  }

  /** Remembers the state, and leaves what is due to the next pass. */
  #note(kind: ProblemKind, id: string, isBad: boolean): void {
    const problem = this.#problemOf(kind, id);
    problem.state = stepProblem(problem.state, { type: 'noted', isBad }, this.#nowMs, HOLD_MS[kind]).state;
  }

  #problemOf(kind: ProblemKind, id: string): Problem {
    const key = keyOf(kind, id);
    let problem = this.#problems.get(key);
    if (problem === undefined) this.#problems.set(key, (problem = { kind, id, state: undefined }));
    return problem;
  }

  async #pass(): Promise<void> {
    if (this.#nowMs - this.#startMs < GRACE_MS) return;
    await this.#readReported();
    const online = this.#resources.onlineRouters();
    if (!this.#hasScanned) {
      for await (const slice of inSlices(this.#resources.all()))
        for (const [kind, id] of slice) this.#look(kind, id, online);
      this.#hasScanned = true;
    }
    for (const { id, isOnline } of this.#options.fabric.routers())
      if (!isOnline) this.#look('router', id, online);
    const reports = new Map<string, Report>();
    const gone: Problem[] = [];
    for await (const slice of inSlices(this.#problems.values()))
      for (const problem of slice) await this.#step(problem, online, reports, gone);
    for (const report of reports.values()) if (!this.#isClosed) await this.#send(report);
    await this.#forget(gone);
  }

  #look(kind: ProblemKind, id: string, online: ReadonlySet<string>): void {
    if (this.#problems.has(keyOf(kind, id))) return;
    if (this.#resources.stateOf(kind, id, online) === 'bad') this.#note(kind, id, true);
  }

  async #readReported(): Promise<void> {
    const { store } = this.#options;
    const isDue = this.#hasScanned ? store.isShared && this.#nowMs - this.#readMs >= READ_MS : true;
    if (!isDue) return;
    this.#readMs = this.#nowMs;
    for (const { kind, resourceId } of await listReported(store.db, KINDS)) {
      if (kind === 'certificate' || kind === 'quota') continue;
      const problem = this.#problemOf(kind, resourceId);
      if (problem.state?.isReported === true) continue;
      problem.state = stepProblem(
        problem.state,
        { type: 'reported' },
        this.#nowMs,
        HOLD_MS[problem.kind],
      ).state;
    }
  }

  async #step(
    problem: Problem,
    online: ReadonlySet<string>,
    reports: Map<string, Report>,
    gone: Problem[],
  ): Promise<void> {
    const { kind, id } = problem;
    const now = this.#resources.stateOf(kind, id, online);
    if (now === 'gone') gone.push(problem);
    if (now === 'gone' || now === 'unknown') return;
    const event = { type: 'measured', isBad: now === 'bad' } as const;
    const { state, report } = stepProblem(problem.state, event, this.#nowMs, HOLD_MS[kind]);
    if (report === undefined) {
      problem.state = state;
      if (state === undefined) this.#problems.delete(keyOf(kind, id));
      return;
    }
    const organizationId = await this.#organizationOf(this.#resources.frontdoorOf(kind, id));
    const key = `${organizationId} ${kind} ${report}`;
    const group = reports.get(key) ?? { kind, report, organizationId, ids: [] };
    reports.set(key, group);
    group.ids.push(id);
  }

  async #organizationOf(frontdoorId: string | null): Promise<string> {
    if (frontdoorId === null) return '';
    const known = this.#organizations.get(frontdoorId);
    if (known !== undefined) return known;
    const found = await organizationOf(this.#options.store.db, frontdoorId);
    if (this.#organizations.size >= 10_000) this.#organizations.clear();
    this.#organizations.set(frontdoorId, found);
    return found;
  }

  /** If the transaction fails, the states stay as they were, and the next pass tries again. */
  async #send({ kind, report, organizationId, ids }: Report): Promise<void> {
    const { store, clock, log } = this.#options;
    const type = EVENTS[kind][report];
    const atMs = clock.nowMs();
    const won = await store.transaction(async (trx, touch) => {
      const changed =
        report === 'failing'
          ? await reportProblems(trx, kind, organizationId, ids, atMs)
          : await endProblems(trx, kind, ids);
      const data = this.#dataOf(kind, organizationId, [...changed]);
      if (data.total > 0) await publishEvent(trx, touch, { organizationId, type, data }, atMs);
      return changed;
    });
    for (const id of ids) {
      const problem = this.#problemOf(kind, id);
      const event =
        report === 'failing'
          ? ({ type: 'reported' } as const)
          : ({ type: 'measured', isBad: false } as const);
      problem.state = stepProblem(problem.state, event, this.#nowMs, HOLD_MS[kind]).state;
    }
    if (won.size > 0) log.info({ type, resources: won.size }, 'a notification was queued');
  }

  #dataOf(kind: ProblemKind, organizationId: string, ids: readonly string[]) {
    const resources = ids.flatMap((id) => this.#resources.named(kind, id) ?? []);
    return {
      organizationId: organizationId === '' ? null : organizationId,
      total: resources.length,
      resources: resources.slice(0, MAX_NAMED),
    };
  }

  /** Deleted resources end without a message. */
  async #forget(gone: readonly Problem[]): Promise<void> {
    for (const kind of KINDS) {
      const ids = gone.filter((problem) => problem.kind === kind).map(({ id }) => id);
      if (ids.length > 0) await endProblems(this.#options.store.db, kind, ids);
      for (const id of ids) this.#problems.delete(keyOf(kind, id));
    }
  }
}

function keyOf(kind: ProblemKind, id: string): string {
  return `${kind} ${id}`;
}
