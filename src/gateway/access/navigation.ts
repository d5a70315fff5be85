/** Whether a request is a browser going somewhere, by what only browsers say and scripts cannot make them say. */
import type { RequestHead } from '../http/request-head-policy.ts';
import { headerValue } from './request-credentials.ts';

export function isNavigation(head: RequestHead): boolean {
  if (head.method !== 'GET' && head.method !== 'HEAD') return false;
  if (head.hasBody || head.upgrade !== '' || !head.accept.toLowerCase().includes('text/html')) return false;
  const mode = headerValue(head.fields, 'sec-fetch-mode');
  return (mode === '' || mode === 'navigate') && headerValue(head.fields, 'x-requested-with') === '';
}

/** What a browser asks before a page of another origin may ask for more than a form could: it shows no credential. */
export function isPreflight(head: RequestHead): boolean {
  if (head.method !== 'OPTIONS' || head.hasBody || head.upgrade !== '') return false;
  const { fields } = head;
  return headerValue(fields, 'origin') !== '' && headerValue(fields, 'access-control-request-method') !== '';
}
