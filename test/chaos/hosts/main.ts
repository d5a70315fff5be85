/**
 * `frontdoor dev chaos hosts`: agents that are lost and come back at random, simulated and as processes in a network
 * namespace of their own (root on Linux with `nft`), and parts that stand still. The exit status is 1 when a share did not
 * answer that had to.
 */
import process from 'node:process';
import { parseArgs } from 'node:util';
import { enterNamespace, isInNamespace, packetFilterMissing } from '../../support/packet-filter.ts';
import { SeededRandom } from '../../support/seeded-random.ts';
import { simulateHosts } from '../../support/host-simulation.ts';
import { forgetInCycles } from './forgetful-nat.ts';
import { FROZEN_ROWS, runFrozenRows } from './frozen-parts.ts';
import { loseAgents, type LossesOptions } from './lost-agents.ts';

const FAULTS_OF_A_RUN = 200;

export async function runHostsChaos(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      row: { type: 'string', multiple: true, default: [] },
      seed: { type: 'string', default: String(Date.now() >>> 0) },
      runs: { type: 'string', default: '50' },
      losses: { type: 'string', default: '500' },
      cycles: { type: 'string', default: '10' },
      agents: { type: 'string', default: '8' },
    },
  });
  const say = (line: string): void => void process.stdout.write(`${line}\n`);
  const isWanted = (row: string): boolean => values.row.length === 0 || values.row.includes(row);
  const isLossy = isWanted('losses') || isWanted('nat');
  const missing = isLossy ? packetFilterMissing() : undefined;
  if (isLossy && missing === undefined && !isInNamespace()) return enterNamespace();
  const seed = Number(values.seed);
  say(`seed ${seed}`);
  let isGood = true;
  if (isWanted('simulated')) isGood = await simulate(seed, Number(values.runs), say);
  const frozen = [...FROZEN_ROWS.keys()].filter(isWanted);
  if (frozen.length > 0) isGood = (await runFrozenRows(frozen, say)) && isGood;
  if (missing !== undefined) {
    say(`losses and nat are left out: ${missing}`);
    return isGood ? 0 : 1;
  }
  const agents = Number(values.agents);
  if (isWanted('nat')) {
    say('nat: a translator of addresses forgets the connections of all agents every 30 s');
    isGood = (await forgetInCycles({ cycles: Number(values.cycles), agents, say })) && isGood;
  }
  if (isWanted('losses')) {
    const random = new SeededRandom(seed);
    isGood = (await lose({ losses: Number(values.losses), agents, random, say })) && isGood;
  }
  return isGood ? 0 : 1;
}

async function lose(options: LossesOptions): Promise<boolean> {
  const { say } = options;
  say('losses: agents as processes lose their connections, and come back');
  const { good, losses, requests } = await loseAgents(options);
  say(`  ${good} of ${losses} losses, after which the share answered each request from 2 s on`);
  for (const [kind, { count, failed }] of Object.entries(requests))
    say(`  ${failed} of ${count} requests failed from a loss on (${kind})`);
  return good === losses;
}

async function simulate(seed: number, runs: number, say: (line: string) => void): Promise<boolean> {
  say('simulated: agents, routers and the control plane in one process, with a manual clock');
  let faults = 0;
  let checked = 0;
  let wrong = 0;
  for (let run = 0; run < runs; run += 1) {
    const result = await simulateHosts(seed + run, FAULTS_OF_A_RUN);
    faults += result.faults;
    checked += result.checked;
    wrong += result.problems.length;
    for (const problem of result.problems.slice(0, 3)) say(`    ${problem}`);
  }
  say(`  ${faults} faults, ${checked} dials of shares whose agent was connected, ${wrong} wrong`);
  return wrong === 0;
}
