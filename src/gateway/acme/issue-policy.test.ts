import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fc } from '../../../test/support/fast-check.ts';
import { CHALLENGE_PREFIX, challengeToken } from '../http/challenge-policy.ts';
import { pauseMs, renewalAtMs, zoneOf } from './issue-policy.ts';
import { parseRetryAfter } from './order-failure.ts';

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;

describe('a renewal', () => {
  it('is due at two thirds of the lifetime or up to a twentieth of it later, also for six days', () => {
    for (const days of [6, 90]) {
      const notBeforeMs = 1_000;
      const notAfterMs = notBeforeMs + days * DAY_MS;
      const at = (fingerprint: string): number => renewalAtMs({ notBeforeMs, notAfterMs, fingerprint });
      assert.equal(at('00:00:11'), notBeforeMs + (days * DAY_MS * 2) / 3);
      assert.equal(at('FF:FF:11'), notBeforeMs + days * DAY_MS * (2 / 3 + 1 / 20));
      assert.ok(at('80:00:11') > at('7F:FF:11'));
    }
  });
});

describe('the pause after failures', () => {
  it('grows from a minute to a day, with at most five attempts in the first hour', () => {
    assert.equal(pauseMs(1, 0.5), 60_000);
    assert.ok(pauseMs(1, 0) < pauseMs(1, 1));
    for (const random of [0, 0.5, 1]) {
      let atMs = 0;
      let attempts = 0;
      while (atMs < HOUR_MS) {
        attempts += 1;
        atMs += pauseMs(attempts, random);
      }
      assert.ok(attempts <= 5, `${attempts} attempts`);
    }
    for (const failures of [10, 1_000]) assert.equal(pauseMs(failures, 0.5), DAY_MS);
  });

  it('is at least what the authority says, in seconds or as a date', () => {
    assert.equal(parseRetryAfter('120', 0), 120_000);
    assert.equal(parseRetryAfter('Thu, 01 Jan 1970 00:01:00 GMT', 20_000), 40_000);
    for (const value of ['', 'soon', '-1', undefined, 7]) assert.equal(parseRetryAfter(value, Date.now()), 0);
  });
});

describe('the zone of a name', () => {
  it('is what follows its first label', () => {
    assert.equal(zoneOf('app.share.example'), 'share.example');
    assert.equal(zoneOf('*.share.example'), 'share.example');
  });
});

describe('the path of a challenge', () => {
  const token = 'LoqXcYV8q5ONbJQxbmR7SCTNo3tiAXDfowyjxAjEuX0';

  it('is the prefix with one token in base64url, and nothing else', () => {
    assert.equal(challengeToken(`${CHALLENGE_PREFIX}${token}`), token);
    for (const rest of [
      '',
      'short',
      `${token}/`,
      `${token}/x`,
      `${token}?x`,
      `${token}=`,
      `${token}.x`,
      `../${token}`,
      `${token.slice(1)}%41`,
      `./${token}`,
      `${token}\u00e9`,
      'a'.repeat(129),
      `/${token}`,
      `${token}#x`,
    ])
      assert.equal(challengeToken(`${CHALLENGE_PREFIX}${rest}`), undefined, rest);
    for (const target of [
      `//.well-known/acme-challenge/${token}`,
      `/.WELL-KNOWN/acme-challenge/${token}`,
      '*',
    ])
      assert.equal(challengeToken(target), undefined, target);
  });

  it('never has characters that end a line or a path, whatever the target', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        const found = challengeToken(`${CHALLENGE_PREFIX}${text}`);
        assert.ok(found === undefined || /^[\w-]{20,128}$/.test(found));
      }),
    );
  });
});
