/** Whether a request is a browser going somewhere, by what only browsers say and scripts cannot make them say. */
import type { RequestHead } from '../http/request-head-policy.ts';
import { headerValue } from './request-credentials.ts';

export function isNavigation(head: RequestHead): boolean {
  if (head.method !== 'GET' && head.method !== 'HEAD') return false;
  if (head.hasBody || head.upgrade !== '' || !head.accept.toLowerCase().includes('text/html')) return false;
  const mode = headerValue(head.fields, 'sec-fetch-mode');
  return (mode === '' || mode === 'navigate') && headerValue(head.fields, 'x-requested-with') === '';
}

/**
 * Whether a page of this host, or no page at all, asks for another protocol. Browsers send cookies with such requests
 * from any page, and let it read what comes.
 */
export function isOwnOrigin(head: RequestHead, isSecure: boolean): boolean {
  const origin = headerValue(head.fields, 'origin').toLowerCase();
  if (origin === '') return true;
  const [scheme, defaultPort] = isSecure ? ['https://', ':443'] : ['http://', ':80'];
  const own = head.hostValue.toLowerCase();
  return origin === scheme + (own.endsWith(defaultPort) ? own.slice(0, -defaultPort.length) : own);
}
