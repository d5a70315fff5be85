/** The name of an agent by its id. The first hundred agents are known by one answer, others are asked for one by one. */
import type { ReactNode } from 'react';
import { useAnswer } from '../../api/queries.ts';
import { useFrontdoorId } from '../../frame/frontdoor.tsx';

const MAX_LISTED = 100;
const SHOWN_ID_CHARS = 8;

export function useListedAgents() {
  return useAnswer('listEnvironments', {
    parameters: { frontdoorId: useFrontdoorId() },
    query: { size: MAX_LISTED, sort: 'name,asc' },
  });
}

export function AgentName({ id }: { readonly id: string }): ReactNode {
  const frontdoorId = useFrontdoorId();
  const listed = useListedAgents();
  const known = listed.data?.body.content.find((agent) => agent.id === id);
  const isMissing = known === undefined && (listed.data !== undefined || listed.error !== null);
  const single = useAnswer('getEnvironment', { parameters: { frontdoorId, id } }, { enabled: isMissing });
  return known?.name ?? (isMissing ? single.data?.body.name : undefined) ?? id.slice(0, SHOWN_ID_CHARS);
}
