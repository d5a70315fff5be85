import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isConcerned } from './concerned-answer.ts';

test('a change concerns the answers of its kind about the same frontdoor and the same resource', () => {
  const share = { kind: 'share', id: 'app', ownerId: 'f' };
  const agent = { kind: 'environment', id: 'e', ownerId: 'f' };
  const frontdoor = { kind: 'frontdoor', id: 'f', ownerId: 'o' };
  const router = { kind: 'router', id: 'r', ownerId: null };
  const rows = [
    [share, 'getShare', { frontdoorId: 'f', token: 'app' }, true],
    [share, 'getShare', { frontdoorId: 'f', token: 'other' }, false],
    [share, 'getShare', { frontdoorId: 'g', token: 'app' }, false],
    [share, 'listShares', { frontdoorId: 'f' }, true],
    [share, 'getAuthProviderUses', { frontdoorId: 'f', id: 'p' }, true],
    [share, 'listAuditEvents', null, true],
    [share, 'listPeople', null, false],
    [{ ...share, kind: 'failure' }, 'listFailures', { frontdoorId: 'f' }, true],
    [{ ...share, kind: 'failure' }, 'listAuditEvents', null, false],
    [{ ...share, kind: 'request' }, 'listInspectedRequests', { frontdoorId: 'f', token: 'other' }, false],
    [agent, 'getEnvironment', { frontdoorId: 'f', id: 'e' }, true],
    [agent, 'getEnvironment', { frontdoorId: 'f', id: 'd' }, false],
    [agent, 'getShare', { frontdoorId: 'f', token: 'app' }, true],
    [frontdoor, 'getFrontdoorSummary', { frontdoorId: 'f' }, true],
    [frontdoor, 'getFrontdoorSummary', { frontdoorId: 'g' }, false],
    [frontdoor, 'listFrontdoors', { organizationId: 'o' }, true],
    [frontdoor, 'getFrontdoorAttention', { frontdoorId: 'f' }, false],
    [share, 'getPolicyUses', { frontdoorId: 'f', policyId: 'p' }, true],
    [{ ...share, kind: 'request-log', id: 'f' }, 'getRequestLog', { frontdoorId: 'f' }, true],
    [{ ...share, kind: 'request-log', id: 'f' }, 'getRequestLog', { frontdoorId: 'g' }, false],
    [router, 'getRouter', { id: 'r' }, true],
    [router, 'getRouter', { id: 's' }, false],
    [router, 'getFrontdoorSummary', { frontdoorId: 'f' }, true],
    [{ ...router, kind: 'of a later version' }, 'listPeople', null, true],
  ] as const;
  for (const [change, operation, parameters, expected] of rows)
    assert.equal(
      isConcerned([operation, parameters, null], change),
      expected,
      `${change.kind} ${operation} ${JSON.stringify(parameters)}`,
    );
});
