/** `frontdoor agent start`, from its options to its exit status. Loads nothing of the server parts. */
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { createInterface } from 'node:readline';
import { AGENT_DRAIN_MS, AGENT_IDENTITY_FILE, openSdkNetwork, startAgent } from '#agent';
import { FrontdoorError } from '#base';
import type { AgentStartOptions } from '#cli';
import { outwardDialerOf } from '#net';
import { OverlayClient } from '#sdk';
import { containUncaught, runUntilStopped } from './lifetime.ts';
import { prepareMetrics, writeConnectionMetrics } from './metrics-option.ts';
import { readOptionFile, readSecretFile } from './option-file.ts';
import { openLog } from './program-log.ts';
import { serviceManager } from './service-manager.ts';
import { collectAfterStart } from './start-collection.ts';
import { checkControlPlane } from './surroundings.ts';
import { targetClientsOf } from './target-client.ts';

const STANDARD_INPUT = '-';

/** The file is not read once the agent is enrolled: secrets of containers may be gone by then. */
async function codeOf(dataDir: string, file: string): Promise<string | undefined> {
  const isEnrolled = existsSync(join(dataDir, AGENT_IDENTITY_FILE));
  if (file === STANDARD_INPUT) return isEnrolled ? undefined : readCodeLine();
  if (!existsSync(file) && isEnrolled) return undefined;
  return readSecretFile(file, '--enrollment-token-file').trim();
}

async function readCodeLine(): Promise<string> {
  if (process.stdin.isTTY) process.stderr.write('frontdoor: enrollment code: ');
  const lines = createInterface({ input: process.stdin });
  try {
    for await (const line of lines) if (line.trim() !== '') return line.trim();
  } finally {
    lines.close();
    process.stdin.destroy();
  }
  throw new FrontdoorError('invalid', 'enrollment-token-missing', 'standard input has no enrollment code');
}

export async function runAgent(options: AgentStartOptions, version: string): Promise<number> {
  const { log } = openLog(options);
  containUncaught(log);
  const outward = outwardDialerOf(process.env, options.proxy);
  const { dataDir, api: apiUrl, enrollmentTokenFile, name, ca, targetCa } = options;
  const enrollmentToken =
    enrollmentTokenFile === undefined
      ? options.enrollmentToken?.reveal()
      : await codeOf(dataDir, enrollmentTokenFile);
  // Secrets are removed from the command line, which every user of the machine may read.
  if (process.argv.some((word) => /^--(?:enrollment-token|proxy)/.test(word)))
    process.title = 'frontdoor agent start';
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  checkControlPlane(log, { identityFile: join(dataDir, AGENT_IDENTITY_FILE), apiUrl, outward });
  const metrics = prepareMetrics(options.metricsListen, version, log);
  const overlays: OverlayClient[] = [];
  const starting = startAgent({
    dataDir,
    socketPath: options.socket,
    allowTargets: options.allowTarget,
    configFile: options.config === undefined ? undefined : { path: options.config, env: process.env },
    maxCircuitsPerShare: options.maxCircuits,
    targetCa: targetCa === undefined ? undefined : readOptionFile(targetCa, '--target-ca'),
    targetClients: targetClientsOf(options),
    version,
    log,
    // The port belongs to the holder of the directory, as the shares do: an agent that drains leaves it to the next one.
    beforeRelease: () => metrics.close(),
    openNetwork: async () => {
      await metrics.open();
      return openSdkNetwork({
        dataDir,
        apiUrl,
        enrollmentToken,
        name,
        outward,
        ca: ca === undefined ? undefined : readOptionFile(ca, '--ca'),
        version,
        log,
        openHost(api) {
          const overlay = new OverlayClient({ api, log, name: name ?? 'agent' });
          overlays.push(overlay);
          metrics.add((to) => writeConnectionMetrics(to, 'agent', overlay, api.identity.certPem));
          return overlay;
        },
      });
    },
  });
  // Signals are handled before the control socket answers: a script that waits for it may end the agent at once.
  const stopped = runUntilStopped(
    async (drainMs) => {
      metrics.health.stop();
      const agent = await starting;
      await agent.close({ drainMs: Math.min(drainMs, AGENT_DRAIN_MS) });
    },
    log,
    async () => (await starting).reload(),
  );
  try {
    const agent = await starting;
    metrics.add(agent.writeMetrics);
    metrics.health.add({ name: 'router', isReady: () => overlays.some(({ isAttached }) => isAttached) });
    serviceManager.ready();
    collectAfterStart();
    const ended = agent.closed.then(({ reason }) => (reason === 'lost' ? 1 : 0));
    return await Promise.race([stopped, ended]);
  } finally {
    await metrics.close();
  }
}
