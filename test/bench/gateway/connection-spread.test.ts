import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo } from 'node:net';
import { test } from 'node:test';
import { connectionsByProcess, establishedInodes, smallestShare } from './connection-spread.ts';
import { gatewayCpuUs } from './worker-scenario.ts';

test('only established sockets of the port itself are counted', () => {
  const table = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 11 1 0
   1: 0100007F:1F90 0100007F:C350 01 00000000:00000000 00:00000000 00000000     0        0 12 1 0
   2: 0100007F:C350 0100007F:1F90 01 00000000:00000000 00:00000000 00000000     0        0 13 1 0
   3: 0100007F:1F90 0100007F:C351 06 00000000:00000000 00:00000000 00000000     0        0 0 1 0
`;
  assert.deepEqual([...establishedInodes(table, 8080)], ['12']);
});

test(
  'a process holds the connections that it accepted',
  { skip: process.platform !== 'linux' },
  async (t) => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    t.after(() => server.close());
    for (let i = 0; i < 3; i += 1) {
      const accepted = once(server, 'connection');
      const client = connect(port, '127.0.0.1');
      t.after(() => client.destroy());
      await Promise.all([accepted, once(client, 'connect')]);
    }
    assert.deepEqual(connectionsByProcess(port, [process.pid, process.ppid]), [3, 0]);
  },
);

test('the smallest share is a half at best and nothing when one has all', () => {
  assert.equal(smallestShare([500, 500]), 0.5);
  assert.equal(smallestShare([400, 600]), 0.4);
  assert.equal(smallestShare([0, 10]), 0);
  assert.equal(smallestShare([0, 0]), 0);
});

test('the CPU time of a gateway is that of all its processes and of nothing else', () => {
  const cpuUs = {
    'gateway supervisor': 1,
    'gateway worker 1': 20,
    'gateway worker 2': 22,
    router: 9,
    nginx: 8,
  };
  assert.equal(gatewayCpuUs({ cpuUs }), 43);
  assert.equal(gatewayCpuUs({ cpuUs: { gateway: 40, agent: 20 } }), 40);
});
