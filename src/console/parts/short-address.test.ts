import assert from 'node:assert/strict';
import { it } from 'node:test';
import { shortAddress } from './short-address.ts';

it('an address in a table has no https://, default port or lone slash, and keeps everything else', () => {
  const shown: Readonly<Record<string, string>> = {
    'https://app.example.com': 'app.example.com',
    'https://app.example.com:443/': 'app.example.com',
    'https://app.example.com:8443/': 'app.example.com:8443',
    'https://app.example.com/wiki?a=b#c': 'app.example.com/wiki?a=b#c',
    'http://app.example.com:80/': 'http://app.example.com',
    'http://127.0.0.1:8080': 'http://127.0.0.1:8080',
    'https://[2001:db8::443]': '[2001:db8::443]',
    'tcp://127.0.0.1:443': 'tcp://127.0.0.1:443',
    '/srv/files': '/srv/files',
    '': '',
  };
  for (const [address, short] of Object.entries(shown)) assert.equal(shortAddress(address), short);
  assert.equal(shortAddress('http://127.0.0.1:80/', 'http'), '127.0.0.1');
  assert.equal(shortAddress('https://127.0.0.1:443/', 'http'), 'https://127.0.0.1');
});
