/** The state of an agent. A state that this console does not know is shown as it is. */
import type { ReactNode } from 'react';
import { StateBadge, type Tone } from '../../parts/state-badge.tsx';
import { TimeAgo } from '../../parts/time-ago.tsx';
import { useText } from '../../text/language.tsx';
import { agentsText } from './agents-text.ts';

const TONES: Readonly<Record<string, Tone>> = { ACTIVE: 'good', INACTIVE: 'bad', NEVER: 'soft' };

interface Seen {
  readonly status: string;
  readonly lastSeenAt: string | null;
}

export function AgentState({ agent }: { readonly agent: Seen }): ReactNode {
  const text = useText(agentsText);
  const state = agent.status === 'INACTIVE' && agent.lastSeenAt === null ? 'NEVER' : agent.status;
  return <StateBadge tone={TONES[state] ?? 'warn'}>{text.states(state)}</StateBadge>;
}

export function LastSeen({ agent }: { readonly agent: Seen }): ReactNode {
  const text = useText(agentsText);
  return agent.status === 'ACTIVE' ? text.now : <TimeAgo at={agent.lastSeenAt} />;
}
