/**
 * Sends audit events and notification events to the collector of the installation (ADR 0115). One control plane sends at a time, by a
 * lease; what it sent is noted with the lease in one transaction, so that nothing is lost over a restart. A collector that fails gets the
 * same events again, with a growing pause, for as long as it takes.
 */
import { randomUUID } from 'node:crypto';
import { messageOf, type Clock, type Log } from '#base';
import { readAlone } from '#net';
import type { Exposition } from '#net/metrics';
import { auditToExport, noteAuditExported, type AuditRow } from '../../audit/mod.ts';
import type { Secrets } from '../../secrets/mod.ts';
import type { Store } from '../../store/mod.ts';
import {
  eventsToExport,
  hasCollector,
  noteEventsExported,
  type ExportedEvent,
} from '../notifications/mod.ts';
import { EventCollector, type CollectorEgress } from './event-collector.ts';
import {
  leaseEventExport,
  noteExported,
  noteExportFailure,
  releaseEventExport,
  type EventExport,
  type StoredEventExport,
} from './event-export-store.ts';
import { auditLine, damagedLine, notificationLine, testLine, type EventLine } from './event-line.ts';

const PASS_MS = 2_000;
const LEASE_MS = 60_000;
const AUDIT_BOUNDS = { mostChains: 50, mostOfChain: 100 } as const;
const MAX_EVENTS = 500;
/** A batch ends before the event that would exceed it. */
const MAX_CHARS = 1_048_576;
const FIRST_PAUSE_MS = 5_000;
const MAX_PAUSE_MS = 300_000;

export interface EventExporterOptions {
  readonly store: Pick<Store, 'db' | 'transaction'>;
  readonly secrets: Pick<Secrets, 'seal' | 'unseal'>;
  readonly clock: Clock;
  readonly log: Log;
  readonly egress: CollectorEgress;
  /** Names the installation in messages of syslog. */
  readonly host: () => string;
  /** An audit event as the API returns it. */
  readonly auditFields: (row: AuditRow) => object;
}

interface Batch {
  readonly audit: readonly AuditRow[];
  readonly notifications: readonly ExportedEvent[];
  readonly lines: readonly EventLine[];
}

export class EventExporter {
  readonly #options: EventExporterOptions;
  readonly #collector: EventCollector;
  readonly #holder = randomUUID();
  readonly #timer: NodeJS.Timeout;
  readonly #closing = new AbortController();
  readonly #counts = { delivered: 0, failed: 0 };
  #running: Promise<void> | undefined;

  constructor(options: EventExporterOptions) {
    this.#options = options;
    this.#collector = new EventCollector(options.egress);
    this.#timer = setInterval(() => void this.pass(), PASS_MS);
    this.#timer.unref();
  }

  async close(): Promise<void> {
    this.#closing.abort();
    clearInterval(this.#timer);
    await this.#running;
    const { store, log } = this.#options;
    await releaseEventExport(store.db, this.#holder).catch((error: unknown) => {
      log.info({ cause: messageOf(error) }, 'the lease of the event export ends by itself');
    });
  }

