import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pinOption, presentedCertificate } from './presented-certificate.ts';

const DIGITS = '5f'.repeat(32);

test('the reason of a failure offers the fingerprint that its agent wrote into it', () => {
  const reason = `TLS to https://pve:8006 failed: accept this certificate with ${pinOption(DIGITS)}, or give`;
  assert.equal(presentedCertificate(reason), DIGITS);
});

test('other reasons offer none', () => {
  for (const reason of ['', 'connection refused', '--target-pin 5f6a', pinOption(`${DIGITS}00`)])
    assert.equal(presentedCertificate(reason), undefined, reason);
});
