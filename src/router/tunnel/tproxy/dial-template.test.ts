import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fillTemplate } from './dial-template.ts';

test('a template gets the addresses of the connection and values of the identity', () => {
  const identity = { name: 'edge-1', appData: { site: 'north' } };
  const addresses = {
    sourceAddress: '192.0.2.1',
    sourcePort: 4000,
    destinationAddress: '100.64.0.2',
    destinationPort: 443,
    destinationName: 'app.example',
  };
  const template =
    '$tunneler_id.name/$tunneler_id.appData[site]/$src_ip:$src_port/$dst_hostname/$dst_ip:$dst_port/$other';
  assert.equal(
    fillTemplate(template, identity, addresses),
    'edge-1/north/192.0.2.1:4000/app.example/100.64.0.2:443/$other',
  );
  assert.equal(fillTemplate('$dst_hostname', identity, { ...addresses, destinationName: undefined }), '');
  assert.throws(() => fillTemplate('$tunneler_id.appData[site', identity, addresses), {
    code: 'invalid-template',
  });
});
