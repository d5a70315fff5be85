/**
 * Notices organizations and frontdoors that have used 80 % or all of a limit. Each crossing is reported once, by one control plane; it is
 * reported again after the use was below in between.
 */
import { quotaUses, type QuotaUse } from './quota-store.ts';
import { ReportWatch, type WatchFinding, type WatchFindings, type WatchParts } from './report-watch.ts';

const PASS_MS = 300_000;
/** In per cent, the highest last. */
const LEVELS = [80, 100] as const;

interface Crossing extends WatchFinding {
  readonly percent: number;
  readonly use: QuotaUse;
}

export class QuotaWatch extends ReportWatch<Crossing> {
  constructor(parts: WatchParts) {
    super(parts, { kind: 'quota', type: 'quota.reached', what: 'the use of limits', everyMs: PASS_MS });
  }

  protected async find(): Promise<WatchFindings<Crossing>> {
    const { uses, cutOff } = await quotaUses(this.parts.store.db);
    return { found: uses.flatMap(crossingsOf), isCutOff: (key) => cutOff.has(limitOf(key)) };
  }

  protected organizationOf({ use }: Crossing): string {
    return use.organizationId;
  }

  /** A use that crossed both levels at once is reported at the higher one. */
  protected resourcesOf(found: readonly Crossing[]): readonly object[] {
    const highest = new Map(found.map((each) => [useKey(each.use), each]));
    return [...highest.values()].map(({ percent, use }) => ({
      kind: 'quota',
      id: use.limit,
      frontdoorId: use.frontdoorId,
      percent,
      used: use.used,
      most: use.most,
    }));
  }
}

function limitOf(key: string): string {
  return key.split(' ')[0]!;
}

function useKey({ limit, organizationId, frontdoorId }: QuotaUse): string {
  return `${limit} ${frontdoorId ?? organizationId}`;
}

/** The levels that a use has reached, the highest last. */
function crossingsOf(use: QuotaUse): readonly Crossing[] {
  return LEVELS.filter((percent) => use.used * 100 >= use.most * percent).map((percent) => ({
    key: `${useKey(use)} ${percent}`,
    percent,
    use,
  }));
}
