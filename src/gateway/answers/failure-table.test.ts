import assert from 'node:assert/strict';
import { test } from 'node:test';
import { VISITOR_ERRORS } from '#contract/errors';
import { MESSAGE_REFUSALS, type MessageRefusal } from '#domain';
import { ACCESS_REASONS, type AccessReason } from '#domain/access';
import { CircuitError, type CircuitErrorCode } from '#sdk';
import {
  ACCESS_FAILURES,
  accessEnded,
  failureOfAccess,
  failureOfLogin,
} from '../access/access-failure-table.ts';
import { failureOfCircuit } from '../circuits/circuit-failure.ts';
import { FAILURES, failureOfRequest, failureOfUnreadable } from './failure-table.ts';

const CIRCUITS: readonly CircuitErrorCode[] = [
  ...(['no-terminator', 'service-refused', 'service-timeout', 'not-authorized', 'control-away'] as const),
  ...(['timeout', 'channel-closed', 'circuit-closed', 'overlay'] as const),
];
const LOGINS = [
  ...(['provider-not-available', 'provider-failed', 'attempt-not-valid', 'denied'] as const),
  ...(['email-not-verified', 'too-many'] as const),
];

test('visitors get a failure with the status that the registry of errors gives its code', () => {
  const failures = [
    ...Object.values(FAILURES),
    ...Object.values(ACCESS_FAILURES),
    ...Object.keys(ACCESS_REASONS).map((reason) => failureOfAccess(reason as AccessReason)),
    ...Object.keys(MESSAGE_REFUSALS).map((refusal) => failureOfRequest(refusal as MessageRefusal)),
    ...CIRCUITS.map((code) => failureOfCircuit(new CircuitError(code, 'router', 'x'))),
    ...LOGINS.map(failureOfLogin),
    accessEnded('x'),
    failureOfUnreadable('rules'),
  ];
  for (const { code, status } of failures) {
    assert.deepEqual(VISITOR_ERRORS[code].statuses, [status], code);
  }
});
