/**
 * Reasons of access control to refuse a request, as failures with their page. The file has data and look-ups;
 * decisions are made elsewhere.
 */
import { ACCESS_REASONS, type AccessReason } from '#domain/access';
import type { LoginRefusalReason } from '#domain/gateway-shapes';
import type { Failure } from '../answers/failure-table.ts';

const AT_CONTROL: ReadonlySet<AccessReason> = new Set([
  'login-not-available',
  'issuer-away',
  'control-plane-away',
]);

export function failureOfAccess(reason: AccessReason, cause: string = ACCESS_REASONS[reason].cause): Failure {
  const { status, message } = ACCESS_REASONS[reason];
  return { status, code: reason, hop: AT_CONTROL.has(reason) ? 'control' : 'client', message, cause };
}

/** For a person who is logged in but not admitted: logging in again without logging out would give the same session. */
export function withWayOut(failure: Failure): Failure {
  return {
    ...failure,
    message: `${failure.message} To continue as another user, sign out first: /.frontdoor/logout`,
  };
}

/** A request that was admitted before would be refused now. */
export function accessEnded(cause: string): Failure {
  return {
    status: 401,
    code: 'access-ended',
    hop: 'client',
    message: 'You no longer have access to this address.',
    cause,
  };
}

const LOGIN_REFUSALS: Readonly<Record<LoginRefusalReason, readonly [status: number, message: string]>> = {
  'provider-not-available': [503, 'Signing in here is not possible at the moment.'],
  'provider-failed': [502, 'The sign-in service sent an unexpected response. Please try again.'],
  'attempt-not-valid': [
    400,
    'This sign-in is no longer valid, or was started in another browser. Go back to the address that you wanted and try again.',
  ],
  denied: [403, 'The sign-in was refused.'],
  'email-not-verified': [403, 'Your account has no verified email address, which is required here.'],
  'too-many': [429, 'Too many sign-ins are in progress. Please wait a little and try again.'],
};

export function failureOfLogin(reason: LoginRefusalReason): Failure {
  const [status, message] = LOGIN_REFUSALS[reason];
  const hop = reason === 'provider-failed' || reason === 'provider-not-available' ? 'control' : 'client';
  return { status, code: `login-${reason}`, hop, message, cause: `sign-in refused: ${reason}` };
}

export const ACCESS_FAILURES = {
  busy: {
    status: 503,
    code: 'busy',
    hop: 'gateway',
    message: 'Too many callers are being verified. Please try again shortly.',
    cause: 'too many credentials wait for verification',
  },
  tooManyWrong: {
    status: 429,
    code: 'too-many-wrong',
    hop: 'client',
    message: 'Your network sent too many wrong credentials. Please wait a little.',
    cause: 'too many wrong credentials from this address',
  },
  tooManyLogins: {
    status: 429,
    code: 'login-too-many',
    hop: 'client',
    message: 'Your network started too many sign-ins. Please wait a little.',
    cause: 'too many sign-ins from this address',
  },
  otherOrigin: failureOfAccess('other-origin', 'a page of another origin sent the request'),
  noSuchPage: {
    status: 404,
    code: 'unknown-path',
    hop: 'client',
    message: 'There is no such page.',
    cause: 'not one of the gateway’s own paths',
  },
  wrongLoginMethod: {
    status: 400,
    code: 'wrong-method',
    hop: 'client',
    message: 'This page does not support this method.',
    cause: 'a method that the gateway’s own path does not support',
  },
  loginAway: {
    status: 503,
    code: 'login-not-available',
    hop: 'control',
    message: 'Sign-in and sign-out are not possible at the moment. Please try again shortly.',
    cause: 'the control plane did not respond',
  },
} as const satisfies Record<string, Failure>;
