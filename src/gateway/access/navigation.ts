/** Whether a request is a navigation of a browser, judged by headers that scripts cannot set. */
import type { RequestHead } from '../http/request-head-policy.ts';
import { headerValue } from '../http/header-name.ts';

export function isNavigation(head: RequestHead): boolean {
  if (head.method !== 'GET' && head.method !== 'HEAD') return false;
  if (head.hasBody || head.upgrade !== '' || !head.accept.toLowerCase().includes('text/html')) return false;
  const mode = headerValue(head.fields, 'sec-fetch-mode');
  return (mode === '' || mode === 'navigate') && headerValue(head.fields, 'x-requested-with') === '';
}

/**
 * A preflight is the browser's question before a page of another origin may send more than a form could. It
 * carries no credential.
 */
export function isPreflight(head: RequestHead): boolean {
  if (head.method !== 'OPTIONS' || head.hasBody || head.upgrade !== '') return false;
  const { fields } = head;
  return headerValue(fields, 'origin') !== '' && headerValue(fields, 'access-control-request-method') !== '';
}
