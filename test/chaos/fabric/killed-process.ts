/**
 * SIGKILL in the middle of transfers: a process that is off the path affects no transfer, and no receiver takes a
 * part for the whole.
 */
import { once } from 'node:events';
import { connect } from 'node:net';
import { until } from '../../support/deadline.ts';
import type { FaultMesh } from '../../support/fault-mesh.ts';
import { SteadyStreams } from '../../support/steady-streams.ts';
import { attempt, seconds, type FaultOutcome, type FaultRowContext } from './fault-row.ts';

const RETRY_MS = 10_000;
const TRANSFER_MS = 240_000;
const PIECE_BYTES = 32 * 1_024;

/** Everything is sent while it is away; `pieces` of 32 KiB by each circuit. */
export async function killControlPlane(
  context: FaultRowContext,
  mesh: FaultMesh,
  pieces: number,
): Promise<FaultOutcome> {
  const { circuits } = context;
  const problems: string[] = [];
  const port = mesh.doors.get('in')!;
  const { control } = mesh.mesh;
  const streams = await SteadyStreams.open({ port, count: circuits, pieceBytes: PIECE_BYTES, everyMs: 50 });
  await control.kill();
  streams.mark();
  const before = streams.all.map(({ receivedBytes }) => receivedBytes);
  const isThrough = (): number =>
    streams.all.filter(({ receivedBytes }, at) => receivedBytes - before[at]! < pieces * PIECE_BYTES).length;
  await attempt(problems, () => until('the transfers', isThrough, (left) => left === 0, TRANSFER_MS));
  let backMs = 0;
  await attempt(problems, async () => {
    const startedMs = performance.now();
    await control.start();
    await mesh.untilAllOnline();
    await mesh.untilLinked();
    backMs = performance.now() - startedMs;
    await streams.untilAllMove(10_000);
  });
  const { intact, problems: broken } = await streams.finish(60_000);
  problems.push(...broken.slice(0, 5));
  await attempt(problems, () => until('a new transfer', () => serves(port), Boolean, RETRY_MS));
  await attempt(problems, () => mesh.untilNoCircuits(30_000));
  const eachMib = ((pieces * PIECE_BYTES) / (1 << 20)).toFixed(1);
  return {
    what: `transfers continue whole, ${eachMib} MiB each way while the control plane is killed`,
    good: problems.length === 0 ? intact : Math.min(intact, circuits - 1),
    of: circuits,
    problems,
    detail: `all as before ${seconds(backMs)} after its start`,
  };
}

/** Transfers over it break where one sees it, or continue elsewhere; the next try works. */
export async function killRouter(
  context: FaultRowContext,
  mesh: FaultMesh,
  name: 'in' | 'via' | 'out',
): Promise<FaultOutcome> {
  const { circuits } = context;
  const problems: string[] = [];
  const port = mesh.doors.get('in')!;
  const part = mesh.router(name).process;
  // Circuits go over `via` only when there is no nearer way.
  const detour = name === 'via' ? mesh.point('in', 'out') : undefined;
  await detour?.reset();
  const streams = await SteadyStreams.open({ port, count: circuits });
  await part.kill();
  await detour?.heal();
  let good = 0;
  const killedMs = performance.now();
  if (name === 'via') {
    // Another way came back: they continue there, or end; never with a hole.
    await attempt(problems, () =>
      until(
        'every stream moves on or breaks',
        () => unsure(streams),
        (left) => left === 0,
        30_000,
      ),
    );
  } else if (name === 'out') await streams.untilBroken(RETRY_MS);
  else
    await attempt(problems, () =>
      until(
        'every stream is over',
        () => unsure(streams),
        (left) => left === 0,
        RETRY_MS,
      ),
    );
  for (const stream of streams.all) {
    const isOver = stream.isClosed || stream.isEnded;
    // The system closes the connections of a killed process, by a plain end as it may be: bytes are missing then.
    const isSeen = name === 'in' ? isOver && stream.mismatch === undefined : stream.isVisiblyBroken;
    if (isSeen || (name === 'via' && !isOver && stream.mismatch === undefined)) good += 1;
  }
  streams.close();
  const { service } = mesh;
  if (name !== 'via')
    await attempt(problems, () =>
      until(
        'the service sees it',
        () => service.openCount,
        (open) => open === 0,
        RETRY_MS,
      ),
    );
  await part.start();
  const startedMs = performance.now();
  await attempt(problems, () => until('a new transfer', () => serves(port), Boolean, RETRY_MS));
  const retryMs = performance.now() - startedMs;
  await attempt(problems, async () => {
    await mesh.untilAllOnline();
    await mesh.untilLinked();
    await mesh.untilNoCircuits(150_000);
  });
  return {
    what: `transfers break visibly${name === 'via' ? ' or continue' : ' at both sides'} when router ${name} is killed, and the next try works`,
    good: problems.length === 0 ? good : Math.min(good, circuits - 1),
    of: circuits,
    problems,
    detail: `the next one worked ${seconds(retryMs)} after its start, ${seconds(performance.now() - killedMs)} in all`,
  };
}

/** Streams that neither got anything since the last look nor ended. */
function unsure(streams: SteadyStreams): number {
  const sinceMs = Date.now() - 500;
  return streams.all.filter(
    ({ isClosed, isEnded, lastReceivedMs }) => !isClosed && !isEnded && lastReceivedMs < sinceMs,
  ).length;
}

async function serves(port: number): Promise<boolean> {
  const socket = connect({ port, host: '127.0.0.1' });
  try {
    await once(socket, 'connect');
    socket.write('x');
    const got = await Promise.race([once(socket, 'data'), once(socket, 'close')]);
    return got[0] instanceof Buffer;
  } finally {
    socket.destroy();
  }
}
