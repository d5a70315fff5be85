/** What a request says about how the gateway's own answer to it has to look. */
import { grpcKindOf, type GrpcKind } from '../http/grpc-policy.ts';
import type { FieldLines } from '../http/head-decoder.ts';
import { headerValue } from '../http/header-name.ts';
import type { RequestHead } from '../http/request-head-policy.ts';
import type { FormWish } from './answer-form-policy.ts';

export interface ErrorAnswer extends FormWish {
  readonly isHead: boolean;
  /** Whether the request is a GET, for which the page may offer a retry. */
  readonly isRead: boolean;
  readonly keepAlive: boolean;
  /** Set for a client of gRPC. */
  readonly grpc?: GrpcKind | undefined;
}

/** What a browser says. For a request of which too little arrived. */
const AS_BROWSER = 'text/html';

/** For a request that could not be read: `accept` and `grpc` are from what arrived of its headers. */
export function askedUnread(accept = '', isHead = false, grpc?: GrpcKind): ErrorAnswer {
  return { accept: accept || AS_BROWSER, isScript: false, isHead, isRead: true, keepAlive: false, grpc };
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
    grpc: grpcKindOf(head),
  };
}

function isOfScript(fields: FieldLines): boolean {
  return headerValue(fields, 'x-requested-with') !== '' || headerValue(fields, 'sec-fetch-dest') === 'empty';
}
