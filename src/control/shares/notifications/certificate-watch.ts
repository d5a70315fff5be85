/**
 * Notices certificates of agents and of domains that end soon. Both are renewed long before, so one that is left with two weeks
 * has a problem. Each is reported once, by one control plane, until it was renewed.
 */
import { messageOf, type Clock, type Log } from '#base';
import { organizationOf } from '../../audit/mod.ts';
import { expiringCertificates } from '../../overlay/records/mod.ts';
import type { Queries, Store } from '../../store/mod.ts';
import { expiringDomains } from '../records/attention-store.ts';
import { publishEvent } from './delivery-store.ts';
import { endProblems, listReported, reportProblems } from './problem-store.ts';

const PASS_MS = 3_600_000;
const FIRST_MS = 60_000;
const WINDOW_MS = 14 * 86_400_000;
const MOST = 500;

export interface CertificateWatchOptions {
  readonly store: Pick<Store, 'db' | 'transaction'>;
  readonly clock: Clock;
  readonly log: Log;
}

interface EndingCertificate {
  /** The id of the row that remembers the report. */
  readonly key: string;
  readonly frontdoorId: string;
  readonly named: {
    readonly kind: 'agent' | 'domain';
    /** The ID of the agent, or the token of the share that has the domain. */
    readonly id: string;
    readonly name: string;
    readonly frontdoorId: string;
    readonly expiresAt: string;
  };
}

export class CertificateWatch {
  readonly #options: CertificateWatchOptions;
  #timer: NodeJS.Timeout;
  #running: Promise<void> | undefined;

  constructor(options: CertificateWatchOptions) {
    this.#options = options;
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
        const { log } = this.#options;
        log.warn({ cause: messageOf(error) }, 'certificates that end soon could not be looked up');
      })
      .finally(() => (this.#running = undefined));
    return this.#running;
  }

  #next(): void {
    this.#timer = setTimeout(() => this.#next(), PASS_MS).unref();
    void this.pass();
  }

  async #pass(): Promise<void> {
    const { store, clock } = this.#options;
    const nowMs = clock.nowMs();
    const ending = await endingCertificates(store.db, nowMs);
    const reported = await listReported(store.db, ['certificate']);
    const present = new Set(ending.map(({ key }) => key));
    const renewed = reported.map(({ resourceId }) => resourceId).filter((key) => !present.has(key));
    // The list may be cut off.
    if (renewed.length > 0 && ending.length < MOST) await endProblems(store.db, 'certificate', renewed);
    const known = new Set(reported.map(({ resourceId }) => resourceId));
    const byOrganization = new Map<string, EndingCertificate[]>();
    for (const certificate of ending) {
      if (known.has(certificate.key)) continue;
      const organizationId = await organizationOf(store.db, certificate.frontdoorId);
      byOrganization.set(organizationId, [...(byOrganization.get(organizationId) ?? []), certificate]);
    }
    for (const [organizationId, certificates] of byOrganization)
      await this.#report(organizationId, certificates);
  }

  async #report(organizationId: string, certificates: readonly EndingCertificate[]): Promise<void> {
    const { store, clock } = this.#options;
    const nowMs = clock.nowMs();
    await store.transaction(async (trx, touch) => {
      const keys = certificates.map(({ key }) => key);
      const won = await reportProblems(trx, 'certificate', organizationId, keys, nowMs);
      const resources = certificates.filter(({ key }) => won.has(key)).map(({ named }) => named);
      if (resources.length === 0) return;
      const data = { organizationId, total: resources.length, resources: resources.slice(0, 50) };
      await publishEvent(trx, touch, { organizationId, type: 'certificate.expiring', data }, nowMs);
    });
  }
}

async function endingCertificates(db: Queries, nowMs: number): Promise<readonly EndingCertificate[]> {
  const window = { beforeMs: nowMs + WINDOW_MS, limit: MOST };
  // Those that have ended, of agents that were abandoned, would take the places of others.
  const machines = await expiringCertificates(db, undefined, { ...window, afterMs: nowMs });
  const domains = await expiringDomains(db, undefined, { ...window, nowMs });
  return [
    ...machines.flatMap(({ id, name, ownerId, notAfterMs }) =>
      ownerId === null
        ? []
        : endingOf('agent', `agent ${id}`, { id, name, frontdoorId: ownerId }, notAfterMs),
    ),
    ...domains.flatMap(({ shareToken: id, hostname: name, frontdoorId, validUntilMs }) =>
      endingOf('domain', `domain ${name}`, { id, name, frontdoorId }, validUntilMs),
    ),
  ];
}

function endingOf(
  kind: 'agent' | 'domain',
  key: string,
  { id, name, frontdoorId }: { readonly id: string; readonly name: string; readonly frontdoorId: string },
  endsAtMs: number,
): readonly EndingCertificate[] {
  const expiresAt = new Date(endsAtMs).toISOString();
  return [{ key, frontdoorId, named: { kind, id, name, frontdoorId, expiresAt } }];
}
