/** `frontdoor agent start`, from its options to its exit status. Loads nothing of the server parts. */
import { mkdirSync } from 'node:fs';
import { AGENT_DRAIN_MS, openSdkNetwork, startAgent } from '#agent';
import type { AgentStartOptions } from '#cli';
import { OverlayClient } from '#sdk';
import { runUntilStopped } from './lifetime.ts';
import { readOptionFile } from './option-file.ts';
import { openLog } from './pino-log.ts';
import { collectAfterStart } from './start-collection.ts';

export async function runAgent(options: AgentStartOptions, version: string): Promise<number> {
  const { log } = openLog(options.logLevel);
  const { dataDir, api: apiUrl, enrollmentToken, name, ca, targetCa } = options;
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const starting = startAgent({
    dataDir,
    socketPath: options.socket,
    allowTargets: options.allowTarget,
    configFile: options.config,
    maxCircuitsPerShare: options.maxCircuits,
    targetCa: targetCa === undefined ? undefined : readOptionFile(targetCa, '--target-ca'),
    version,
    log,
    openNetwork: () =>
      openSdkNetwork({
        dataDir,
        apiUrl,
        enrollmentToken,
        name,
        ca: ca === undefined ? undefined : readOptionFile(ca, '--ca'),
        version,
        log,
        openHost: (api) => new OverlayClient({ api, log, name: name ?? 'agent' }),
      }),
  });
  // Before the control socket answers: who waits for that may end the agent at once.
  const stopped = runUntilStopped(
    async (drainMs) => {
      const agent = await starting;
      await agent.close({ drainMs: Math.min(drainMs, AGENT_DRAIN_MS) });
    },
    log,
    async () => (await starting).reload(),
  );
  const agent = await starting;
  collectAfterStart();
  const ended = agent.closed.then(({ reason }) => (reason === 'lost' ? 1 : 0));
  return Promise.race([stopped, ended]);
}
