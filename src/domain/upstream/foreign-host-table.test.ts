import assert from 'node:assert/strict';
import { test } from 'node:test';
import { foreignHostCause } from './foreign-host-table.ts';

test('responses of known applications to a foreign host name the remedy, and no others do', () => {
  const known: readonly (readonly [number, string, RegExp])[] = [
    [
      403,
      'Blocked request. This host ("a.example") is not allowed.\nTo allow this host',
      /Vite.*--host-header localhost/,
    ],
    [403, 'Invalid Host header', /webpack-dev-server/],
    [403, '<!DOCTYPE HTML>\n<head>\n    <title>Jupyter Server</title>', /Jupyter/],
    [403, 'Host check error\n', /Syncthing/],
    [403, 'Blocked hosts: a.example\n', /Rails.*config\.hosts/],
    // Rails 6.1.7 as Debian has it.
    [
      403,
      '<!DOCTYPE html>\n<html lang="en">\n<head>\n  <meta charset="utf-8" />\n  <title>Action Controller: Exception caught</title>',
      /Rails/,
    ],
    [
      400,
      '<head><title>Bad Request</title></head><body><h1>Bad Request (400)</h1><p></p>',
      /Django.*ALLOWED_HOSTS/,
    ],
    [400, '<title>DisallowedHost\n          at /</title>', /Django/],
    [400, '400: Bad Request', /Home Assistant.*trusted_proxies/],
    [400, '<h2>Access through untrusted domain</h2>', /Nextcloud.*trusted_domains/],
  ];
  for (const [status, body, cause] of known) assert.match(foreignHostCause(status, body)!, cause);
  const others: readonly (readonly [number, string])[] = [
    [403, ''],
    [403, 'Forbidden'],
    [400, 'Invalid Host header'],
    [400, '{"error":"400: Bad Request"}'],
    [403, 'Error: Blocked request'],
    [400, '<title>Action Controller: Exception caught</title>'],
  ];
  for (const [status, body] of others) assert.equal(foreignHostCause(status, body), undefined, body);
});
