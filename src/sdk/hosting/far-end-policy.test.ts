import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeHosting, type HostTerminatorConfig } from './host-config.ts';
import { farEndOf, sourceAddressOf, type AppData } from './far-end-policy.ts';

function terminator(config: object): HostTerminatorConfig {
  return decodeHosting(new Map([['host.v1', config]]))[0]!;
}

const FORWARDING = {
  forwardProtocol: true,
  allowedProtocols: ['tcp'],
  forwardAddress: true,
  allowedAddresses: ['10.0.0.0/8', '127.0.0.9', 'db.example', '*.corp.example', 'fd00::/8'],
  forwardPort: true,
  allowedPortRanges: [
    { low: 80, high: 90 },
    { low: 443, high: 443 },
  ],
};
const ASKED = { dst_protocol: 'tcp', dst_ip: '10.1.2.3', dst_port: '80' };

function outcome(config: object, appData: AppData): string {
  const farEnd = farEndOf(terminator(config).target, appData);
  return 'refused' in farEnd ? farEnd.refused : `${farEnd.protocol} ${farEnd.host} ${farEnd.port}`;
}

test('a fixed far end ignores what the dialer asks for', () => {
  const fixed = { protocol: 'udp', address: 'db.example', port: 5432 };
  assert.equal(outcome(fixed, ASKED), 'udp db.example 5432');
  assert.equal(outcome(fixed, {}), 'udp db.example 5432');
});

test('a forwarded far end is inside what the config allows', () => {
  const cases: readonly (readonly [AppData, string])[] = [
    [ASKED, 'tcp 10.1.2.3 80'],
    [{ ...ASKED, dst_port: '90' }, 'tcp 10.1.2.3 90'],
    [{ ...ASKED, dst_hostname: 'DB.example.' }, 'tcp db.example 80'],
    [{ ...ASKED, dst_hostname: 'a.b.corp.example' }, 'tcp a.b.corp.example 80'],
    [{ ...ASKED, dst_hostname: 'corp.example' }, 'tcp corp.example 80'],
    [{ ...ASKED, dst_ip: '::ffff:10.9.9.9' }, 'tcp 10.9.9.9 80'],
    [{ ...ASKED, dst_ip: 'fd00::1' }, 'tcp fd00:0:0:0:0:0:0:1 80'],
    [{ ...ASKED, dst_protocol: 'udp' }, "protocol 'udp' is not in allowed protocols"],
    [{ ...ASKED, dst_ip: '11.0.0.1' }, "address '11.0.0.1' is not in allowed addresses"],
    [{ ...ASKED, dst_hostname: 'xcorp.example' }, "address 'xcorp.example' is not in allowed addresses"],
    [{ ...ASKED, dst_port: '91' }, 'port 91 is not in allowed port ranges'],
    [{ ...ASKED, dst_port: '65616' }, 'invalid destination port 65616'],
    [{ ...ASKED, dst_port: '80 ' }, 'invalid destination port 80 '],
    [{ dst_ip: '10.0.0.1', dst_port: '80' }, 'dst_protocol required but not provided'],
    [{ dst_protocol: 'tcp', dst_port: '80' }, 'dst_ip required but not provided'],
    [{ ...ASKED, dst_port: 80 }, 'dst_port required but not provided'],
  ];
  for (const [appData, expected] of cases) assert.equal(outcome(FORWARDING, appData), expected);
});

test('any name does not mean any address: neither as a text, nor spelled as a number', () => {
  const any = { ...FORWARDING, allowedAddresses: ['*'] };
  assert.equal(outcome(any, { ...ASKED, dst_hostname: 'a.example' }), 'tcp a.example 80');
  for (const name of ['169.254.169.254', '::1', 'a.example:22', 'a b', '', '-a', '*'])
    assert.match(outcome(any, { ...ASKED, dst_hostname: name }), /is not in allowed addresses$/);
  assert.match(outcome(any, ASKED), /is not in allowed addresses$/);
});

test('a name that only a wildcard allows may not resolve to the machine itself', () => {
  const reach = (config: object, name: string, address: string): boolean => {
    const farEnd = farEndOf(terminator(config).target, { ...ASKED, dst_hostname: name });
    return !('refused' in farEnd) && farEnd.mayReach(address);
  };
  const any = { ...FORWARDING, allowedAddresses: ['*'] };
  const own = [
    '127.0.0.1',
    '::1',
    '0.0.0.0',
    '::',
    '169.254.169.254',
    'fe80::1',
    '::ffff:127.0.0.1',
    'fe80::1%eth0',
  ];
  for (const address of own) {
    assert.equal(reach(any, 'evil.example', address), false, address);
    assert.equal(reach(FORWARDING, 'evil.corp.example', address), false, address);
    assert.equal(reach(FORWARDING, 'db.example', address), true, address);
  }
  assert.equal(reach(FORWARDING, 'evil.corp.example', '127.0.0.9'), true);
  assert.equal(reach(any, 'evil.example', '192.168.1.1'), true);
  const fixed = farEndOf(terminator({ protocol: 'tcp', address: 'localhost', port: 1 }).target, {});
  assert(!('refused' in fixed) && fixed.mayReach('127.0.0.1'));
});

test('forwarded addresses are translated by the longest prefix', () => {
  const config = {
    ...FORWARDING,
    allowedAddresses: ['0.0.0.0/0', 'fd00::/8'],
    forwardAddressTranslations: [
      { from: '192.168.10.0', to: '10.0.1.0', prefixLength: 24 },
      { from: '192.168.10.4', to: '1.2.3.4', prefixLength: 32 },
      { from: '172.16.0.0', to: '10.240.0.0', prefixLength: 12 },
      { from: 'fd00::', to: 'fd01:2::', prefixLength: 32 },
    ],
  };
  const to = (ip: string): string => outcome(config, { ...ASKED, dst_ip: ip }).split(' ')[1]!;
  assert.equal(to('192.168.10.3'), '10.0.1.3');
  assert.equal(to('192.168.10.4'), '1.2.3.4');
  assert.equal(to('172.17.5.6'), '10.241.5.6');
  assert.equal(to('8.8.8.8'), '8.8.8.8');
  assert.equal(to('fd00::9'), 'fd01:2:0:0:0:0:0:9');
});

test('a source address is used only if the config lists it', () => {
  const { allowedSources } = terminator({
    protocol: 'tcp',
    address: 'a',
    port: 1,
    allowedSourceAddresses: ['172.20.0.0/16', 'fd00::/8'],
  });
  const source = (text: unknown) => sourceAddressOf(allowedSources, { source_addr: text });
  assert.deepEqual(source('172.20.1.2'), { host: '172.20.1.2', port: 0 });
  assert.deepEqual(source('172.20.1.2:4000'), { host: '172.20.1.2', port: 4000 });
  assert.deepEqual(source('fd00::1'), { host: 'fd00::1', port: 0 });
  assert.deepEqual(source('[fd00::1]:4000'), { host: 'fd00::1', port: 4000 });
  assert.equal(source(''), undefined);
  assert.equal(sourceAddressOf(allowedSources, {}), undefined);
  assert.match(JSON.stringify(source('127.0.0.1')), /is not in allowed source addresses/);
  assert.match(JSON.stringify(source('172.20.1.2:70000')), /is not an address/);
  assert.match(JSON.stringify(source('localhost')), /is not an address/);
});
