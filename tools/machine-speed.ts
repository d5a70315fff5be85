/**
 * Compares the speed of this machine with the machine on which the limits of the tiers were measured. It is sampled during
 * a run, because the same work takes more CPU time on cores and caches that others use, too.
 */
import { createHash } from 'node:crypto';
import process from 'node:process';

const ROUNDS = 300;
const PIECES = 400;
/** The CPU seconds of the work below on that machine: an idle core of 2.5 GHz. */
const REFERENCE_SECONDS = 0.25;

/** A run of some minutes has a dozen samples, which take about one percent of its CPU time. */
const SAMPLE_INTERVAL_MS = 25_000;

/** Samples until the returned function is called, which returns the median, or the only sample of a short run. */
export function sampleSlowness(): () => number {
  const samples: number[] = [];
  const timer = setInterval(() => samples.push(slowness()), SAMPLE_INTERVAL_MS);
  return () => {
    clearInterval(timer);
    if (samples.length === 0) samples.push(slowness());
    return samples.toSorted((a, b) => a - b)[Math.floor(samples.length / 2)]!;
  };
}

/** Returns 1 for a machine as fast as that one, 2 for a machine that needs twice the CPU time. */
function slowness(): number {
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
