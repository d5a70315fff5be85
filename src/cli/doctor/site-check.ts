/** Checks whether browsers take each share of a zone for a site of its own, by the Public Suffix List that they use. */
import { ok, skipped, warning, type CheckResult } from './finding.ts';

/** `zone`: what follows the share's name in its host, or '' for none. */
export async function siteVerdict(zone: string): Promise<CheckResult> {
  if (zone === '') return skipped('shares have no names below a zone');
  if (zone === 'localhost' || zone.endsWith('.localhost'))
    return skipped(`${zone} is a zone of this machine, which no list has`);
  // It is large, and only the doctor asks.
  const { getPublicSuffix } = await import('tldts');
  const suffix = getPublicSuffix(zone, { allowPrivateDomains: true, extractHostname: false });
  if (suffix === zone) return ok(`${zone} is on the Public Suffix List: each share is a site of its own`);
  return warning(
    `browsers take all shares of ${zone} for one site: their scripts can set cookies for each other`,
    'where tenants do not know each other, put the zone on the Public Suffix List (publicsuffix.org/submit): see "Neighbours in a browser" in docs/guide/who-may-come-in.md',
  );
}
