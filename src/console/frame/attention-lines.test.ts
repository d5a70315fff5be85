import assert from 'node:assert/strict';
import { test } from 'node:test';
import { attentionLines } from './attention-lines.ts';

const nothing = { total: 0, first: [] };

test('the bell has a line for each kind of trouble that there is, with the page that shows it', () => {
  const lines = attentionLines({
    frontdoorId: 'f',
    failingShares: { total: 12, first: [] },
    disconnectedAgents: nothing,
    waitingDomains: nothing,
    expiringCertificates: [],
    waitingPeople: 1,
  });
  assert.deepEqual(lines, [
    { of: 'failingShares', count: 12, to: '/frontdoors/f/shares' },
    { of: 'waitingPeople', count: 1, to: '/settings/people' },
  ]);
});
