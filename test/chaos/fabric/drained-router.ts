/** SIGTERM under load: what runs may end, what is new goes elsewhere where there is another way, nothing is torn off. */
import { connect } from 'node:net';
import { until, within } from '../../support/deadline.ts';
import type { FaultMesh } from '../../support/fault-mesh.ts';
import { LogWatch } from '../../support/log-watch.ts';
import { closeOf } from '../../support/socket-end.ts';
import { SteadyStreams } from '../../support/steady-streams.ts';
import { attempt, seconds, type FaultOutcome, type FaultRowContext } from './fault-row.ts';

const DRAIN_MS = 30_000;

/** The router is started again. `runsOnMs`: how long the circuits still work after the signal. */
export async function drain(
  context: FaultRowContext,
  mesh: FaultMesh,
  name: string,
  runsOnMs: number,
): Promise<FaultOutcome> {
  const { circuits } = context;
  const problems: string[] = [];
  const port = mesh.doors.get('in')!;
  const part = mesh.router(name).process;
  const detour = name === 'via' ? mesh.point('in', 'out') : undefined;
  await detour?.reset();
  const streams = await SteadyStreams.open({ port, count: circuits });
  await detour?.heal();
  const log = new LogWatch(part);
  const sinceMs = Date.now();
  const exit = part.stop('SIGTERM', DRAIN_MS + 10_000);
  await attempt(problems, () => log.first('waiting for circuits to end', 5_000));
  await attempt(problems, () =>
    until(
      'another way',
      () => mesh.links(),
      (links) => name !== 'via' || links.has('in-out'),
      10_000,
    ),
  );
  const fresh = await tryOnce(port);
  // A stopping router closes its own port, so that clients use others; it has no other way to notify them.
  if (fresh !== (name === 'in' ? 'refused' : 'served')) problems.push(`a new connection: ${fresh}`);
  await new Promise((resolve) => setTimeout(resolve, runsOnMs));
  await attempt(problems, () => streams.untilAllMove(5_000));
  const { intact, problems: broken } = await streams.finish(DRAIN_MS);
  problems.push(...broken.slice(0, 5));
  const status = await exit;
  const tookMs = Date.now() - sinceMs;
  log.close();
  if (status !== 0) problems.push(`ended with ${String(status)}`);
  await attempt(problems, async () => {
    await part.start();
    await mesh.untilAllOnline();
    await mesh.untilLinked();
    await mesh.untilNoCircuits(30_000);
  });
  return {
    what: `circuits end whole while router ${name} drains`,
    good: problems.length === 0 ? intact : Math.min(intact, circuits - 1),
    of: circuits,
    problems,
    detail: `a new connection is ${fresh}; the router ended after ${seconds(tookMs)}`,
  };
}

/** What becomes of a connection that is made now. */
async function tryOnce(port: number): Promise<'served' | 'refused' | 'nothing'> {
  const socket = connect({ port, host: '127.0.0.1' });
  const end = Promise.withResolvers<'served' | 'refused'>();
  socket.on('data', () => end.resolve('served'));
  for (const event of ['error', 'close', 'end'] as const) socket.on(event, () => end.resolve('refused'));
  socket.write('x');
  try {
    return await within('an answer', end.promise, 10_000);
  } catch {
    return 'nothing';
  } finally {
    socket.destroy();
    await closeOf(socket);
  }
}
