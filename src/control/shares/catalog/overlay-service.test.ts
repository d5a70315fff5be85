import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sampleShare } from '../../../../test/support/sample-share.ts';
import { overlayServiceOf } from './overlay-service.ts';

test('a share is a service under its token that its environment hosts, and nothing else of it is', () => {
  assert.deepEqual(overlayServiceOf(sampleShare('id', { token: 'web', updatedAtMs: 7 })), {
    id: 'id',
    name: 'web',
    hostId: 'env',
    openTo: 'gateways',
    grants: [],
    routerRole: 'fd',
    endpoint: { protocol: 'tcp', clientPort: 80, server: { address: '127.0.0.1', port: 3000 } },
    tags: { backendMode: 'proxy' },
    updatedAtMs: 7,
  });
});

test('a private share is open to its grants, at the port that its clients expect', () => {
  const shared = (backendMode: 'udpTunnel' | 'tcpTunnel' | 'web', target: string) => {
    const share = sampleShare('id', { shareMode: 'private', grants: ['guest'], backendMode, target });
    const { openTo, grants, endpoint, tags } = overlayServiceOf(share);
    assert.deepEqual([openTo, grants, tags], ['grants', ['guest'], { backendMode }]);
    return endpoint;
  };
  const server = { address: '10.0.0.1', port: 53 };
  assert.deepEqual(shared('udpTunnel', 'udp://10.0.0.1:53'), { protocol: 'udp', clientPort: 53, server });
  assert.deepEqual(shared('tcpTunnel', 'tcp://10.0.0.1:53'), { protocol: 'tcp', clientPort: 53, server });
  assert.deepEqual(shared('web', 'file:///srv/site'), { protocol: 'tcp', clientPort: 80, server: undefined });
  assert.equal(shared('web', 'no target'), undefined);
});
