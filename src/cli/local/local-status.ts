/** What runs on this machine: the program of a data directory, whether its addresses answer, and the agent with its shares. */
import { FrontdoorError, messageOf } from '#base';
import { printable } from '#base/terminal';
import type { AgentStatusResult, RunningProgram } from '#domain/agent-shapes';
import { findRunningProgram } from '#net/files';
import { probePort } from '#net';
import { callAgent } from '../agent-socket-client.ts';
import { agentStatusText } from '../output/agent-status-text.ts';

export interface LocalStatus {
  readonly dataDir: string;
  readonly program: RunningProgram | null;
  readonly agent: AgentStatusResult | null;
  readonly problems: readonly string[];
}

const PROBE_MS = 3_000;
const WHY = { refused: 'nothing listens there', silent: 'it is silent' };

/** Never rejects: a fault is a problem of the status. */
export async function localStatus(
  dataDir: string,
  agentSocket: string,
  probe: (url: string) => Promise<string | undefined> = probeAddress,
): Promise<LocalStatus> {
  const program = findRunningProgram(dataDir) ?? null;
  const [agent, addresses] = await Promise.all([
    agentStatus(agentSocket),
    program === null ? [] : addressProblems(program, probe),
  ]);
  const status = typeof agent === 'string' ? null : (agent ?? null);
  return {
    dataDir,
    program,
    agent: status,
    problems: [
      ...addresses,
      ...(typeof agent === 'string' ? [agent] : []),
      ...(status === null ? [] : agentProblems(status)),
      ...(program === null && agent === undefined ? [nothingRuns(dataDir, agentSocket)] : []),
    ],
  };
}

/** Undefined: no agent listens there. A text: why it does not answer. */
async function agentStatus(socket: string): Promise<AgentStatusResult | string | undefined> {
  try {
    return await callAgent(socket, { op: 'status' }, PROBE_MS);
  } catch (error) {
    if (error instanceof FrontdoorError && error.code === 'no-agent') return undefined;
    return messageOf(error);
  }
}

async function addressProblems(
  { apiUrl, gatewayUrl }: RunningProgram,
  probe: (url: string) => Promise<string | undefined>,
): Promise<readonly string[]> {
  const named = [['Management API', apiUrl] as const, ['gateway', gatewayUrl] as const];
  const found = await Promise.all(
    named.map(async ([name, url]) => {
      const problem = url === null ? undefined : await probe(url);
      return problem === undefined ? [] : [`the ${name} at ${url} does not answer: ${problem}`];
    }),
  );
  return found.flat();
}

/** A connection counts, since a request would leave a record at the gateway. Returns the problem, if there is one. */
async function probeAddress(url: string): Promise<string | undefined> {
  const { hostname, port, protocol } = new URL(url);
  const usualPort = protocol === 'https:' ? 443 : 80;
  const probe = await probePort(hostname, port === '' ? usualPort : Number(port), PROBE_MS);
  if (probe.state === 'open') return undefined;
  return probe.state === 'failed' ? probe.reason : WHY[probe.state];
}

function agentProblems({
  controlPlane,
  apiUrl,
  problem,
  shares,
  accesses,
  failedEntries,
  fileProblem,
}: AgentStatusResult) {
  const away = `the agent is not connected to the control plane ${apiUrl}${problem === null ? '' : ` (${problem})`}`;
  return [
    ...(controlPlane === 'connected' ? [] : [away]),
    ...shares.flatMap((share) => (share.problem === null ? [] : [`share ${share.token}: ${share.problem}`])),
    ...accesses.flatMap((each) =>
      each.problem === null ? [] : [`access to ${each.share}: ${each.problem}`],
    ),
    ...failedEntries.map(
      ({ name, reason }) => `${name} is not yet as the configuration file has it: ${reason}`,
    ),
    ...(fileProblem === null ? [] : [`the configuration file was not read again: ${fileProblem}`]),
  ];
}

function nothingRuns(dataDir: string, agentSocket: string): string {
  return (
    `no program runs on ${dataDir}, and no agent at ${agentSocket}: start them ("npm start", "frontdoor up", ` +
    '"frontdoor agent start"), or name their directories with --data-dir and --agent-dir'
  );
}

export function localStatusText({ dataDir, program, agent, problems }: LocalStatus): string {
  const lines: string[] = [];
  if (program === null) lines.push(`no control plane runs on ${dataDir}`);
  else {
    const { pid, version, startedAtMs, apiUrl, gatewayUrl, consoleUrl } = program;
    const since = new Date(startedAtMs).toISOString();
    lines.push(
      `frontdoor ${program.program} on ${dataDir}, version ${version}, process ${pid}, since ${since}`,
    );
    lines.push(`  Management API  ${apiUrl}`);
    if (gatewayUrl !== null) lines.push(`  gateway         ${gatewayUrl}`);
    if (consoleUrl !== null) lines.push(`  console         ${consoleUrl}`);
  }
  if (agent !== null) lines.push('', agentStatusText(agent).trimEnd());
  if (problems.length > 0) lines.push('', 'Problems:', ...problems.map((each) => `  ${printable(each)}`));
  return `${lines.join('\n')}\n`;
}
