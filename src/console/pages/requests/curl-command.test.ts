import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import { curlCommand, shellQuoted } from './curl-command.ts';

const REQUEST = { method: 'GET', host: 'app.example', target: '/a?b=1', headers: [], body: undefined };

test('a request becomes a command, without what curl sets itself, and with places for what was left out', () => {
  const headers = [
    { name: 'Host', value: 'app.example' },
    { name: 'Accept', value: '*/*' },
    { name: 'Authorization', value: '********' },
    { name: 'X-Empty', value: '' },
    { name: 'Content-Length', value: '2' },
  ];
  const request = { ...REQUEST, method: 'POST', target: '/a?key=********', headers, body: { text: '{}' } };
  assert.equal(
    curlCommand(request, []),
    `curl -X 'POST' -H 'Accept: */*' -H 'Authorization: …' -H 'X-Empty;' --data-binary '{}' 'https://app.example/a?key=…'`,
  );
  assert.equal(
    curlCommand({ ...REQUEST, body: 'binary' }, []),
    `curl --data-binary '@…' 'https://app.example/a?b=1'`,
  );
});

test('a command has scheme and port of the share’s address at the same host', () => {
  const addresses = ['https://other.example', 'no address', 'http://app.example:8080'];
  assert.equal(curlCommand(REQUEST, addresses), `curl 'http://app.example:8080/a?b=1'`);
});

test('no value leaves its quotes in a real shell', () => {
  for (const text of [`'; touch /tmp/x; '`, '$(id)', '`id`', 'a\nb', `it's`, '\\', '"']) {
    assert.equal(execFileSync('sh', ['-c', `printf %s ${shellQuoted(text)}`], { encoding: 'utf8' }), text);
  }
});
