/** Compares the speed of this machine with the machine on which the limits of the tiers were measured. */
import { createHash } from 'node:crypto';
import process from 'node:process';

const ROUNDS = 300;
const PIECES = 400;
/** The CPU seconds of the work below on that machine: an idle core of 2.5 GHz. */
const REFERENCE_SECONDS = 0.25;

/** Returns 1 for a machine as fast as that one, 2 for a machine that needs twice the CPU time. */
export function slowness(): number {
  const before = process.cpuUsage();
  let digest = '';
  for (let round = 0; round < ROUNDS; round += 1) {
    const pieces = Array.from({ length: PIECES }, (_, index) => ({
      index,
      name: `piece ${index} of ${digest}`,
    }));
    const text = JSON.stringify(pieces);
    const sorted = (JSON.parse(text) as typeof pieces).sort((a, b) => (a.name < b.name ? 1 : -1));
    digest = createHash('sha256').update(JSON.stringify(sorted)).digest('hex');
  }
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1e6 / REFERENCE_SECONDS;
}
