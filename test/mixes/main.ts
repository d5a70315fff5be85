/**
 * `npm run mixes`: the parts of two versions together, in each mix, and the upgrade of a database with the return from it. Says
 * "N of N mixes". The earlier version is the newest tag, or what `--old` names: a commit, a tag, or the folder of an unpacked release.
 */
import process from 'node:process';
import { parseArgs } from 'node:util';
import { postgresSkip } from '../support/postgres.ts';
import { everyMix, MixWorld, PARTS, type Sides } from './mix-world.ts';
import {
  currentPrograms,
  earlierPrograms,
  nextPrograms,
  NEXT_STEP,
  type ProgramSource,
} from './program-source.ts';
import { UpgradedDatabase, type DatabaseKind } from './upgraded-database.ts';

const print = (line: string): void => void process.stdout.write(`${line}\n`);

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    options: { old: { type: 'string' } },
    allowPositionals: true,
  });
  const wants = (what: string): boolean => positionals.length === 0 || positionals.includes(what);
  const failures = [
    ...(wants('parts') ? await mixParts(earlierPrograms(values.old)) : []),
    ...(wants('database') ? await upgradeDatabases() : []),
  ];
  for (const failure of failures) print(failure);
  return failures.length === 0 ? 0 : 1;
}

async function mixParts(old: ProgramSource): Promise<string[]> {
  print(`Old: ${old.name}. New: this version. Commands and libraries of both are used in each mix.\n`);
  print(`${PARTS.map((part) => part.padEnd(8)).join(' ')} works  ms`);
  const failures: string[] = [];
  const mixes = everyMix();
  const world = await MixWorld.start({ old, new: currentPrograms() });
  try {
    for (const sides of mixes) {
      const startedMs = performance.now();
      const problem = await problemOf(world, sides);
      const row = PARTS.map((part) => sides[part].padEnd(8)).join(' ');
      print(
        `${row} ${(problem === undefined ? 'yes' : 'NO').padEnd(5)} ${Math.round(performance.now() - startedMs)}`,
      );
      if (problem !== undefined) failures.push(`${row}: ${problem}\n${world.output}`);
    }
  } finally {
    await world.stop();
  }
  print(`\n${mixes.length - failures.length} of ${mixes.length} mixes work`);
  return failures;
}

async function problemOf(world: MixWorld, sides: Sides): Promise<string | undefined> {
  try {
    await world.become(sides);
    await world.check();
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

async function upgradeDatabases(): Promise<string[]> {
  const failures: string[] = [];
  for (const kind of ['embedded', 'PostgreSQL'] as const) {
    if (kind === 'PostgreSQL' && postgresSkip !== false) {
      print(`${kind}: ${postgresSkip}`);
      continue;
    }
    try {
      await upgradeAndReturn(kind, currentPrograms(), nextPrograms());
    } catch (error) {
      failures.push(`${kind}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  return failures;
}

async function upgradeAndReturn(kind: DatabaseKind, now: ProgramSource, next: ProgramSource): Promise<void> {
  print(`\n${kind}, from this version to one with a further step of the schema:`);
  const database = await UpgradedDatabase.create(kind, now);
  try {
    await database.start(now);
    await database.addShares();
    const before = await database.shares();
    await database.stop();
    const found = await database.checkOf(next);
    if (!found.includes(`${NEXT_STEP} (adds a column and a table)`)) throw new Error(`the check: ${found}`);
    print('  the check of the next version shows the step of the schema');
    const tookMs = await database.start(next);
    same('the upgrade', before, await database.shares());
    print(`  upgraded in ${tookMs} ms with ${before.length} shares`);
    await database.stop();
    const copy = database.copyBefore(NEXT_STEP);
    const refusal = await database.refusalOf(now);
    if (!refusal.includes(copy)) throw new Error(`the refusal does not name ${copy}: ${refusal}`);
    print('  refused by the version before, which names the copy and the commands');
    await database.returnTo(now, copy);
    await database.start(now);
    same('the return', before, await database.shares());
    print(`  returned to the version before, with ${before.length} shares`);
    await database.stop();
  } finally {
    await database.remove();
  }
}

function same(what: string, before: readonly string[], after: readonly string[]): void {
  if (before.length < 100 || before.join('\n') !== after.join('\n'))
    throw new Error(`${what} has changed the shares: ${before.length} before, ${after.length} after`);
}

process.exit(await main());
