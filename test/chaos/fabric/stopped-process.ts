/** A process stands still (SIGSTOP) for longer than anybody waits for it, and continues as if nothing had been. */
import { until } from '../../support/deadline.ts';
import type { FaultMesh } from '../../support/fault-mesh.ts';
import { LogWatch } from '../../support/log-watch.ts';
import { resume, socketCount, suspend } from '../../support/process-faults.ts';
import { SteadyStreams } from '../../support/steady-streams.ts';
import { attempt, largest, seconds, type FaultOutcome, type FaultRowContext } from './fault-row.ts';

/** The control plane's patience with routers, and its look at them once a second; beside, a busy machine. */
const CONTROL_DROPS_MS = 20_000 + 1_000 + 2_000;
const SLACK_MS = 2_000;
const CONVERGES_MS = 30_000;

export interface Patience {
  readonly linkCloseMs: number;
  readonly ctrlCloseMs: number;
}

/** Routers notice, circuits run on, and each router has one channel again. */
export async function stopControlPlane(
  context: FaultRowContext,
  mesh: FaultMesh,
  patience: Patience,
  atLeastMs: number,
): Promise<FaultOutcome> {
  const problems: string[] = [];
  const { control } = mesh.mesh;
  const streams = await SteadyStreams.open({ port: mesh.doors.get('in')!, count: context.circuits });
  const logs = [...mesh.routers.values()].map((router) => new LogWatch(router.process));
  const atControl = new LogWatch(control);
  const sinceMs = Date.now();
  suspend(control);
  let droppedMs = 0;
  await attempt(problems, async () => {
    for (const log of logs) {
      const { atMs } = await log.first('controller channel closed', patience.ctrlCloseMs + SLACK_MS);
      droppedMs = Math.max(droppedMs, atMs - sinceMs);
    }
  });
  await rest(sinceMs, atLeastMs);
  resume(control);
  let convergedMs = 0;
  await attempt(problems, async () => (convergedMs = await converge(mesh)));
  for (const log of [...logs, atControl]) log.close();
  await attempt(problems, () => streams.untilAllMove(10_000));
  const { intact, problems: broken } = await streams.finish(30_000);
  problems.push(...broken.slice(0, 5));
  await attempt(problems, () => mesh.untilNoCircuits(CONVERGES_MS));
  return {
    what: 'circuits run on while the control plane stands still, and every router comes back once',
    good: problems.length === 0 ? intact : 0,
    of: context.circuits,
    problems,
    detail: `dropped after ${seconds(droppedMs)}, all as before ${seconds(convergedMs)} after it continued`,
  };
}

/** Its neighbours and the control plane drop it, and take it in once when it continues. */
export async function stopRouter(
  mesh: FaultMesh,
  name: string,
  { linkCloseMs }: Patience,
  atLeastMs: number,
): Promise<FaultOutcome> {
  const problems: string[] = [];
  const part = mesh.router(name).process;
  await mesh.untilLinksWhole();
  await mesh.untilLinksAnswer();
  const neighbours = [...mesh.routers.values()].filter((router) => router.name !== name);
  const ports = [...mesh.linkPorts, mesh.mesh.controllerPort];
  const counts = (): string => neighbours.map(({ process: each }) => socketCount(each, ports)).join();
  const sockets = counts();
  const logs = neighbours.map((router) => new LogWatch(router.process));
  const atControl = new LogWatch(mesh.mesh.control);
  const sinceMs = Date.now();
  suspend(part);
  const droppedMs: number[] = [];
  await attempt(problems, async () => {
    for (const log of logs) {
      const { atMs } = await log.first('link closed', linkCloseMs + SLACK_MS);
      droppedMs.push(atMs - sinceMs);
    }
  });
  let forgottenMs = 0;
  await attempt(problems, async () => {
    const { atMs } = await atControl.first('router disconnected', CONTROL_DROPS_MS);
    forgottenMs = atMs - sinceMs;
  });
  await rest(sinceMs, atLeastMs);
  atControl.records.length = 0;
  resume(part);
  let convergedMs = 0;
  await attempt(problems, async () => (convergedMs = await converge(mesh)));
  const registered = atControl.count('router connected');
  if (registered !== 1) problems.push(`registered ${registered} times`);
  for (const log of [...logs, atControl]) log.close();
  await attempt(problems, async () => {
    await mesh.untilLinksWhole();
    await until(`as many sockets as before (${sockets})`, counts, (now) => now === sockets, CONVERGES_MS);
  });
  return {
    what: `router ${name} dropped within its timeouts, and back once within 30 s of continuing`,
    good: problems.length === 0 ? 1 : 0,
    of: 1,
    problems,
    detail: `links dropped after ${seconds(largest(droppedMs))}, by the control plane after ${seconds(forgottenMs)}, all as before ${seconds(convergedMs)} after it continued`,
  };
}

async function converge(mesh: FaultMesh): Promise<number> {
  const sinceMs = performance.now();
  await mesh.untilAllOnline(CONVERGES_MS);
  await mesh.untilLinked(Math.max(0, CONVERGES_MS - (performance.now() - sinceMs)));
  return performance.now() - sinceMs;
}

function rest(sinceMs: number, atLeastMs: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, Math.max(0, sinceMs + atLeastMs - Date.now())));
}
