/**
 * Checks the agent of this machine, if there is one: whether it responds, its version, and the state of its
 * connections.
 */
import { FrontdoorError } from '#base';
import { callAgent } from '../agent-socket-client.ts';
import { failure, ok, PROBE_MS, skipped, warning, type Check, type CheckResult } from './finding.ts';

export function agentChecks(socketPath: string, version: string): Check[] {
  return [{ name: 'agent', run: () => agentVerdict(socketPath, version) }];
}

async function agentVerdict(socketPath: string, version: string): Promise<CheckResult> {
  let status;
  try {
    status = await callAgent(socketPath, { op: 'status' }, PROBE_MS);
  } catch (error) {
    if (!(error instanceof FrontdoorError)) throw error;
    if (error.code === 'no-agent') return skipped(`none is running at ${socketPath}`);
    return failure(error.message, 'start it again: "frontdoor agent stop", then "frontdoor agent start"');
  }
  const summary = `${status.name}, version ${status.version}, ${status.shares.length} shares`;
  if (status.controlPlane !== 'connected') {
    const why = status.problem === null ? '' : ` (${status.problem})`;
    return failure(
      `${summary}: its control plane is ${status.controlPlane}${why}`,
      `check that ${status.apiUrl} can be reached from this machine`,
    );
  }
  if (status.clockProblem !== null)
    return failure(
      `${summary}: ${status.clockProblem}`,
      'synchronize both machines with NTP ("timedatectl set-ntp true")',
    );
  if (status.version !== version)
    return warning(`${summary}; this command line is ${version}`, 'restart the agent with this version');
  const failed = status.shares.filter((share) => share.problem !== null);
  if (failed.length === 0) return ok(summary);
  const first = failed[0]!;
  return warning(`${summary}; ${first.token}: ${first.problem ?? ''}`, `check that ${first.target} responds`);
}
