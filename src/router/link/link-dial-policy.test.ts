// Which peers a dialer dials, and over which connections.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  HEALTHY_BACKOFF_DEFAULTS,
  UNHEALTHY_BACKOFF_DEFAULTS,
} from '../config/testing/router-config-defaults.ts';
import { connectionsTowards, dials, linkKey, type DialerRule } from './link-dial-policy.ts';

test('groups of connections are for 1.6.6 and later and for builds from source; others get two or one', () => {
  for (const version of [
    'v1.6.6',
    'v1.6.12',
    'v1.7.2',
    '1.7.2',
    'v2.0.0-pre4',
    'v10.0.0',
    'v0.0.0',
    '0.0.0',
  ]) {
    assert.equal(connectionsTowards(version, true), 'group', version);
    assert.equal(connectionsTowards(version, false), 'group', version);
  }
  for (const version of [
    'v1.6.5',
    'v1.5.4',
    'v0.32.1',
    'v0.0.1',
    '',
    'latest',
    'v1.7',
    'v1.7.2.3',
    'x1.7.2',
  ]) {
    assert.equal(connectionsTowards(version, true), 'split', version);
    assert.equal(connectionsTowards(version, false), 'single', version);
  }
});

test('a dialer dials listeners of its groups; one without groups belongs to the default', () => {
  const dialer = (groups: readonly string[]): DialerRule => ({
    groups,
    binding: '',
    healthyBackoff: HEALTHY_BACKOFF_DEFAULTS,
    unhealthyBackoff: UNHEALTHY_BACKOFF_DEFAULTS,
  });
  const listener = { address: 'tls:h:1', protocol: 'tls', groups: [] as string[], localBinding: '' };
  assert.equal(dials(dialer(['default']), listener), true);
  assert.equal(dials(dialer(['blue']), listener), false);
  assert.equal(dials(dialer(['red', 'blue']), { ...listener, groups: ['green', 'blue'] }), true);
  assert.equal(dials(dialer(['default']), { ...listener, groups: ['blue'] }), false);
});

test('a link’s key names both bindings, the protocol and the router', () => {
  assert.equal(linkKey('', 'tls', 'r2', ''), 'default->tls:r2->default');
  assert.equal(linkKey('eth0', 'tls', 'r2', 'ens1'), 'eth0->tls:r2->ens1');
});
