/** Rounds of random faults of three routers and the links between them; after each, all routers agree again. */
import { until } from '../../support/deadline.ts';
import type { FaultMesh } from '../../support/fault-mesh.ts';
import type { SeededRandom } from '../../support/seeded-random.ts';
import { resume, suspend } from '../../support/process-faults.ts';
import { SteadyStreams } from '../../support/steady-streams.ts';
import { attempt, largest, seconds, type FaultOutcome, type FaultRowContext } from './fault-row.ts';

const AGREE_MS = 60_000;
const LONGEST_FAULT_MS = 10_000;
const FAULTS = ['kill', 'stop', 'restart', 'cut', 'none'] as const;
const LINKS = [
  ['in', 'out'],
  ['in', 'via'],
  ['via', 'out'],
] as const;

export async function randomFaults(
  context: FaultRowContext,
  mesh: FaultMesh,
  random: SeededRandom,
  rounds: number,
): Promise<FaultOutcome> {
  const problems: string[] = [];
  const agreedMs: number[] = [];
  let good = 0;
  for (let round = 1; round <= rounds; round += 1) {
    const roundProblems: string[] = [];
    const streams = await SteadyStreams.open({ port: mesh.doors.get('in')!, count: context.circuits });
    const undo: (() => Promise<unknown> | void)[] = [];
    const injected: string[] = [];
    for (const { name, process: part } of mesh.routers.values()) {
      const fault = random.pick(FAULTS);
      injected.push(`${name}: ${fault}`);
      if (fault === 'kill') {
        await part.kill();
        undo.push(() => part.start());
      } else if (fault === 'stop') {
        suspend(part);
        undo.push(() => resume(part));
      } else if (fault === 'restart') {
        const ended = part.stop('SIGINT');
        undo.push(async () => {
          await ended;
          await part.start();
        });
      } else if (fault === 'cut') {
        const [dialer, listener] = random.pick(LINKS);
        const point = mesh.point(dialer, listener);
        await point.cut();
        undo.push(() => point.heal());
      }
    }
    await new Promise((resolve) => setTimeout(resolve, random.int(LONGEST_FAULT_MS)));
    for (const each of undo) await attempt(roundProblems, async () => each());
    const healedMs = performance.now();
    const leftMs = (): number => Math.max(0, AGREE_MS - (performance.now() - healedMs));
    const isGood = await attempt(roundProblems, async () => {
      await mesh.untilAllOnline(leftMs());
      await mesh.untilLinked(leftMs());
      await untilCircuitsAgree(mesh, leftMs());
      agreedMs.push(performance.now() - healedMs);
    });
    const wrong = streams.all.filter(({ mismatch }) => mismatch !== undefined);
    if (wrong.length > 0) roundProblems.push(`${wrong.length} streams with ${wrong[0]!.mismatch}`);
    streams.close();
    await attempt(roundProblems, () => mesh.untilNoCircuits(AGREE_MS));
    context.say(
      `  round ${round}, ${injected.join(', ')}: ${roundProblems.length === 0 ? 'all agree' : roundProblems[0]}`,
    );
    if (isGood && roundProblems.length === 0) good += 1;
    problems.push(...roundProblems.map((problem) => `round ${round} (${injected.join(', ')}): ${problem}`));
  }
  return {
    what: 'rounds of random faults after which all views agree within 60 s, no orphan left',
    good,
    of: rounds,
    problems,
    detail: `agreed after ${seconds(largest(agreedMs))} at most`,
  };
}

/** The circuits of the control plane are those of the routers on their paths, and no router holds another. */
async function untilCircuitsAgree(mesh: FaultMesh, timeoutMs: number): Promise<void> {
  await until(
    'the same circuits everywhere',
    async () => {
      const paths = await mesh.circuits();
      const expected: string[] = [];
      for (const [id, path] of paths) for (const name of path.split('-')) expected.push(`${name} ${id}`);
      const held: string[] = [];
      for (const [name, { circuits }] of await mesh.held())
        for (const id of circuits) held.push(`${name} ${id}`);
      const known = new Set(expected);
      const has = new Set(held);
      return {
        orphans: held.filter((each) => !known.has(each)).slice(0, 5),
        missing: expected.filter((each) => !has.has(each)).slice(0, 5),
      };
    },
    ({ orphans, missing }) => orphans.length === 0 && missing.length === 0,
    timeoutMs,
  );
}
