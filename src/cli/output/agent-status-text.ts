/** The status of an agent for people: its connection, shares and accesses, with what is wrong below each. */
import type { AgentAccessView, AgentShareView, AgentStatusResult } from '#domain/agent-shapes';

export function agentStatusText(status: AgentStatusResult): string {
  const lines = [
    `agent ${status.name} (environment ${status.environmentId}), version ${status.version}, process ${status.pid}`,
    `control plane ${status.apiUrl}: ${status.controlPlane}${status.problem === null ? '' : ` (${status.problem})`}`,
  ];
  if (status.clockProblem !== null) lines.push(status.clockProblem);
  if (status.proxy !== null) lines.push(`proxy ${status.proxy}`);
  if (status.shares.length === 0) lines.push('no shares');
  const width = Math.max(...status.shares.map((share) => share.token.length), 0);
  for (const share of status.shares) {
    lines.push(
      `${share.token.padEnd(width)}  ${share.status.padEnd(8)}  ${share.mode.padEnd(7)}  ${share.target}  ` +
        `${share.circuits} circuits${share.endpoints.length === 0 ? '' : `  ${share.endpoints.join(' ')}`}`,
    );
    if (share.isUnverified)
      lines.push(`${' '.repeat(width)}  any certificate of the target is accepted (--target-insecure)`);
    for (const line of domainLines(share)) lines.push(`${' '.repeat(width)}  ${line}`);
    if (share.problem !== null) lines.push(`${' '.repeat(width)}  ${share.problem}`);
  }
  for (const access of status.accesses) {
    const { share: name, connections, problem } = access;
    lines.push(`${openAddress(access)}  -> private share ${name}  ${connections} connections`);
    if (problem !== null) lines.push(`  ${problem}`);
  }
  for (const { name, reason } of status.failedEntries)
    lines.push(`${name}: not yet as the configuration file has it: ${reason}`);
  if (status.fileProblem !== null)
    lines.push(
      `The configuration file was not read again, and what it said before applies: ${status.fileProblem}`,
    );
  return `${lines.join('\n')}\n`;
}

/** What the owner has to do for the domains that are not served, or will not be. */
export function domainLines({ domains }: Pick<AgentShareView, 'domains'>): string[] {
  return domains.flatMap(({ hostname, isServed, problem, record }) => {
    const why = problem === null ? '' : ` (${problem})`;
    if (isServed) return problem === null ? [] : [`${hostname} will no longer be served${why}`];
    return [`${hostname} is not served yet${why}: create the DNS record ${record ?? ''}`];
  });
}

/** `127.0.0.1:9000`, or `127.0.0.1:5353/udp`. */
export function openAddress({ listen, protocol }: AgentAccessView): string {
  return protocol === 'udp' ? `${listen}/udp` : listen;
}
