/** A load at a steady rate, in a process of its own. */
import { startScript } from '../script-process.ts';
import type { SteadyLoad, SteadyResult } from './steady-load-process.ts';

export interface RunningLoad {
  /** Ends the load. Rejects if a request failed. */
  end(): Promise<SteadyResult>;
}

export async function startSteadyLoad(load: SteadyLoad): Promise<RunningLoad> {
  const running = await startScript('api/steady-load-process.ts', load);
  return {
    end: async () => {
      const result = JSON.parse(await running.ask()) as SteadyResult;
      if (result.failed > 0) throw new Error(`${result.failed} requests to ${load.url} failed`);
      return result;
    },
  };
}
