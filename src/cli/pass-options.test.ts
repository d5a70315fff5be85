import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runCli } from './cli-fixture.ts';

test('a rule of --pass-tls that cannot be applied is refused with the reason', async () => {
  const rule = ['--pass-tls', 'edge.example.com=10.0.0.5:443'];
  const secure = ['--tls-dir', '/etc/frontdoor/tls'];
  const lines: readonly (readonly [string[], RegExp])[] = [
    [['--pass-tls', 'edge.example.com'], /must be NAME=HOST:PORT/],
    [rule, /needs the HTTPS port/],
    [[...rule, ...secure, '--workers', '2'], /cannot be used with '--workers/],
    [
      [...rule, ...secure, '--trusted-proxies', '10.0.0.1', '--proxy-protocol', 'https'],
      /cannot be https or both with '--pass-tls'/,
    ],
  ];
  for (const [options, reason] of lines) {
    const { code, err } = await runCli(['gateway', ...options]);
    assert.equal(code, 2, options.join(' '));
    assert.match(err, reason);
  }
});
