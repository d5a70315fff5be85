/** The shares of a frontdoor. */
import type { ReactNode } from 'react';
import { useAnswer } from '../../api/queries.ts';
import { useSession } from '../../api/session.tsx';
import { useFrontdoorId } from '../../frame/frontdoor.tsx';
import { AnswerView } from '../../parts/answer-view.tsx';
import { ChoiceFilter, choicesOf, Filters, TextFilter } from '../../parts/filters.tsx';
import { LinkButton } from '../../parts/link-button.tsx';
import { ListTable, PAGE_SIZE } from '../../parts/list-table.tsx';
import { PageTitle, Panel } from '../../parts/page-title.tsx';
import { partsText } from '../../parts/parts-text.ts';
import { listQueryOf, useSearchState, type SearchControl } from '../../parts/search-state.tsx';
import { useText } from '../../text/language.tsx';
import { useListedAgents } from '../agents/agent-name.tsx';
import { useShareColumns } from './share-columns.tsx';
import { useListedProviders } from './share-names.tsx';
import { sharesText } from './shares-text.ts';

/** No event reports traffic. */
const REFETCH_MS = 30_000;

export function SharesPage(): ReactNode {
  const text = useText(sharesText);
  const frontdoorId = useFrontdoorId();
  const control = useSearchState();
  const answer = useAnswer('listShares', {
    parameters: { frontdoorId },
    query: listQueryOf(control, PAGE_SIZE, 'name', 'status', 'environmentId', 'providerId'),
  });
  // In one order, so that another order of the same rows asks for nothing.
  const tokens = answer.data?.body.content.map(({ token }) => token).toSorted();
  const lines = useAnswer(
    'getShareSparklines',
    {
      parameters: { frontdoorId },
      query: { tokens: tokens?.join(',') },
    },
    { refetchMs: REFETCH_MS, enabled: tokens !== undefined && tokens.length > 0 },
  );
  const columns = useShareColumns(frontdoorId, lines.data?.body.sparklines);
  return (
    <>
      <PageTitle title={text.shares}>
        <CreateButton />
      </PageTitle>
      <Panel>
        <ShareFilters control={control} />
        <AnswerView answer={answer}>
          {({ body }) => (
            <ListTable
              label={text.list}
              page={body}
              columns={columns}
              keyOf={({ token }) => token}
              control={control}
              empty={<NoShares />}
            />
          )}
        </AnswerView>
      </Panel>
    </>
  );
}

function ShareFilters({ control }: { readonly control: SearchControl }): ReactNode {
  const [text, parts] = [useText(sharesText), useText(partsText)];
  const agents = useListedAgents().data?.body.content ?? [];
  const providers = useListedProviders().data?.body.content ?? [];
  return (
    <Filters control={control}>
      <TextFilter control={control} name="name" label={parts.filterText} />
      <ChoiceFilter
        control={control}
        name="status"
        label={text.status}
        choices={['DEPLOYED', 'FAILED', 'PENDING'].map((value) => ({ value, label: text.state(value) }))}
      />
      <ChoiceFilter
        control={control}
        name="environmentId"
        label={text.agent}
        choices={choicesOf(agents, control.textOf('environmentId'))}
      />
      <ChoiceFilter
        control={control}
        name="providerId"
        label={text.provider}
        choices={choicesOf(providers, control.textOf('providerId'))}
      />
    </Filters>
  );
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

function NoShares(): ReactNode {
  const text = useText(sharesText);
  const { may } = useSession();
  return (
    <>
      <p>{text.noShares}</p>
      <p className="fd-soft">{text.noSharesText}</p>
      {may('createShare') ? <CreateButton /> : <p>{text.askToCreate}</p>}
    </>
  );
}
