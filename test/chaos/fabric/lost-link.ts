/** A link is lost under circuits: with another way they take it, without one they wait, and end when it stays away. */
import { until } from '../../support/deadline.ts';
import type { FaultMesh } from '../../support/fault-mesh.ts';
import { LogWatch } from '../../support/log-watch.ts';
import { SteadyStreams } from '../../support/steady-streams.ts';
import { attempt, largest, seconds, type FaultOutcome, type FaultRowContext } from './fault-row.ts';

const REROUTED_WITHIN_MS = 2_000;

/** Leaves the mesh as it found it. */
export async function loseOneOfTwo(
  context: FaultRowContext,
  mesh: FaultMesh,
  how: 'cut' | 'reset',
  detectedWithinMs: number,
  sign: 'link lost' | 'silent links' = 'link lost',
): Promise<FaultOutcome> {
  const { circuits } = context;
  const problems: string[] = [];
  const streams = await SteadyStreams.open({ port: mesh.doors.get('in')!, count: circuits });
  const log = new LogWatch(mesh.mesh.control);
  const point = mesh.point('in', 'out');
  let rerouted = 0;
  let detail = '';
  try {
    streams.mark();
    const cutAtMs = Date.now();
    await point[how]();
    await attempt(problems, async () => {
      const { atMs } = await log.first(sign, detectedWithinMs);
      await streams.untilAllMove(10_000);
      // A circuit that was in the way of the fault has its longest silence around it.
      const lateMs = streams.all.map(({ gap }) => (gap.toMs < cutAtMs ? 0 : gap.toMs - atMs));
      rerouted = lateMs.filter((ms) => ms <= REROUTED_WITHIN_MS).length;
      detail = `${sign} after ${seconds(atMs - cutAtMs)}, all moved on ${seconds(largest(lateMs))} later`;
      const paths = await mesh.circuits();
      const stuck = [...paths.values()].filter((path) => path !== 'in-via-out');
      if (stuck.length > 0) problems.push(`${stuck.length} circuits not over the other way: ${stuck[0]}`);
    });
  } finally {
    await point.heal();
    log.close();
  }
  const { intact, problems: broken } = await streams.finish(30_000);
  problems.push(...broken.slice(0, 5));
  await attempt(problems, () => mesh.untilLinked());
  await attempt(problems, () => mesh.untilNoCircuits(30_000));
  const what = `circuits moved within 2 s of the report of a ${how === 'cut' ? 'silent' : 'reset'} link, no byte lost or doubled`;
  return {
    what,
    good: Math.min(rerouted, intact, problems.length === 0 ? circuits : 0),
    of: circuits,
    problems,
    detail,
  };
}

async function everyWay(mesh: FaultMesh, how: 'cut' | 'heal'): Promise<void> {
  for (const other of ['out', 'via']) await mesh.point('in', other)[how]();
}

/** Shorter than the link's patience: nothing is lost. */
export async function cutForAWhile(
  context: FaultRowContext,
  mesh: FaultMesh,
  forMs: number,
): Promise<FaultOutcome> {
  const { circuits } = context;
  const problems: string[] = [];
  const streams = await SteadyStreams.open({ port: mesh.doors.get('in')!, count: circuits });
  let detail = '';
  streams.mark();
  await everyWay(mesh, 'cut');
  await new Promise((resolve) => setTimeout(resolve, forMs));
  await everyWay(mesh, 'heal');
  const healedMs = Date.now();
  await attempt(problems, async () => {
    await streams.untilAllMove(30_000);
    detail = `all moved on ${seconds(largest(streams.all.map(({ gap }) => gap.toMs - healedMs)))} after it`;
  });
  const { intact, problems: broken } = await streams.finish(30_000);
  problems.push(...broken.slice(0, 5));
  await attempt(problems, () => mesh.untilNoCircuits(30_000));
  const what = `circuits resume intact after every way was cut for ${seconds(forMs)}`;
  return { what, good: problems.length === 0 ? intact : 0, of: circuits, problems, detail };
}

/**
 * Longer than the timeout: both sides get an error, and no circuit stays behind. `goneWithinMs` counts from the end
 * of the circuits.
 */
export async function cutForGood(
  context: FaultRowContext,
  mesh: FaultMesh,
  forMs: number,
  goneWithinMs: number,
): Promise<FaultOutcome> {
  const { circuits } = context;
  const problems: string[] = [];
  const streams = await SteadyStreams.open({ port: mesh.doors.get('in')!, count: circuits });
  const brokenBefore = mesh.service.brokenCount;
  const cutAtMs = Date.now();
  await everyWay(mesh, 'cut');
  const broken = await streams.untilBroken(forMs);
  const brokeMs = Date.now() - cutAtMs;
  const { service } = mesh;
  await attempt(problems, () =>
    until(
      'the service sees them break',
      () => service.openCount,
      (open) => open === 0,
      Math.max(0, forMs - brokeMs),
    ),
  );
  const atService = service.brokenCount - brokenBefore;
  if (atService !== circuits) problems.push(`${atService} of ${circuits} broke at the service`);
  let goneMs = 0;
  await attempt(problems, async () => (goneMs = await mesh.untilNoCircuits(goneWithinMs)));
  const restMs = cutAtMs + forMs - Date.now();
  if (restMs > 0) await new Promise((resolve) => setTimeout(resolve, restMs));
  await everyWay(mesh, 'heal');
  streams.close();
  await attempt(problems, () => mesh.untilLinked());
  const what = `circuits end with an error on both sides when every way is cut for ${seconds(forMs)}`;
  const detail = `the last broke after ${seconds(brokeMs)}, none left anywhere ${seconds(goneMs)} later`;
  return {
    what,
    good: problems.length === 0 ? Math.min(broken, atService) : 0,
    of: circuits,
    problems,
    detail,
  };
}
