import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { InterceptConfig } from '../services/tunnel-configs.ts';
import { rulesFor } from './intercept-rule.ts';
import {
  chainsIn,
  iptablesRemovalScript,
  iptablesScript,
  nftRemovalScript,
  nftScript,
  type RulePlan,
} from './rule-script.ts';

const ID = '0a1b2c3d';
const CONFIG: InterceptConfig = {
  protocols: ['tcp', 'udp'],
  addresses: ['10.9.0.0/16', 'fd09::/64'],
  portRanges: [
    { low: 80, high: 90 },
    { low: 443, high: 443 },
  ],
  dialOptions: {},
};

function planOf(config: InterceptConfig, more: Partial<RulePlan> = {}): RulePlan {
  return {
    id: ID,
    ports: new Map([
      [4, { tcp: 4001, udp: 4002 }],
      [6, { tcp: 6001, udp: 6002 }],
    ]),
    rules: rulesFor(config, config.addresses),
    lanInterfaces: [],
    reserved: { network: '100.64.0.1/10', own: '100.64.0.1' },
    ...more,
  };
}

test('nft leads each network, protocol and range of ports to the socket of its family, instead of earlier rules', () => {
  const script = nftScript(planOf(CONFIG));
  const lines = script.split('\n').map((line) => line.trim());
  assert.ok(
    lines.indexOf(`delete table ip frontdoor_${ID}`) < lines.indexOf(`table ip frontdoor_${ID} {`),
    'one transaction',
  );
  for (const line of [
    'ip daddr 10.9.0.0/16 tcp dport 80-90 tproxy to 127.0.0.1:4001 meta mark set meta mark and 0x00ffffff or 0xfd000000 accept',
    'ip daddr 10.9.0.0/16 udp dport 443 tproxy to 127.0.0.1:4002 meta mark set meta mark and 0x00ffffff or 0xfd000000 accept',
    'ip6 daddr fd09::/64 tcp dport 443 tproxy to [::1]:6001 meta mark set meta mark and 0x00ffffff or 0xfd000000 accept',
    'ip daddr 10.9.0.0/16 tcp dport 80-90 meta mark set meta mark and 0x00ffffff or 0xfd000000 accept',
  ])
    assert.ok(lines.includes(line), `${line} in ${script}`);
});

test('only the clients that a config allows are intercepted, by family', () => {
  const config = { ...CONFIG, allowedSourceAddresses: ['192.0.2.7', '198.51.100.77/24'] };
  const script = nftScript(planOf(config));
  assert.match(script, /ip saddr 192\.0\.2\.7\/32 ip daddr 10\.9\.0\.0\/16 tcp/);
  assert.match(script, /ip saddr 198\.51\.100\.0\/24 ip daddr 10\.9\.0\.0\/16 tcp/);
  assert.doesNotMatch(script, /fd09/, 'no client of IPv6 is allowed');
  assert.deepEqual(rulesFor({ ...CONFIG, allowedSourceAddresses: [] }, CONFIG.addresses), []);
});

test('a family without sockets has no rules, and a plan without rules removes the tables', () => {
  const oneFamily = nftScript(planOf(CONFIG, { ports: new Map([[4, { tcp: 1, udp: 2 }]]) }));
  assert.doesNotMatch(oneFamily, /fd09/);
  assert.equal(nftScript(planOf(CONFIG, { rules: [] })), nftRemovalScript(ID));
});

test('other ports of the addresses of names are refused, but those of the machine itself', () => {
  assert.match(
    nftScript(planOf(CONFIG)),
    /ip daddr 100\.64\.0\.1\/10 ip daddr != 100\.64\.0\.1 meta mark and 0xff000000 != 0xfd000000 meta l4proto tcp reject with tcp reset/,
  );
});

test('iptables gets a jump to each chain once, and one rule for each source', () => {
  const config = {
    ...CONFIG,
    protocols: ['tcp' as const],
    allowedSourceAddresses: ['10.0.0.0/8', '172.16.0.0/12'],
  };
  const first = iptablesScript(planOf(config, { lanInterfaces: ['eth1'] }), 4, new Set());
  for (const line of [
    `:FRONTDOOR-${ID}-PRE - [0:0]`,
    `-A FRONTDOOR-${ID}-PRE -s 172.16.0.0/12 -d 10.9.0.0/16 -p tcp --dport 80:90 -j TPROXY --on-ip 127.0.0.1 --on-port 4001 --tproxy-mark 0xfd000000/0xff000000`,
    `-A FRONTDOOR-${ID}-OUT -s 10.0.0.0/8 -d 10.9.0.0/16 -p tcp --dport 443:443 -j MARK --set-xmark 0xfd000000/0xff000000`,
    `-A FRONTDOOR-${ID}-IN -i eth1 -m mark --mark 0xfd000000/0xff000000 -j ACCEPT`,
    `-I PREROUTING 1 -j FRONTDOOR-${ID}-PRE`,
  ])
    assert.ok(first.split('\n').includes(line), `${line} in ${first}`);
  const present = chainsIn(first);
  assert.doesNotMatch(iptablesScript(planOf(config), 4, present), /-I /);
  const removal = iptablesRemovalScript(ID, present);
  for (const chain of ['PRE', 'OUT', 'IN']) assert.match(removal, new RegExp(`-X FRONTDOOR-${ID}-${chain}`));
  assert.equal(iptablesRemovalScript(ID, new Set(['FRONTDOOR-ffffffff-PRE'])), '', 'of another router');
});

test('jumps that another program flushed are set again, and do not prevent the removal of the chains', () => {
  const flushed = chainsIn(`*mangle\n:FRONTDOOR-${ID}-PRE - [0:0]\n:FRONTDOOR-${ID}-OUT - [0:0]\nCOMMIT\n`);
  assert.match(
    iptablesScript(planOf(CONFIG), 4, flushed),
    new RegExp(`-I PREROUTING 1 -j FRONTDOOR-${ID}-PRE`),
  );
  const removal = iptablesRemovalScript(ID, flushed);
  assert.match(removal, new RegExp(`-X FRONTDOOR-${ID}-PRE`));
  assert.doesNotMatch(removal, /-D /, 'the deletion of a rule that does not exist is an error');
});
