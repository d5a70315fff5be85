/**
 * Whether a page of another site makes a browser act in a person's name. Browsers show cookies, passwords and
 * certificates by themselves, and shares below one zone are one site to them (unless the zone is on the Public Suffix
 * List), so that `SameSite` holds none of their pages off. ADR 0020.
 */
import type { RequestHead } from '../http/request-head-policy.ts';
import { headerValue } from './request-credentials.ts';

/** Requests that browsers send for any page, and whose answers they keep from it. */
function isSafe(method: string): boolean {
  return method === 'GET' || method === 'HEAD' || method === 'OPTIONS';
}

/**
 * For callers whom browsers identify by themselves. Safe methods go on, but for upgrades, whose answers pages read. A
 * request without `Origin`, `Sec-Fetch-Site` and `Referer` comes from a program, or from a browser of before 2020.
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

/** A page of this host, by the origin that a browser names. */
function isOwn(origin: string, head: RequestHead, isSecure: boolean): boolean {
  const [scheme, defaultPort] = isSecure ? ['https://', ':443'] : ['http://', ':80'];
  const own = head.hostValue.toLowerCase();
  return origin === scheme + (own.endsWith(defaultPort) ? own.slice(0, -defaultPort.length) : own);
}
