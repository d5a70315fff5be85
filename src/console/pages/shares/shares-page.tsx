/** The shares of a frontdoor. */
import type { ReactNode } from 'react';
import { useAnswer } from '../../api/queries.ts';
import { useSession } from '../../api/session.tsx';
import { useFrontdoorId } from '../../frame/frontdoor.tsx';
import { EmptyCommand } from '../../parts/empty-command.tsx';
import { namedChoices, useNameFilter, type PageFilter } from '../../parts/filters.tsx';
import { LinkButton } from '../../parts/link-button.tsx';
import { EmptyList, ListPage } from '../../parts/list-page.tsx';
import { useList } from '../../parts/use-list.ts';
import { useText } from '../../text/language.tsx';
import { useListedAgents } from '../agents/agent-name.tsx';
import { useShareColumns } from './share-columns.tsx';
import { useListedProviders } from './share-names.tsx';
import { sharesText } from './shares-text.ts';

/** No event reports traffic. */
const REFETCH_MS = 30_000;

export function SharesPage(): ReactNode {
  const text = useText(sharesText);
  const { may } = useSession();
  const frontdoorId = useFrontdoorId();
  const list = useList('listShares', { parameters: { frontdoorId } }, { filters: useFilters() });
  // In one order, so that another order of the same rows asks for nothing.
  const tokens = list.answer.data?.body.content.map(({ token }) => token).toSorted();
  const lines = useAnswer(
    'getShareSparklines',
    { parameters: { frontdoorId }, query: { tokens: tokens?.join(',') } },
    { refetchMs: REFETCH_MS, enabled: tokens !== undefined && tokens.length > 0 },
  );
  return (
    <ListPage
      title={text.shares}
      label={text.list}
      actions={<CreateButton />}
      list={list}
      columns={useShareColumns(frontdoorId, lines.data?.body.sparklines)}
      keyOf={({ token }) => token}
      empty={
        <EmptyList title={text.noShares} text={text.noSharesText}>
          {may('createShare') ? (
            <>
              <CreateButton />
              <EmptyCommand kind="share" />
            </>
          ) : (
            <p>{text.askToCreate}</p>
          )}
        </EmptyList>
      }
    />
  );
}

function useFilters(): readonly PageFilter[] {
  const text = useText(sharesText);
  const agents = useListedAgents().data?.body.content;
  const providers = useListedProviders().data?.body.content;
  const states = ['DEPLOYED', 'FAILED', 'PENDING'].map((value) => ({ value, label: text.state(value) }));
  return [
    useNameFilter(),
    { name: 'status', label: text.status, by: states },
    { name: 'environmentId', label: text.agent, by: namedChoices(agents) },
    { name: 'providerId', label: text.provider, by: namedChoices(providers) },
  ];
}

function CreateButton(): ReactNode {
  const text = useText(sharesText);
  const { may } = useSession();
  const frontdoorId = useFrontdoorId();
  if (!may('createShare')) return null;
  return (
    <LinkButton to="/frontdoors/$frontdoorId/shares/new" params={{ frontdoorId }}>
      {text.create}
    </LinkButton>
  );
}
