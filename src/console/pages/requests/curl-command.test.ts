import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import { curlCommand, shellQuoted } from './curl-command.ts';

test('a request becomes a command, without what curl sets itself', () => {
  const headers = [
    { name: 'Host', value: 'app.example' },
    { name: 'Accept', value: '*/*' },
    { name: 'Authorization', value: '' },
    { name: 'Content-Length', value: '2' },
  ];
  const request = { method: 'POST', host: 'app.example', target: '/a?b=1', headers, bodyText: '{}' };
  assert.equal(
    curlCommand(request),
    `curl -X 'POST' -H 'Accept: */*' -H 'Authorization: …' --data-binary '{}' 'https://app.example/a?b=1'`,
  );
});

test('no value leaves its quotes in a real shell', () => {
  for (const text of [`'; touch /tmp/x; '`, '$(id)', '`id`', 'a\nb', `it's`, '\\', '"']) {
    assert.equal(execFileSync('sh', ['-c', `printf %s ${shellQuoted(text)}`], { encoding: 'utf8' }), text);
  }
});
