/**
 * A tunnel in mode `host` with its controller in one process, for a network namespace of a test. It hosts the service at
 * port 7000 of 192.0.2.9. Each line of its standard input is a source address: the program dials the service from there, and prints
 * the line with the answer. It ends in order when its standard input ends.
 */
import { once } from 'node:events';
import process from 'node:process';
import { createInterface } from 'node:readline';
import type { TestContext } from 'node:test';
import { HostWorld } from '../../src/router/tunnel/testing/host-world.ts';
import { ROUTER_ID } from '../../src/router/tunnel/testing/tunnel-world.ts';
import { SourceAddresses } from '../../src/router/tunnel/host/source-addresses.ts';
import { machineIdOf, MachineRecord } from '../../src/router/tunnel/machine/machine-record.ts';
import { removeLeftovers } from '../../src/router/tunnel/tproxy/leftovers.ts';
import { hostChanges } from './hosted-services.ts';
import { lineOf, recordingLog } from './recording-log.ts';

const [namesFile = ''] = process.argv.slice(2);
const log = recordingLog((record) => {
  if (record.level !== 'debug') console.error(lineOf(record));
});
const record = await MachineRecord.load(`${namesFile}.machine`, log);
await removeLeftovers(record, log);
const sources = new SourceAddresses({ id: machineIdOf(ROUTER_ID, 'host'), record, log });
const closers: (() => void)[] = [];
const world = new HostWorld({ after: (close: () => void) => void closers.push(close) } as TestContext, {
  log,
  sources,
});
world.tunnel.change(
  hostChanges(ROUTER_ID, {
    far: {
      protocol: 'tcp',
      forwardAddress: true,
      allowedAddresses: ['192.0.2.9', 'fd00::9'],
      port: 7_000,
      allowedSourceAddresses: ['172.20.5.0/16', '198.51.100.7', 'fd00:5::7', '192.0.0.0/16', '127.0.0.1'],
    },
  }),
);
const [{ address } = { address: '' }] = await world.hosted('far');
await sources.settled();
console.log('ready');

async function answerFrom(source: string): Promise<string> {
  const host = source.includes(':') ? 'fd00::9' : '192.0.2.9';
  const { result, client } = await world.dial(address, { dst_ip: host, source_addr: source });
  if (client === undefined) return result.error;
  const [data] = (await once(client, 'data')) as [Buffer];
  client.destroy();
  return String(data);
}

for await (const line of createInterface(process.stdin)) console.log(line, await answerFrom(line));
world.part.close();
await sources.close();
for (const close of closers) close();
process.exit();
