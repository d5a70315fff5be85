// The domain of the addresses of private shares.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Command } from 'commander';
import { interceptDomain } from './intercept-option.ts';

function parsed(...args: string[]): unknown {
  const command = new Command().exitOverride().configureOutput({ writeErr: () => {} });
  command.addOption(interceptDomain()).parse(args, { from: 'user' });
  return command.opts()['interceptDomain'];
}

test('the domain is ziti by default, another one, or none', () => {
  assert.equal(parsed(), 'ziti');
  assert.equal(parsed('--intercept-domain', 'Private.Example.com'), 'private.example.com');
  assert.equal(parsed('--intercept-domain', 'none'), '');
  for (const wrong of ['', '*.ziti', 'a b', '10.0.0.1', '-x']) {
    assert.throws(() => parsed('--intercept-domain', wrong), /a domain such as ziti/);
  }
});
