/**
 * `frontdoor dev chaos`: kills the control plane under 16 writers, as many rounds as asked, on both databases; `chaos
 * fabric` the fault table of the mesh, `chaos stops` planned restarts, `chaos hosts` lost agents,
 * `chaos keys` rotations of the authorities. Prints its seed and what was lost; the exit status is 1 when anything was.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { parseArgs } from 'node:util';
import { postgresSkip, sharedPostgres } from '../support/postgres.ts';
import { runFabricChaos } from './fabric/main.ts';
import { runHostsChaos } from './hosts/main.ts';
import { runKeysChaos } from './keys/main.ts';
import { killWriters } from './killed-writers.ts';
import { runStopsChaos } from './stops/main.ts';

const [what, ...rest] = process.argv.slice(2);
if (what === 'fabric') process.exit(await runFabricChaos(rest));
if (what === 'hosts') process.exit(await runHostsChaos(rest));
if (what === 'keys') process.exit(await runKeysChaos());
if (what === 'stops') process.exit(await runStopsChaos(rest));

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '20' },
    seed: { type: 'string', default: String(Date.now() >>> 0) },
  },
});
const rounds = Number(values.rounds);
const seed = Number(values.seed);
const say = (line: string): void => void process.stdout.write(`${line}\n`);
say(`seed ${seed}`);

let isGood = true;
for (const kind of ['embedded', 'PostgreSQL']) {
  if (kind === 'PostgreSQL' && postgresSkip !== false) {
    say(`${kind}: ${postgresSkip}`);
    continue;
  }
  const folder = mkdtempSync(join(tmpdir(), 'frontdoor-chaos-'));
  const database = kind === 'embedded' ? {} : { database: await (await sharedPostgres()).createDatabase() };
  const { acknowledged, problems, slowestStartMs } = await killWriters({
    folder,
    rounds,
    seed,
    say,
    ...database,
  });
  for (const problem of problems) say(`  ${problem}`);
  say(
    `${kind}: ${rounds} of ${rounds} rounds, ${acknowledged} writes acknowledged, ${problems.length} lost or wrong; ` +
      `slowest start ${Math.round(slowestStartMs)} ms`,
  );
  rmSync(folder, { recursive: true, force: true });
  isGood &&= problems.length === 0;
}
process.exit(isGood ? 0 : 1);
