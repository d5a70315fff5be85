/**
 * Headers of a service's answer that act on the whole site of its share. To browsers all shares of a zone are one site, unless
 * the zone is on the Public Suffix List. `Clear-Site-Data: "cookies"` would log visitors out of every other share of the
 * zone; what it may clear here belongs to the origin alone. `set-cookie-policy.ts` holds cookies to the share. Other
 * headers with an effect beyond the answer (Strict-Transport-Security, NEL, Report-To, Alt-Svc, Set-Login) concern
 * the own name and those below it.
 */
import { OTHER } from './field-name-table.ts';
import type { FieldLines } from './head-decoder.ts';
import { cookieChanges, type CookiePath, type LineChanges } from './set-cookie-policy.ts';

const CLEAR_SITE_DATA = 'clear-site-data';
/** Types of data that are kept by origin, in lower case. Browsers may add types with another reach. */
const OF_THE_ORIGIN: ReadonlySet<string> = new Set([
  '"cache"',
  '"prefetchcache"',
  '"prerendercache"',
  '"executioncontexts"',
  '"clienthints"',
]);

/** `host` is the share's requested host in canonical form. */
export function siteChanges(
  fields: FieldLines,
  host: string,
  isOwnSite: (host: string) => boolean,
  cookiePath?: CookiePath,
): LineChanges {
  const changes = cookieChanges(fields, host, cookiePath);
  let first = 0;
  while (first < fields.count && !isClearSiteData(fields, first)) first += 1;
  if (first === fields.count || isOwnSite(host)) return changes;
  const omitted = [...changes.omitted];
  const kept: string[] = [];
  for (let i = first; i < fields.count; i += 1) {
    if (!isClearSiteData(fields, i)) continue;
    omitted.push(i);
    const types = fields.value(i).split(',');
    kept.push(...types.map((type) => type.trim()).filter((type) => OF_THE_ORIGIN.has(type.toLowerCase())));
  }
  const line = kept.length === 0 ? '' : `Clear-Site-Data: ${kept.join(', ')}\r\n`;
  return { omitted, lines: changes.lines + line };
}

function isClearSiteData(fields: FieldLines, index: number): boolean {
  if (fields.code[index] !== OTHER) return false;
  if (fields.nameEnd[index]! - fields.lineStart[index]! !== CLEAR_SITE_DATA.length) return false;
  return fields.name(index).toLowerCase() === CLEAR_SITE_DATA;
}
