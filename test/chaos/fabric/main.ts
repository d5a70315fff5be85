/**
 * `frontdoor dev chaos fabric`: the fault table of the mesh, with real processes. As root on Linux with `nft` it runs
 * in a network namespace of its own, where packets really vanish; elsewhere over relays of bytes.
 */
import process from 'node:process';
import { parseArgs } from 'node:util';
import {
  enterNamespace,
  isInNamespace,
  packetFilterMissing,
  packetFilterNetwork,
} from '../../support/packet-filter.ts';
import { relayNetwork } from '../../support/fault-relay.ts';
import { SeededRandom } from '../../support/seeded-random.ts';
import { FAULT_ROWS, runRow } from './fault-table.ts';

export async function runFabricChaos(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      rounds: { type: 'string', default: '5' },
      seed: { type: 'string', default: String(Date.now() >>> 0) },
      row: { type: 'string', multiple: true, default: [] },
      quick: { type: 'boolean', default: false },
      relay: { type: 'boolean', default: false },
    },
  });
  const say = (line: string): void => void process.stdout.write(`${line}\n`);
  const missing = values.relay ? 'it was not asked for' : packetFilterMissing();
  if (missing === undefined && !isInNamespace()) return enterNamespace();
  const network = isInNamespace() ? packetFilterNetwork : relayNetwork;
  const seed = Number(values.seed);
  say(`seed ${seed}; faults by ${network.kind}${isInNamespace() ? '' : ` (no packet filter: ${missing})`}`);
  const rows = FAULT_ROWS.filter(({ row }) => values.row.length === 0 || values.row.includes(row));
  let isGood = true;
  for (const row of rows) {
    const context = {
      network,
      circuits: 100,
      say,
      random: new SeededRandom(seed),
      rounds: Number(values.rounds),
      isQuick: values.quick,
    };
    isGood = (await runRow(row, context)) && isGood;
  }
  return isGood ? 0 : 1;
}
