import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseAllowedNetworks } from './allowed-network-policy.ts';
import { checkEgress } from './egress-policy.ts';

/** The address that a URL's host is, as a client that connects to it reads it; the text itself when it is a name. */
function hostOf(url: string): string {
  return new URL(url).hostname.replace(/^\[|\]$/g, '');
}

const REFUSED = [
  // Loopback, in every spelling that URLs know.
  'https://127.0.0.1/',
  'https://127.1/',
  'https://127.0.1/',
  'https://2130706433/',
  'https://0x7f000001/',
  'https://0x7f.1/',
  'https://0x7f.0x0.0x0.0x1/',
  'https://0177.0.0.1/',
  'https://017700000001/',
  'https://0177.1/',
  'https://127.0.0.1./',
  'https://127.255.255.254/',
  'https://１２７.0.0.1/',
  'https://①②⑦.⓪.⓪.①/',
  'https://127。0。0。1/',
  'https://%31%32%37.0.0.1/',
  'https://user@127.0.0.1/',
  'https://[::1]/',
  'https://[0:0:0:0:0:0:0:1]/',
  'https://[::127.0.0.1]/',
  'https://[::ffff:127.0.0.1]/',
  'https://[::ffff:7f00:1]/',
  'https://[0:0:0:0:0:ffff:7f00:0001]/',
  'https://[::FFFF:127.0.0.1]/',
  'https://[64:ff9b::127.0.0.1]/',
  'https://[64:ff9b::7f00:1]/',
  'https://[64:ff9b:1::7f00:1]/',
  'https://[2002:7f00:1::]/',
  // Nobody, this host.
  'https://0.0.0.0/',
  'https://0/',
  'https://[::]/',
  // Link-local and what clouds answer there.
  'https://169.254.169.254/latest/meta-data/',
  'https://2852039166/',
  'https://0xa9fea9fe/',
  'https://0251.0376.0251.0376/',
  'https://169.254.43518/',
  'https://[::ffff:169.254.169.254]/',
  'https://[::ffff:a9fe:a9fe]/',
  'https://[64:ff9b::a9fe:a9fe]/',
  'https://[2002:a9fe:a9fe::1]/',
  'https://[fe80::1]/',
  'https://[fe80::a9fe:a9fe]/',
  'https://[fd00:ec2::254]/',
  'https://168.63.129.16/',
  'https://100.100.100.200/',
  'https://192.0.0.192/',
  // Private networks.
  'https://10.0.0.1/',
  'https://10.255.255.255/',
  'https://167772161/',
  'https://172.16.0.1/',
  'https://172.31.255.255/',
  'https://192.168.0.1/',
  'https://0xc0a80001/',
  'https://[::ffff:10.0.0.1]/',
  'https://[64:ff9b::10.0.0.1]/',
  'https://[fc00::1]/',
  'https://[fd12:3456::1]/',
  'https://[fec0::1]/',
  // Not for hosts.
  'https://100.64.0.1/',
  'https://198.18.0.1/',
  'https://192.0.2.1/',
  'https://198.51.100.1/',
  'https://203.0.113.1/',
  'https://224.0.0.1/',
  'https://240.0.0.1/',
  'https://255.255.255.255/',
  'https://[ff02::1]/',
  'https://[2001:db8::1]/',
  'https://[2001::1]/',
  'https://[100::1]/',
  // Names are no addresses: they are resolved first.
  'https://localhost/',
  'https://metadata.google.internal/',
];

test('addresses inside are refused in every spelling', () => {
  assert.ok(REFUSED.length >= 60, String(REFUSED.length));
  for (const url of REFUSED) {
    const host = hostOf(url);
    assert.equal(checkEgress(host, 443, false, []).ok, false, `${url} is ${host}`);
  }
  for (const text of ['fe80::1%eth0', '::1%lo', '127.0.0.1%eth0', '', ' 8.8.8.8', '8.8.8.8:443', '[::1]']) {
    assert.equal(checkEgress(text, 443, false, []).ok, false, text);
  }
});

test('the public internet is open over HTTPS, and over nothing else', () => {
  for (const host of [
    '8.8.8.8',
    '1.1.1.1',
    '9.255.255.255',
    '11.0.0.0',
    '126.255.255.255',
    '128.0.0.1',
    '100.63.255.255',
    '100.128.0.0',
    '169.253.255.255',
    '172.15.255.255',
    '172.32.0.0',
    '192.167.255.255',
    '223.255.255.255',
    '2606:4700::1111',
    '2a00:1450:4001::1',
    '64:ff9b::8.8.8.8',
    '::ffff:8.8.8.8',
  ]) {
    assert.equal(checkEgress(host, 443, false, []).ok, true, host);
    assert.equal(checkEgress(host, 80, true, []).ok, false, host);
  }
});

test('hosts that the operator allows are open, also for plain HTTP, on their ports only', () => {
  const allowed = parseAllowedNetworks('--allow-egress', ['10.1.0.0/16:443,8080', '[::1]:9000-9001']);
  const isOpen = (host: string, port: number, isPlain = true): boolean =>
    checkEgress(host, port, isPlain, allowed).ok;
  assert.ok(isOpen('10.1.2.3', 443) && isOpen('10.1.2.3', 8080, false) && isOpen('::ffff:10.1.2.3', 443));
  assert.ok(isOpen('::1', 9001));
  assert.ok(!isOpen('10.1.2.3', 80) && !isOpen('10.2.0.1', 443) && !isOpen('127.0.0.1', 9000));
  assert.deepEqual(checkEgress('10.2.0.1', 443, false, allowed), {
    ok: false,
    why: '10.2.0.1 port 443 is not allowed',
  });
});
