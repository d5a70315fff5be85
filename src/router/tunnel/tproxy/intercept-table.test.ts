import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { InterceptConfig } from '../services/tunnel-configs.ts';
import { InterceptTable, type InterceptedPeer } from './intercept-table.ts';

function tableOf(configs: Readonly<Record<string, Partial<InterceptConfig>>>): InterceptTable {
  const table = new InterceptTable();
  for (const [serviceId, config] of Object.entries(configs))
    table.set({
      serviceId,
      config: {
        protocols: ['tcp'],
        addresses: ['10.0.0.0/8'],
        portRanges: [{ low: 1, high: 65_535 }],
        dialOptions: {},
        ...config,
      },
    });
  return table;
}

function found(table: InterceptTable, more: Partial<InterceptedPeer> = {}): string | undefined {
  return table.find({
    protocol: 'tcp',
    sourceAddress: '192.0.2.1',
    destinationAddress: '10.1.2.3',
    destinationPort: 443,
    patterns: [],
    ...more,
  })?.serviceId;
}

test('the longest prefix wins, then the smallest range of ports, then the service that came first', () => {
  const table = tableOf({
    wide: {},
    web: { portRanges: [{ low: 443, high: 443 }] },
    again: { portRanges: [{ low: 443, high: 443 }] },
    host: { addresses: ['10.1.2.3'] },
  });
  assert.equal(found(table), 'host');
  assert.equal(found(table, { destinationAddress: '10.1.2.4' }), 'web');
  assert.equal(found(table, { destinationAddress: '10.1.2.4', destinationPort: 22 }), 'wide');
  assert.equal(found(table, { destinationAddress: '11.0.0.1' }), undefined);
});

test('a name wins over a network that contains its address, and a host name over a wildcard', () => {
  const table = tableOf({
    network: { addresses: ['100.64.0.0/10'] },
    wildcard: { addresses: ['*.example'] },
    name: { addresses: ['App.Example.'] },
  });
  const named = (...patterns: string[]) => found(table, { destinationAddress: '100.64.0.9', patterns });
  assert.equal(named('app.example', '*.example'), 'name');
  assert.equal(named('other.example', '*.example'), 'wildcard');
  assert.equal(named(), 'network');
});

test('the protocol and the client have to be those of the config', () => {
  const table = tableOf({
    one: { allowedSourceAddresses: ['192.0.2.0/24'] },
    six: { addresses: ['fd00::/8'] },
  });
  assert.equal(found(table), 'one');
  assert.equal(found(table, { protocol: 'udp' }), undefined);
  assert.equal(found(table, { sourceAddress: '198.51.100.1' }), undefined);
  const six = { sourceAddress: 'fd01::1', destinationAddress: 'fd00::5' };
  assert.equal(found(table, six), 'six');
  table.delete('six');
  assert.equal(found(table, six), undefined);
});
