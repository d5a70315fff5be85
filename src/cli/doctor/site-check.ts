/**
 * Checks whether browsers treat each share of a zone as a site of its own, according to the Public Suffix List
 * that they use.
 */
import { ok, skipped, warning, type CheckResult } from './finding.ts';

/** `zone` is the part of a share's host after the share's name, or '' if there is none. */
export async function siteVerdict(zone: string): Promise<CheckResult> {
  if (zone === '') return skipped('shares are not served under a zone');
  if (zone === 'localhost' || zone.endsWith('.localhost'))
    return skipped(`${zone} is a local zone, to which the Public Suffix List does not apply`);
  // The list is large, and only the doctor needs it.
  const { getPublicSuffix } = await import('tldts');
  const suffix = getPublicSuffix(zone, { allowPrivateDomains: true, extractHostname: false });
  if (suffix === zone) return ok(`${zone} is on the Public Suffix List: each share is a site of its own`);
  return warning(
    `browsers treat all shares of ${zone} as one site: their scripts can set cookies for each other`,
    'if tenants do not trust each other, add the zone to the Public Suffix List (publicsuffix.org/submit): see "Neighbours in a browser" in docs/guide/who-may-come-in.md',
  );
}
