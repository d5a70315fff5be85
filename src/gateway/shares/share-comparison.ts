/** Whether two versions of a share are the same, so that its route stays. */
import type { ServedShare } from '#domain/gateway-shapes';

export function isSameShare(a: ServedShare, b: ServedShare): boolean {
  return (
    a.updatedAtMs === b.updatedAtMs &&
    a.unreadable === b.unreadable &&
    a.token === b.token &&
    a.frontdoorId === b.frontdoorId &&
    a.organizationId === b.organizationId &&
    a.environmentId === b.environmentId &&
    isSameList(a.hosts, b.hosts) &&
    isSameList(a.authProviderIds, b.authProviderIds) &&
    isSameValue(a.ingress, b.ingress) &&
    isSameValue(a.customHosts, b.customHosts) &&
    isSameValue(a.rules, b.rules) &&
    isSameValue(a.upstream, b.upstream) &&
    isSameValue(a.inspection, b.inspection)
  );
}

function isSameList(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((item, i) => item === b[i]);
}

/** The values come from one writer, so that their fields have the same order. */
function isSameValue(a: unknown, b: unknown): boolean {
  return a === b || JSON.stringify(a) === JSON.stringify(b);
}
