/** What needs attention in a frontdoor as lines of the bell, each with the page that shows it. */
import type { FrontdoorAttentionAnswer } from '#contract/schemas';

export interface AttentionLine {
  readonly of: 'failingShares' | 'disconnectedAgents' | 'waitingDomains' | 'certificates' | 'waitingPeople';
  readonly count: number;
  readonly to: string;
}

export function attentionLines(attention: FrontdoorAttentionAnswer): readonly AttentionLine[] {
  const { frontdoorId, failingShares, disconnectedAgents, waitingDomains } = attention;
  const base = `/frontdoors/${frontdoorId}`;
  const all: readonly AttentionLine[] = [
    { of: 'failingShares', count: failingShares.total, to: `${base}/shares` },
    { of: 'disconnectedAgents', count: disconnectedAgents.total, to: `${base}/agents` },
    { of: 'waitingDomains', count: waitingDomains.total, to: `${base}/domains` },
    { of: 'certificates', count: attention.expiringCertificates.length, to: base },
    { of: 'waitingPeople', count: attention.waitingPeople, to: '/settings/people' },
  ];
  return all.filter(({ count }) => count > 0);
}
