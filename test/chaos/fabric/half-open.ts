/**
 * A connection that stands at one end only: packets vanish, or a firewall resets. Both ends notice, exactly one takes
 * its place when the network is back, and no socket stays behind.
 */
import { until } from '../../support/deadline.ts';
import type { FaultMesh } from '../../support/fault-mesh.ts';
import type { FaultPoint } from '../../support/fault-point.ts';
import { LogWatch } from '../../support/log-watch.ts';
import { socketCount } from '../../support/process-faults.ts';
import { attempt, largest, seconds, type FaultOutcome } from './fault-row.ts';

/** Beyond the time that a link may be silent: one look at it, and what a busy machine needs. */
const SLACK_MS = 1_000;
const SETTLED_MS = 30_000;

export async function halfOpenLink(
  mesh: FaultMesh,
  faults: readonly ('cut' | 'reset')[],
  closeMs: number,
): Promise<FaultOutcome> {
  const problems: string[] = [];
  const detected: number[] = [];
  const ends = ['in', 'out'].map((name) => mesh.router(name).process);
  await mesh.untilLinksWhole();
  const point = mesh.point('in', 'out');
  const counts = (): string => ends.map((part) => socketCount(part, portsOf(point))).join();
  const before = counts();
  let good = 0;
  for (const how of faults) {
    const isGood = await attempt(problems, async () => {
      await mesh.untilLinksAnswer();
      const logs = ends.map((part) => new LogWatch(part));
      const sinceMs = Date.now();
      await point[how]();
      try {
        for (const log of logs) {
          const { atMs } = await log.first('link closed', closeMs + SLACK_MS + 5_000);
          detected.push(atMs - sinceMs);
          if (atMs - sinceMs > closeMs + SLACK_MS)
            throw new Error(`noticed after ${seconds(atMs - sinceMs)} only`);
        }
      } finally {
        await point.heal();
        for (const log of logs) log.close();
      }
      await mesh.untilLinked(SETTLED_MS);
    });
    if (isGood) good += 1;
  }
  await attempt(problems, async () => {
    await mesh.untilLinksWhole();
    await until(`as many sockets as before (${before})`, counts, (now) => now === before, SETTLED_MS);
  });
  const what = `broken links (${faults.join(', ')}) noticed by both ends within closeUnresponsiveTimeout + 1 s, one link after each, no socket left`;
  const detail = `noticed after ${seconds(largest(detected))} at most`;
  return {
    what,
    good: problems.length === 0 ? good : Math.min(good, faults.length - 1),
    of: faults.length,
    problems,
    detail,
  };
}

/** Both ends of an edge channel are silent for so long at most. */
const EDGE_CLOSE_MS = 8_000;
const EDGE_BEAT_MS = 3_000;
/** Looks once a second. */
const EDGE_SLACK_MS = 2_000;