  /** Sends what waits, unless another control plane does. Never rejects. */
  pass(): Promise<void> {
    this.#running ??= this.#pass()
      .catch((error: unknown) => {
        const { log } = this.#options;
        log.warn({ cause: messageOf(error) }, 'events could not be exported; they are sent later');
      })
      .finally(() => (this.#running = undefined));
    return this.#running;
  }

  /** Sends a test event now. Returns why it was not accepted, or undefined. Never rejects. */
  attempt(to: EventExport): Promise<string | undefined> {
    return this.#send(to, [testLine(this.#options.clock.nowMs())]);
  }

  write(to: Exposition): void {
    const { delivered, failed } = this.#counts;
    to.family(
      'frontdoor_control_exported_events_total',
      'counter',
      'Events that this control plane delivered to the collector',
      [[{}, delivered]],
    );
    to.family(
      'frontdoor_control_event_export_failures_total',
      'counter',
      'Batches of events that the collector did not accept',
      [[{}, failed]],
    );
  }

  #send(to: EventExport, lines: readonly EventLine[]): Promise<string | undefined> {
    return this.#collector.send(to, lines, this.#options.host(), this.#closing.signal);
  }

  get #lease() {
    const nowMs = this.#options.clock.nowMs();
    return { holder: this.#holder, nowMs, untilMs: nowMs + LEASE_MS };
  }

  async #pass(): Promise<void> {
    const { store, secrets } = this.#options;
    let hasMore = await this.#hasWaiting();
    while (hasMore && !this.#closing.signal.aborted) {
      const to = await leaseEventExport(store.db, secrets, this.#lease);
      if (to === undefined) return;
      const batch = await this.#batch();
      hasMore = batch.lines.length > 0 && (await this.#deliver(to, batch));
    }
  }

  /** Without a collector or an event, nothing is written. */
  async #hasWaiting(): Promise<boolean> {
    const { db } = this.#options.store;
    if (!(await hasCollector(db))) return false;
    const audit = await auditToExport(db, { mostChains: 1, mostOfChain: 1 });
    return audit.length > 0 || (await eventsToExport(db, 1)).length > 0;
  }

  /** Returns whether there may be more to send now. */
  async #deliver(to: StoredEventExport, { audit, notifications, lines }: Batch): Promise<boolean> {
    const { store, log } = this.#options;
    const problem = await this.#send(to, lines);
    if (this.#closing.signal.aborted) return false;
    if (problem !== undefined) {
      await this.#failed(to, problem);
      return false;
    }
    const isNoted = await store.transaction(async (trx) => {
      const lease = this.#lease;
      if (!(await noteExported(trx, lease, lines.length))) return false;
      await noteAuditExported(trx, audit, lease.nowMs);
      const ids = notifications.map(({ id }) => id);
      await noteEventsExported(trx, ids);
      return true;
    });
    if (isNoted) this.#counts.delivered += lines.length;
    else log.warn({ events: lines.length }, 'exported events are sent again, because the lease was over');
    return isNoted;
  }

  async #failed({ failures: before }: StoredEventExport, problem: string): Promise<void> {
    const { store, clock, log } = this.#options;
    this.#counts.failed += 1;
    const failures = before + 1;
    const pauseMs = Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(before, 10));
    const pausedUntilMs = clock.nowMs() + pauseMs;
    await noteExportFailure(store.db, this.#holder, { failures, problem, pausedUntilMs });
    log.warn({ problem, failures, pauseMs }, 'the collector did not accept events; they are sent again');
  }

  async #batch(): Promise<Batch> {
    const { store, auditFields, clock } = this.#options;
    const audit: AuditRow[] = [];
    const notifications: ExportedEvent[] = [];
    const lines: EventLine[] = [];
    let free = MAX_CHARS;
    const fits = (line: EventLine): boolean => {
      // The first one is always taken.
      if (lines.length > 0 && (line.json.length > free || lines.length >= MAX_EVENTS)) return false;
      free -= line.json.length;
      lines.push(line);
      return true;
    };
    for (const row of await auditToExport(store.db, AUDIT_BOUNDS)) {
      const { id, organization_id: organizationId } = row;
      const line = readAlone(`the audit event ${id} of the store`, () => auditLine(row, auditFields(row)));
      if (!fits(line ?? damagedLine('audit', { id, organizationId }, clock.nowMs()))) break;
      audit.push(row);
    }
    for (const event of await eventsToExport(store.db, AUDIT_BOUNDS.mostOfChain)) {
      const line = readAlone(`the notification event ${event.id} of the store`, () =>
        notificationLine(event),
      );
      if (!fits(line ?? damagedLine('notification', event, clock.nowMs()))) break;
      notifications.push(event);
    }
    return { audit, notifications, lines };
  }
}
