/** Links over networks that lose, delay and have little room: slow, and every byte in its place. */
import type { BadNetwork } from '../../support/fault-point.ts';
import type { FaultMesh } from '../../support/fault-mesh.ts';
import { SteadyStreams } from '../../support/steady-streams.ts';
import { attempt, seconds, type FaultOutcome } from './fault-row.ts';

const MESSAGE_BYTES = 200;
const STREAMS = 10;

export async function sendOverBadLinks(
  mesh: FaultMesh,
  how: BadNetwork,
  messages: number,
): Promise<FaultOutcome> {
  const problems: string[] = [];
  const points = [mesh.point('in', 'out'), mesh.point('in', 'via'), mesh.point('via', 'out')];
  const streams = await SteadyStreams.open({
    port: mesh.doors.get('in')!,
    count: STREAMS,
    pieceBytes: MESSAGE_BYTES,
    everyMs: 3_600_000,
  });
  for (const point of points) await point.worsen(how);
  const startedMs = performance.now();
  const each = messages / STREAMS;
  await attempt(problems, async () => {
    for (let sent = 1; sent < each; sent += 1) {
      for (const stream of streams.all) stream.send(MESSAGE_BYTES);
      await new Promise((resolve) => setTimeout(resolve, 40));
    }
  });
  const { problems: broken } = await streams.finish(240_000);
  problems.push(...broken.slice(0, 5));
  const came = streams.all.reduce(
    (sum, { receivedBytes, mismatch }) =>
      sum + (mismatch === undefined ? Math.min(each, Math.floor(receivedBytes / MESSAGE_BYTES)) : 0),
    0,
  );
  const tookMs = performance.now() - startedMs;
  for (const point of points) await point.heal();
  await attempt(problems, () => mesh.untilLinked());
  return {
    what: `messages there and back intact over links with ${describe(how)}`,
    good: problems.length === 0 ? came : Math.min(came, messages - 1),
    of: messages,
    problems,
    detail: `in ${seconds(tookMs)}`,
  };
}

function describe({ loss, delayMs, jitterMs, bytesPerSecond }: BadNetwork): string {
  const parts = [
    ...(loss > 0 ? [`${loss * 100} % loss`] : []),
    ...(delayMs > 0 ? [`${delayMs} ± ${jitterMs} ms`] : []),
    ...(Number.isFinite(bytesPerSecond) ? [`${(bytesPerSecond * 8) / 1e6} Mbit/s`] : []),
  ];
  return parts.join(', ');
}
