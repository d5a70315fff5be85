/**
 * Looks for something that should be reported, again and again, and reports each finding once, by one control plane, until it is gone
 * and comes again.
 */
import { messageOf, type Clock, type Log } from '#base';
import type { NotificationEventType } from '#contract';
import type { Store } from '../../store/mod.ts';
import { publishEvent } from './delivery-store.ts';
import { endProblems, listReported, reportProblems, type ReportedKind } from './problem-store.ts';

const FIRST_MS = 60_000;
const MOST_NAMED = 50;

export interface WatchParts {
  readonly store: Pick<Store, 'db' | 'transaction'>;
  readonly clock: Clock;
  readonly log: Log;
}

export interface WatchedKind {
  readonly kind: ReportedKind;
  readonly type: NotificationEventType;
  /** Names the findings in the log. */
  readonly what: string;
  readonly everyMs: number;
}

export interface WatchFinding {
  /** The id of the row that remembers the report. */
  readonly key: string;
}

export interface WatchFindings<Found extends WatchFinding> {
  readonly found: readonly Found[];
  /** Whether a finding may be there although it is not among these. Its report is remembered. */
  readonly isCutOff: (key: string) => boolean;
}

export abstract class ReportWatch<Found extends WatchFinding> {
  protected readonly parts: WatchParts;
  readonly #kind: WatchedKind;
  #timer: NodeJS.Timeout;
  #running: Promise<void> | undefined;

  constructor(parts: WatchParts, kind: WatchedKind) {
    this.parts = parts;
    this.#kind = kind;
    this.#timer = setTimeout(() => this.#next(), FIRST_MS).unref();
  }

  async close(): Promise<void> {
    clearTimeout(this.#timer);
    await this.#running;
    clearTimeout(this.#timer);
  }

  /** Looks once. Never rejects. */
  pass(): Promise<void> {
    this.#running ??= this.#pass()
      .catch((error: unknown) => {
        this.parts.log.warn({ cause: messageOf(error) }, `${this.#kind.what} could not be looked up`);
      })
      .finally(() => (this.#running = undefined));
    return this.#running;
  }

  protected abstract find(nowMs: number): Promise<WatchFindings<Found>>;

  /** The organization that is notified. */
  protected abstract organizationOf(found: Found): string | Promise<string>;

  /** The resources of the event, of findings that were not reported before. */
  protected abstract resourcesOf(found: readonly Found[]): readonly object[];

  #next(): void {
    this.#timer = setTimeout(() => this.#next(), this.#kind.everyMs).unref();
    void this.pass();
  }

  async #pass(): Promise<void> {
    const { store, clock } = this.parts;
    const { kind } = this.#kind;
    const { found, isCutOff } = await this.find(clock.nowMs());
    const reported = (await listReported(store.db, [kind])).map(({ resourceId }) => resourceId);
    const present = new Set(found.map(({ key }) => key));
    const gone = reported.filter((key) => !present.has(key) && !isCutOff(key));
    if (gone.length > 0) await endProblems(store.db, kind, gone);
    const known = new Set(reported);
    const byOrganization = new Map<string, Found[]>();
    for (const each of found) {
      if (known.has(each.key)) continue;
      const organizationId = await this.organizationOf(each);
      byOrganization.set(organizationId, [...(byOrganization.get(organizationId) ?? []), each]);
    }
    for (const [organizationId, own] of byOrganization) await this.#report(organizationId, own);
  }

  async #report(organizationId: string, found: readonly Found[]): Promise<void> {
    const { store, clock } = this.parts;
    const { kind, type } = this.#kind;
    const nowMs = clock.nowMs();
    await store.transaction(async (trx, touch) => {
      const keys = found.map(({ key }) => key);
      const won = await reportProblems(trx, kind, organizationId, keys, nowMs);
      const resources = this.resourcesOf(found.filter(({ key }) => won.has(key)));
      if (resources.length === 0) return;
      const data = { organizationId, total: resources.length, resources: resources.slice(0, MOST_NAMED) };
      await publishEvent(trx, touch, { organizationId, type, data }, nowMs);
    });
  }
}
