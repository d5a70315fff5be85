/**
 * Notices certificates of agents and of domains that end soon. Both are renewed long before, so one that is left with two weeks
 * has a problem. Each is reported once, by one control plane, until it was renewed.
 */
import { organizationOf } from '../../audit/mod.ts';
import { expiringCertificates } from '../../overlay/records/mod.ts';
import type { Queries } from '../../store/mod.ts';
import { expiringDomains } from '../records/attention-store.ts';
import { ReportWatch, type WatchFinding, type WatchFindings, type WatchParts } from './report-watch.ts';

const PASS_MS = 3_600_000;
const WINDOW_MS = 14 * 86_400_000;
const MOST = 500;

interface EndingCertificate extends WatchFinding {
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

export class CertificateWatch extends ReportWatch<EndingCertificate> {
  constructor(parts: WatchParts) {
    super(parts, {
      kind: 'certificate',
      type: 'certificate.expiring',
      what: 'certificates that end soon',
      everyMs: PASS_MS,
    });
  }

  protected async find(nowMs: number): Promise<WatchFindings<EndingCertificate>> {
    const found = await endingCertificates(this.parts.store.db, nowMs);
    return { found, isCutOff: () => found.length >= MOST };
  }

  protected organizationOf({ frontdoorId }: EndingCertificate): Promise<string> {
    return organizationOf(this.parts.store.db, frontdoorId);
  }

  protected resourcesOf(found: readonly EndingCertificate[]): readonly object[] {
    return found.map(({ named }) => named);
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