/** An agent and its router: one channel again after each fault, no socket left. */
export async function halfOpenEdge(
  mesh: FaultMesh,
  at: string,
  faults: readonly ('cut' | 'reset')[],
): Promise<FaultOutcome> {
  const problems: string[] = [];
  const detected: number[] = [];
  const back: number[] = [];
  const router = mesh.router(at).process;
  const agent = await mesh.startAgent();
  await mesh.untilLinksWhole();
  await until(
    'the agent',
    () => mesh.edgeConnections(at),
    (count) => count === 1,
    SETTLED_MS,
  );
  await new Promise((resolve) => setTimeout(resolve, EDGE_BEAT_MS));
  const ends = [router, agent];
  const point = mesh.edgePoint;
  const counts = (): string => ends.map((part) => socketCount(part, portsOf(point))).join();
  const before = counts();
  let good = 0;
  for (const how of faults) {
    const isGood = await attempt(problems, async () => {
      const atRouter = new LogWatch(router);
      const atAgent = new LogWatch(agent);
      const sinceMs = Date.now();
      await point[how]();
      try {
        const { atMs } = await atRouter.first('edge channel closed', EDGE_CLOSE_MS + EDGE_SLACK_MS + 5_000);
        detected.push(atMs - sinceMs);
        if (atMs - sinceMs > EDGE_CLOSE_MS + EDGE_SLACK_MS)
          throw new Error(`noticed after ${seconds(atMs - sinceMs)} only`);
        // The agent's patience is the same; it began a moment earlier or later.
        await new Promise((resolve) => setTimeout(resolve, EDGE_SLACK_MS));
      } finally {
        await point.heal();
      }
      const healedMs = Date.now();
      const { atMs } = await atAgent.first('channel to router opened', SETTLED_MS);
      back.push(Math.max(0, atMs - healedMs));
      await until(
        'one channel',
        () => mesh.edgeConnections(at),
        (count) => count === 1,
        SETTLED_MS,
      );
      // The router applies the timeout only to peers that send heartbeats; the agent sends one every 2 s.
      await new Promise((resolve) => setTimeout(resolve, EDGE_BEAT_MS));
      atRouter.close();
      atAgent.close();
    });
    if (isGood) good += 1;
  }
  await attempt(problems, async () => {
    await until(`as many sockets as before (${before})`, counts, (now) => now === before, SETTLED_MS);
  });
  return {
    what: `broken channels of an agent (${faults.join(', ')}) noticed within 8 s and a look, one channel after each, no socket left`,
    good: problems.length === 0 ? good : Math.min(good, faults.length - 1),
    of: faults.length,
    problems,
    detail: `noticed after ${seconds(largest(detected))} at most, back ${seconds(largest(back))} after it`,
  };
}

/** All routers and the control plane. `point` is at the control plane's port. */
export async function halfOpenCtrl(
  mesh: FaultMesh,
  point: FaultPoint,
  faults: readonly ('cut' | 'reset')[],
  closeMs: number,
): Promise<FaultOutcome> {
  const problems: string[] = [];
  const detected: number[] = [];
  const back: number[] = [];
  const routers = [...mesh.routers.values()].map((router) => router.process);
  const { control } = mesh.mesh;
  await mesh.untilLinksWhole();
  const counts = (): string => [control, ...routers].map((part) => socketCount(part, portsOf(point))).join();
  const before = counts();
  let good = 0;
  for (const how of faults) {
    const isGood = await attempt(problems, async () => {
      const logs = routers.map((part) => new LogWatch(part));
      const sinceMs = Date.now();
      await point[how]();
      try {
        for (const log of logs) {
          const { atMs } = await log.first('controller channel closed', 2 * closeMs + SLACK_MS);
          detected.push(atMs - sinceMs);
        }
      } finally {
        await point.heal();
      }
      const healedMs = Date.now();
      for (const log of logs) {
        const { atMs } = await log.first('connected to controller', SETTLED_MS);
        back.push(Math.max(0, atMs - healedMs));
        log.close();
      }
      await mesh.untilAllOnline();
      await mesh.untilLinked();
      // Answered at least once: from then on silence counts after `closeMs`.
      await new Promise((resolve) => setTimeout(resolve, closeMs));
    });
    if (isGood) good += 1;
  }
  await attempt(problems, () =>
    until(`as many sockets as before (${before})`, counts, (now) => now === before, SETTLED_MS),
  );
  if (largest(detected) > closeMs + SLACK_MS) problems.push('noticed too late');
  return {
    what: `broken control channels (${faults.join(', ')}) noticed within closeUnresponsiveTimeout + 1 s, every router back once, no socket left`,
    good: problems.length === 0 ? good : Math.min(good, faults.length - 1),
    of: faults.length,
    problems,
    detail: `noticed after ${seconds(largest(detected))} at most, back ${seconds(largest(back))} after it`,
  };
}

function portsOf({ port, listenerPort }: FaultPoint): number[] {
  return [port, listenerPort];
}
