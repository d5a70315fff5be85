/** The metrics of a control plane: what it holds in memory now, and what it has stored and asked since its start. */
import { messageOf, type Log } from '#base';
import { waitAtMost } from '#net';
import { certificateExpiries, type Exposition, type NamedCertificate } from '#net/metrics';
import type { ApiMeter } from './api-meter.ts';
import { auditEventCount } from '../audit/mod.ts';
import { lastBackupMs } from '../backup/mod.ts';
import type { EventExporter } from '../shares/event-export/mod.ts';
import type { NotificationSender } from '../shares/notifications/mod.ts';
import type { OverlayModel } from '../overlay/model/mod.ts';
import type { StateCounts } from '../shares/catalog/mod.ts';
import type { FabricView } from '../overlay/mod.ts';
import type { Store } from '../store/mod.ts';

export interface ControlMetricsOptions {
  readonly model: OverlayModel;
  readonly counts: StateCounts;
  readonly fabric: Pick<FabricView, 'routers' | 'linkCounts' | 'terminatorCount'>;
  readonly circuitCount: () => number;
  readonly sessionCount: () => number;
  readonly store: Pick<Store, 'db' | 'statementCount'>;
  readonly apis: Pick<ApiMeter, 'write'>;
  readonly notifications: Pick<NotificationSender, 'write'>;
  readonly eventExport: Pick<EventExporter, 'write'>;
  readonly certificates: () => Iterable<NamedCertificate>;
  /** The next step of the rotation of an authority that is not done. */
  readonly rotation: () =>
    | { readonly kind: string; readonly step: string; readonly atMs: number }
    | undefined;
  readonly log: Log;
}

/** A scrape waits for a slow database for so long; the family that needs it is left out then. */
const DATABASE_WAIT_MS = 2_000;
const STATES = ['pending', 'deployed', 'failed'] as const;

export async function writeControlMetrics(to: Exposition, options: ControlMetricsOptions): Promise<void> {
  const { model, counts, fabric, circuitCount, sessionCount, store } = options;
  await counts.settled();
  const shares = counts.shares();
  to.family(
    'frontdoor_control_shares',
    'gauge',
    'Shares by their status',
    STATES.map((status) => [{ status }, shares[status]] as const),
  );
  const environments = counts.machines('environment');
  const { total: links, usable } = fabric.linkCounts;
  const gauge = (name: string, help: string, value: number): void =>
    to.one(`frontdoor_control_${name}`, 'gauge', help, value);
  gauge('environments', 'Environments that are enrolled', environments.total);
  gauge('connected_environments', 'Environments that are connected to a router', environments.online);
  gauge('routers', 'Routers that are enrolled', model.routerCount);
  gauge(
    'connected_routers',
    'Routers that are connected to this control plane',
    fabric.routers().filter(({ isOnline }) => isOnline).length,
  );
  gauge('links', 'Links between routers', links);
  gauge('usable_links', 'Links between routers that circuits can use', usable);
  gauge('circuits', 'Circuits that this control plane has made and that are open', circuitCount());
  gauge('terminators', 'Terminators, where circuits to services end', fabric.terminatorCount);
  gauge('api_sessions', 'Sessions of agents, gateways and SDKs at the edge API', sessionCount());
  to.one(
    'frontdoor_control_sql_statements_total',
    'counter',
    'SQL statements that this control plane has sent to its database',
    store.statementCount,
  );
  to.family(
    'frontdoor_control_certificate_expiry_timestamp_seconds',
    'gauge',
    'Unix time at which a certificate or an authority of this installation ends',
    certificateExpiries(options.certificates()),
  );
  const { rotation } = options;
  const next = rotation();
  to.family(
    'frontdoor_control_authority_next_step_timestamp_seconds',
    'gauge',
    'Unix time of the next step of the replacement of an authority; absent if none is replaced',
    next === undefined ? [] : [[{ authority: next.kind, step: next.step }, next.atMs / 1_000] as const],
  );
  options.apis.write(to);
  options.notifications.write(to);
  options.eventExport.write(to);
  const { found, seconds } = await storedFacts(options);
  gauge('database_up', 'Whether the database answered this scrape: 1 or 0', found === undefined ? 0 : 1);
  if (found === undefined) return;
  gauge('database_response_seconds', 'Seconds until the database answered a small query', seconds);
  to.one(
    'frontdoor_control_audit_events_total',
    'counter',
    'Events in the audit trails of all organizations',
    found.events,
  );
  if (found.backupMs === undefined) return;
  gauge(
    'last_backup_timestamp_seconds',
    'Unix time at which a backup through the Management API was finished last, at any control plane',
    Math.floor(found.backupMs / 1_000),
  );
}

/** `found` is undefined while the database does not answer. */
async function storedFacts({ store, log }: ControlMetricsOptions) {
  let found: { readonly events: number; readonly backupMs: number | undefined } | undefined;
  const startMs = performance.now();
  let seconds = 0;
  const reading = (async () => {
    const events = await auditEventCount(store.db);
    seconds = (performance.now() - startMs) / 1_000;
    found = { events, backupMs: await lastBackupMs(store.db) };
  })();
  try {
    await waitAtMost(reading, DATABASE_WAIT_MS);
  } catch (error) {
    log.debug({ cause: messageOf(error) }, 'the database could not be read for the metrics');
  }
  // An answer, or a failure, after the wait concerns nobody.
  reading.catch(() => {});
  return { found, seconds };
}
