/** What a request says about how the gateway's own answer to it has to look. */
import type { FieldLines } from '../http/head-decoder.ts';
import { headerValue } from '../http/header-name.ts';
import type { RequestHead } from '../http/request-head-policy.ts';
import type { FormWish } from './answer-form-policy.ts';

export interface ErrorAnswer extends FormWish {
  readonly isHead: boolean;
  /** Whether the request is a GET, for which the page may offer a retry. */
  readonly isRead: boolean;
  readonly keepAlive: boolean;
}

/** What a browser says. For a request of which too little arrived. */
const AS_BROWSER = 'text/html';

/** For a request that could not be read: `accept` is what arrived of that header. */
export function askedUnread(accept = '', isHead = false): ErrorAnswer {
  return { accept: accept || AS_BROWSER, isScript: false, isHead, isRead: true, keepAlive: false };
}

/**
 * For a request that the gateway answers itself. If a body follows, or an upgrade was requested, the connection
 * ends.
 */
export function askedOf(head: RequestHead): ErrorAnswer {
  const keepAlive = head.keepAlive && !head.hasBody && head.upgrade === '';
  const { accept, fields, method } = head;
  return {
    accept,
    isScript: !accept.includes(AS_BROWSER) && isOfScript(fields),
    isHead: method === 'HEAD',
    isRead: method === 'GET',
    keepAlive,
  };
}

function isOfScript(fields: FieldLines): boolean {
  return headerValue(fields, 'x-requested-with') !== '' || headerValue(fields, 'sec-fetch-dest') === 'empty';
}
