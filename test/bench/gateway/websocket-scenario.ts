/** WebSocket messages through fronts in interleaved rounds, by a load that is a process of its own. */
import { fileURLToPath } from 'node:url';
import { startProcess } from '../bench-process.ts';
import type { Measured } from '../bench-result.ts';
import { figureOf, interleave } from '../figure.ts';
import { CpuMeter, cpuTimes } from '../scenario.ts';
import type { Door, Front } from './bench-front.ts';
import type { WebSocketLoad, WebSocketResult } from './websocket-load-process.ts';

const LOAD_PROCESS = fileURLToPath(new URL('./websocket-load-process.ts', import.meta.url));

/** Throws when a connection was refused or broke, or a message came back changed. */
async function runLoad(load: WebSocketLoad): Promise<WebSocketResult> {
  const running = startProcess(process.execPath, [LOAD_PROCESS, JSON.stringify(load)]);
  await new Promise((resolve) => running.child.once('close', resolve));
  const line = /^\{.*\}$/m.exec(running.tail())?.[0];
  if (line === undefined) throw new Error(`the WebSocket load gave no result: ${running.tail()}`);
  const result = JSON.parse(line) as WebSocketResult;
  if (result.failed > 0 || result.messages === 0) {
    throw new Error(`${load.host}: ${result.failed} of ${load.connections} failed: ${result.problem}`);
  }
  return result;
}

export interface MessageRounds {
  readonly connections: number;
  readonly rounds: number;
  readonly seconds: number;
  readonly warmUpSeconds: number;
}

export async function measureMessages(
  fronts: readonly { readonly front: Front; readonly door: Door }[],
  { connections, rounds, seconds, warmUpSeconds }: MessageRounds,
): Promise<Record<string, Measured>> {
  const byName = new Map(fronts.map((one) => [one.front.name, { ...one, meter: new CpuMeter() }]));
  const loadOf = (name: string, forSeconds: number): WebSocketLoad => {
    const { port, host, entrance } = byName.get(name)!.door;
    return { port, host, path: '/echo', entrance, connections, seconds: forSeconds };
  };
  for (const name of byName.keys()) await runLoad(loadOf(name, warmUpSeconds));
  const results = await interleave([...byName.keys()], rounds, async (name) => {
    const { front, meter } = byName.get(name)!;
    const before = cpuTimes(front);
    const result = await runLoad(loadOf(name, seconds));
    meter.add(before, cpuTimes(front), result.messages);
    return result;
  });
  return Object.fromEntries(
    [...results].map(([name, rows]) => [
      name,
      {
        rate: figureOf(rows.map(({ messagesPerSecond }) => messagesPerSecond)),
        p50Us: figureOf(rows.map(({ p50Us }) => p50Us)),
        p99Us: figureOf(rows.map(({ p99Us }) => p99Us)),
        cpuUs: byName.get(name)!.meter.perUnit(),
      },
    ]),
  );
}
