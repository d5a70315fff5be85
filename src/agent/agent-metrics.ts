/** The metrics of an agent: its shares, the health of their targets, and what its circuits have carried. */
import type { AgentShareView } from '#domain/agent-shapes';
import type { Exposition } from '#net/metrics';
import type { AgentTraffic } from './agent-traffic.ts';
import type { TargetCounts } from './backends/target-health.ts';

export interface AgentMetricsOptions {
  /** The last poll of the control plane succeeded. */
  readonly isConnected: boolean;
  readonly shares: readonly Pick<AgentShareView, 'token' | 'hosting' | 'healthy'>[];
  readonly targets: TargetCounts;
  readonly traffic: AgentTraffic;
}

/** Shares that have a label of their own; each label is a series in Prometheus. */
const MAX_SHARES = 200;
const HOSTING: readonly AgentShareView['hosting'][] = ['none', 'binding', 'bound', 'failed'];

export function writeAgentMetrics(to: Exposition, options: AgentMetricsOptions): void {
  const { isConnected, shares, targets, traffic } = options;
  const add = (name: string, type: 'counter' | 'gauge', help: string, value: number): void =>
    to.one(`frontdoor_agent_${name}`, type, help, value);
  add(
    'control_plane_connected',
    'gauge',
    'Whether the last poll of the control plane succeeded: 1 or 0',
    isConnected ? 1 : 0,
  );
  to.family(
    'frontdoor_agent_shares',
    'gauge',
    'Shares of this environment by how the agent offers them to the overlay',
    HOSTING.map((hosting) => [{ hosting }, shares.filter((share) => share.hosting === hosting).length]),
  );
  to.family(
    'frontdoor_agent_targets',
    'gauge',
    'Distinct targets of shares by the result of the latest health checks',
    Object.entries(targets).map(([health, count]) => [{ health }, count]),
  );
  to.family(
    'frontdoor_agent_share_target_healthy',
    'gauge',
    `Whether the target of a share passes its health checks: 1 or 0; for the first ${MAX_SHARES} shares`,
    shares
      .slice(0, MAX_SHARES)
      .flatMap(({ token, healthy }) =>
        healthy === null ? [] : [[{ share: token }, healthy ? 1 : 0] as const],
      ),
  );
  add('open_circuits', 'gauge', 'Circuits that are open to targets', traffic.openCircuits);
  add('circuits_total', 'counter', 'Circuits that have been connected to a target', traffic.circuits);
  add('failed_circuits_total', 'counter', 'Circuits whose target could not be reached', traffic.failedDials);
  add('sent_bytes_total', 'counter', 'Bytes that circuits have sent to targets', traffic.bytesToServices);
  add(
    'received_bytes_total',
    'counter',
    'Bytes that circuits have received from targets',
    traffic.bytesFromServices,
  );
}
