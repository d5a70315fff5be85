/** The agents, and the codes that agents enroll with. */
import type { ReactNode } from 'react';
import { useFrontdoorId } from '../../frame/frontdoor.tsx';
import { PageTabs } from '../../parts/page-tabs.tsx';
import { useText } from '../../text/language.tsx';
import { agentsText } from './agents-text.ts';

export function AgentsTabs(): ReactNode {
  const text = useText(agentsText);
  const base = `/frontdoors/${useFrontdoorId()}/agents`;
  return (
    <PageTabs
      label={text.pagesOfAgents}
      tabs={[
        [base, text.agents, true],
        [`${base}/codes`, text.codes],
      ]}
    />
  );
}
