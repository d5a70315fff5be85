/**
 * Why a request was not served: the status and words for the client, and for the log the hop that failed. Data and
 * its look-up; nothing here decides.
 */
import { REFUSALS, type MessageRefusal } from '../http/refusal-table.ts';

export type Hop = 'client' | 'gateway' | 'control' | 'router' | 'agent' | 'service';

export interface Failure {
  readonly status: number;
  /** Stable, for programs. */
  readonly code: string;
  readonly hop: Hop;
  /** For the reader of the page. */
  readonly says: string;
  /** For the log. */
  readonly cause: string;
}

/** A request head or body that breaks the rules. */
export function failureOfRequest(refusal: MessageRefusal): Failure {
  const { status, says } = REFUSALS[refusal];
  return { status, code: refusal, hop: 'client', says, cause: says };
}

/** An answer that breaks the rules: never the client's fault. */
export function failureOfAnswer(refusal: MessageRefusal): Failure {
  return serviceFailure(502, 'malformed-answer', `malformed answer: ${REFUSALS[refusal].says}`);
}

export function serviceFailure(status: 502 | 504, code: string, cause: string): Failure {
  const says =
    status === 504
      ? 'The service behind this address did not answer in time.'
      : 'The service behind this address gave no usable answer.';
  return { status, code, hop: 'service', says, cause };
}

/** A share whose record has a field that this gateway cannot read: nobody knows whom it lets in. */
export function failureOfUnreadable(field: string): Failure {
  return {
    status: 503,
    code: 'share-unreadable',
    hop: 'control',
    says: 'This service is closed, because this gateway cannot read its rules. Its operators find the reason in the log.',
    cause: `the record of the share cannot be read: ${field}`,
  };
}

export const FAILURES = {
  unknownHost: {
    status: 404,
    code: 'unknown-host',
    hop: 'client',
    says: 'There is no service at this address.',
    cause: 'no share has this host',
  },
  misdirected: {
    status: 421,
    code: 'misdirected',
    hop: 'client',
    says: 'This connection was made for another host.',
    cause: 'the TLS server name leads to another share than the Host header',
  },
  noShareTable: {
    status: 503,
    code: 'starting',
    hop: 'control',
    says: 'This gateway is starting. Please try again shortly.',
    cause: 'no share list has arrived yet',
  },
  decisionTimeout: {
    status: 503,
    code: 'not-decided',
    hop: 'control',
    says: 'Whether you may come in could not be found out in time. Please try again shortly.',
    cause: 'who calls could not be verified in time',
  },
  tooManyWaiting: {
    status: 503,
    code: 'busy',
    hop: 'gateway',
    says: 'Too many requests wait for this service. Please try again shortly.',
    cause: 'too many requests wait for a circuit',
  },
  headTimeout: {
    status: 408,
    code: 'head-timeout',
    hop: 'client',
    says: 'The request did not arrive in time.',
    cause: 'the head was not complete in time',
  },
  bodyTooSlow: {
    status: 408,
    code: 'body-too-slow',
    hop: 'client',
    says: 'The request did not arrive in time.',
    cause: 'the body came too slowly',
  },
  dialTimeout: {
    status: 504,
    code: 'timeout',
    hop: 'gateway',
    says: 'No connection to the service could be made in time.',
    cause: 'no circuit in time',
  },
  answerTimeout: serviceFailure(504, 'answer-timeout', 'the service did not answer in time'),
  streamIdle: serviceFailure(504, 'stream-idle', 'no byte in either direction for too long'),
  revoked: {
    status: 503,
    code: 'withdrawn',
    hop: 'control',
    says: 'This service is no longer available here.',
    cause: 'the share was withdrawn',
  },
  internal: {
    status: 500,
    code: 'internal',
    hop: 'gateway',
    says: 'Something went wrong in this gateway.',
    cause: 'internal error',
  },
} as const satisfies Record<string, Failure>;
