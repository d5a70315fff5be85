/** Why access lets a request no further, as failures with their page. Data and look-ups; nothing here decides. */
import { ACCESS_REASONS, type AccessReason } from '#domain';
import type { LoginRefusalReason } from '#domain';
import type { Failure } from '../answers/failure-table.ts';

const AT_CONTROL: ReadonlySet<AccessReason> = new Set([
  'login-not-available',
  'issuer-away',
  'control-plane-away',
]);

export function failureOfAccess(reason: AccessReason, cause: string = reason): Failure {
  const { status, says } = ACCESS_REASONS[reason];
  return { status, code: reason, hop: AT_CONTROL.has(reason) ? 'control' : 'client', says, cause };
}

/** For a person who is logged in and not wanted: the next log-in would only find the same one. */
export function withWayOut(failure: Failure): Failure {
  return { ...failure, says: `${failure.says} To come as somebody else, log out first: /.frontdoor/logout` };
}

/** What was admitted would not be any more. */
export function accessEnded(cause: string): Failure {
  return {
    status: 401,
    code: 'access-ended',
    hop: 'client',
    says: 'You are not let in here any more.',
    cause,
  };
}

const LOGIN_REFUSALS: Readonly<Record<LoginRefusalReason, readonly [status: number, says: string]>> = {
  'provider-not-available': [503, 'Logging in here is not possible at the moment.'],
  'provider-failed': [502, 'The log-in service did not answer as it should. Please try again.'],
  'attempt-not-valid': [
    400,
    'This log-in is not valid any more, or was begun in another browser. Go back to the address that you wanted and try again.',
  ],
  denied: [403, 'The log-in was refused.'],
  'email-not-verified': [403, 'Your account has no verified e-mail address; one is needed here.'],
  'too-many': [429, 'Too many log-ins are under way. Please wait a little and try again.'],
};

export function failureOfLogin(reason: LoginRefusalReason): Failure {
  const [status, says] = LOGIN_REFUSALS[reason];
  const hop = reason === 'provider-failed' || reason === 'provider-not-available' ? 'control' : 'client';
  return { status, code: `login-${reason}`, hop, says, cause: `log-in refused: ${reason}` };
}

export const ACCESS_FAILURES = {
  busy: {
    status: 503,
    code: 'busy',
    hop: 'gateway',
    says: 'Too many callers are being checked. Please try again shortly.',
    cause: 'too many credentials wait to be checked',
  },
  tooManyWrong: {
    status: 429,
    code: 'too-many-wrong',
    hop: 'client',
    says: 'Too many wrong credentials came from your network; wait a little.',
    cause: 'too many wrong credentials from this address',
  },
  tooManyLogins: {
    status: 429,
    code: 'login-too-many',
    hop: 'client',
    says: 'Too many log-ins from your network; wait a little.',
    cause: 'too many log-ins from this address',
  },
  otherOrigin: failureOfAccess('other-origin', 'the request was made by a page of another origin'),
  noSuchPage: {
    status: 404,
    code: 'unknown-path',
    hop: 'client',
    says: 'There is no such page.',
    cause: 'not one of the gateway’s own paths',
  },
  wrongLoginMethod: {
    status: 400,
    code: 'wrong-method',
    hop: 'client',
    says: 'This page cannot be asked for in this way.',
    cause: 'a method that the gateway’s own path does not take',
  },
  loginAway: {
    status: 503,
    code: 'login-not-available',
    hop: 'control',
    says: 'Logging in or out is not possible at the moment. Please try again shortly.',
    cause: 'the control plane did not answer',
  },
} as const satisfies Record<string, Failure>;
