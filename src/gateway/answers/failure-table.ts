/**
 * Reasons why a request was not served: status and text for the client, and the failed hop for the log. The file
 * has data and its look-up; decisions are made elsewhere.
 */
import { MESSAGE_REFUSALS, type FailureCode, type MessageRefusal } from '#domain';

export type Hop = 'client' | 'gateway' | 'control' | 'router' | 'agent' | 'service';

export interface Failure {
  readonly status: number;
  /** Stable code, for programs; each has its row in the registry of errors. */
  readonly code: FailureCode | MessageRefusal;
  readonly hop: Hop;
  /** Text for the reader of the page. */
  readonly message: string;
  /** Text for the log. */
  readonly cause: string;
}

/** A request head or body that violates HTTP. */
export function failureOfRequest(refusal: MessageRefusal): Failure {
  const { status, message } = MESSAGE_REFUSALS[refusal];
  return { status, code: refusal, hop: 'client', message, cause: message };
}

/** Plain HTTP on a port that speaks TLS. `authority`: host and port of a share as the client named them, undefined for others. */
export function failureOfPlainRequest(authority: string | undefined): Failure {
  const failure = failureOfRequest('plain-on-tls-port');
  if (authority === undefined) return failure;
  return { ...failure, message: `${failure.message} Use https://${authority}/ instead.` };
}

/** A response that violates HTTP, which is never the client's fault. */
export function failureOfAnswer(refusal: MessageRefusal): Failure {
  return serviceFailure(502, 'malformed-answer', `malformed response: ${MESSAGE_REFUSALS[refusal].message}`);
}

/** A response in a form that a share may accept: see `lenient-head.ts`. */
export function obsoleteAnswer(refusal: MessageRefusal): Failure {
  return serviceFailure(
    502,
    'obsolete-answer',
    `obsolete form of a response: ${MESSAGE_REFUSALS[refusal].message}`,
  );
}

export function serviceFailure(status: 502 | 504, code: FailureCode, cause: string): Failure {
  const message =
    status === 504
      ? 'The service behind this address did not respond in time.'
      : 'The service behind this address sent no usable response.';
  return { status, code, hop: 'service', message, cause };
}

/** The first byte of a TLS alert (RFC 8446 §5.1), with which a TLS server answers a request in clear. */
const TLS_ALERT = 0x15;

/** For an answer that does not begin as HTTP does. */
export function failureOfStart(first: number): Failure {
  if (first !== TLS_ALERT) return failureOfAnswer('malformed-status-line');
  const cause = 'the service responded with TLS, so the target of the share must start with https://';
  return serviceFailure(502, 'malformed-answer', cause);
}

/** A share whose record has a field that this gateway cannot read, so that its access rules are unknown. */
export function failureOfUnreadable(field: string): Failure {
  return {
    status: 503,
    code: 'share-unreadable',
    hop: 'control',
    message:
      'This service is unavailable because the gateway cannot read its access rules. The operators can find the reason in the log.',
    cause: `the record of the share cannot be read: ${field}`,
  };
}

/** `text` is that of the share's owner, or ''. */
export function failureOfMaintenance(text: string): Failure {
  return {
    status: 503,
    code: 'maintenance',
    hop: 'gateway',
    message: text === '' ? 'This service is in maintenance. Please try again later.' : text,
    cause: 'the owner of the share switched maintenance on',
  };
}

export const FAILURES = {
  unknownHost: {
    status: 404,
    code: 'unknown-host',
    hop: 'client',
    message: 'There is no service at this address.',
    cause: 'no share has this host',
  },
  misdirected: {
    status: 421,
    code: 'misdirected',
    hop: 'client',
    message: 'This connection was opened for a different host.',
    cause: 'the TLS server name and the Host header belong to different shares',
  },
  noShareTable: {
    status: 503,
    code: 'starting',
    hop: 'control',
    message: 'This gateway is starting. Please try again shortly.',
    cause: 'no share list has arrived yet',
  },
  decisionTimeout: {
    status: 503,
    code: 'not-decided',
    hop: 'control',
    message: 'Your access could not be verified in time. Please try again shortly.',
    cause: 'the caller could not be verified in time',
  },
  tooManyWaiting: {
    status: 503,
    code: 'busy',
    hop: 'gateway',
    message: 'Too many requests are waiting for this service. Please try again shortly.',
    cause: 'too many requests are waiting for a circuit',
  },
  headTimeout: {
    status: 408,
    code: 'head-timeout',
    hop: 'client',
    message: 'The request did not arrive in time.',
    cause: 'the head was not complete in time',
  },
  bodyTooSlow: {
    status: 408,
    code: 'body-too-slow',
    hop: 'client',
    message: 'The request did not arrive in time.',
    cause: 'the body arrived too slowly',
  },
  dialTimeout: {
    status: 504,
    code: 'timeout',
    hop: 'gateway',
    message: 'The connection to the service timed out.',
    cause: 'no circuit in time',
  },
  grpcTarget: {
    status: 501,
    code: 'grpc-target',
    hop: 'gateway',
    message:
      'The service behind this address is reached over HTTP/1.1, which carries no gRPC. The owner of the share can give it a target that starts with grpc:// or grpcs://.',
    cause: 'a call of gRPC came for a target of HTTP/1.1',
  },
  httpsRequired: {
    status: 403,
    code: 'https-required',
    hop: 'client',
    message: 'This address requires TLS.',
    cause: 'a call of gRPC came without TLS, and the policy leads to HTTPS',
  },
  answerTimeout: serviceFailure(504, 'answer-timeout', 'the service did not respond in time'),
  unaskedSwitch: serviceFailure(502, 'malformed-answer', 'the service switched protocols without a request'),
  streamIdle: serviceFailure(504, 'stream-idle', 'no data in either direction for too long'),
  revoked: {
    status: 503,
    code: 'withdrawn',
    hop: 'control',
    message: 'This service is no longer available here.',
    cause: 'the share was withdrawn',
  },
  tooManyAtOnce: {
    status: 429,
    code: 'too-many-at-once',
    hop: 'client',
    message: 'Your network has too many requests in progress. Please wait a little.',
    cause: 'too many requests in progress from this address',
  },
  tooManyConnections: {
    status: 503,
    code: 'busy',
    hop: 'gateway',
    message: 'There are too many connections to this service. Please try again shortly.',
    cause: 'the share has as many connections as a gateway allows for one port',
  },
  portClosed: {
    status: 503,
    code: 'port-closed',
    hop: 'gateway',
    message: 'This service is unavailable because a gateway cannot open its port.',
    cause: 'the port cannot be opened',
  },
  portGuarded: {
    status: 403,
    code: 'port-guarded',
    hop: 'gateway',
    message: 'This service is only available to callers that identify, which is not possible here.',
    cause: 'the share has auth providers or rules about callers, and nobody can identify at a port',
  },
  internal: {
    status: 500,
    code: 'internal',
    hop: 'gateway',
    message: 'Something went wrong in this gateway.',
    cause: 'internal error',
  },
} as const satisfies Record<string, Failure>;
