/**
 * Detects requests that a page of another site makes a browser send in a person's name. Browsers send cookies,
 * passwords and certificates by themselves, and shares below one zone are one site to them (unless the zone is on
 * the Public Suffix List), so that `SameSite` does not stop their pages. ADR 0020.
 */
import type { RequestHead } from '../http/request-head-policy.ts';
import { headerValue } from '../http/header-name.ts';

/** Whether browsers send the method for any page, and keep its response from that page. */
function isSafe(method: string): boolean {
  return method === 'GET' || method === 'HEAD' || method === 'OPTIONS';
}

/**
 * For callers that browsers identify by themselves. Safe methods pass, except upgrades, because pages can read
 * their data. A request without `Origin`, `Sec-Fetch-Site` and `Referer` comes from a program, or from a browser
 * older than 2020.
 */
export function isForeign(head: RequestHead, isSecure: boolean, allowedOrigins: readonly string[]): boolean {
  const isUpgrade = head.upgrade !== '';
  if (!isUpgrade && isSafe(head.method)) return false;
  const origin = headerValue(head.fields, 'origin').toLowerCase();
  if (origin !== '' && allowedOrigins.includes(origin)) return false;
  if (origin !== '' && !isOwn(origin, head, isSecure)) return true;
  const site = headerValue(head.fields, 'sec-fetch-site').toLowerCase();
  if (site !== '') return site !== 'same-origin' && site !== 'none';
  if (origin !== '') return false;
  const referrer = URL.parse(headerValue(head.fields, 'referer'));
  return referrer !== null && !isOwn(referrer.origin, head, isSecure);
}

/** Whether the origin that the browser sent is this host. */
function isOwn(origin: string, head: RequestHead, isSecure: boolean): boolean {
  const [scheme, defaultPort] = isSecure ? ['https://', ':443'] : ['http://', ':80'];
  const own = head.hostValue.toLowerCase();
  return origin === scheme + (own.endsWith(defaultPort) ? own.slice(0, -defaultPort.length) : own);
}
