import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, it } from 'node:test';
import { ephemeralSecrets } from '../../secrets/key-file.ts';
import { isLoginState, makeLoginState } from './login-state.ts';

describe('the state of a log-in', () => {
  it('is known as ours by itself, whichever control plane made it, and no other text is', () => {
    const secrets = ephemeralSecrets();
    const states = Array.from({ length: 100 }, () => makeLoginState(secrets));
    assert.equal(new Set(states).size, 100);
    for (const state of states) {
      assert.ok(isLoginState(secrets, state));
      assert.ok(!isLoginState(ephemeralSecrets(), state));
      const bytes = Buffer.from(state, 'base64url');
      for (let at = 0; at < bytes.length; at += 1) {
        const changed = Buffer.from(bytes);
        changed[at]! ^= 1;
        assert.ok(!isLoginState(secrets, changed.toString('base64url')));
      }
    }
    const [state = ''] = states;
    const guesses = [
      '',
      state.slice(1),
      `${state}A`,
      `${state.slice(0, -1)}=`,
      ` ${state.slice(1)}`,
      '\0'.repeat(64),
    ];
    for (let i = 0; i < 1_000; i += 1) guesses.push(randomBytes(48).toString('base64url'));
    for (const guess of guesses) assert.ok(!isLoginState(secrets, guess));
  });
});
