/** The list of the auth providers of a frontdoor. */
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { AnswerOf } from '#contract';
import { useAnswer } from '../../api/queries.ts';
import { useSession } from '../../api/session.tsx';
import { useFrontdoorId } from '../../frame/frontdoor.tsx';
import { AnswerView } from '../../parts/answer-view.tsx';
import { ChoiceFilter, Filters, TextFilter } from '../../parts/filters.tsx';
import { LinkButton } from '../../parts/link-button.tsx';
import { ListTable, PAGE_SIZE } from '../../parts/list-table.tsx';
import { PageTitle, Panel } from '../../parts/page-title.tsx';
import { partsText } from '../../parts/parts-text.ts';
import { useSearchState } from '../../parts/search-state.tsx';
import { useText } from '../../text/language.tsx';
import { ProviderState, useProviderTypes, useTypeName } from './provider-types.tsx';
import { providersText } from './providers-text.ts';

type ProviderEntry = AnswerOf<'listAuthProviders'>['content'][number];

export function ProvidersPage(): ReactNode {
  const [text, parts] = [useText(providersText), useText(partsText)];
  const frontdoorId = useFrontdoorId();
  const control = useSearchState();
  const { may } = useSession();
  const types = useProviderTypes().data?.body ?? [];
  const typeName = useTypeName();
  const answer = useAnswer('listAuthProviders', {
    parameters: { frontdoorId },
    query: {
      ...{ name: control.textOf('name'), type: control.textOf('type'), enabled: control.textOf('enabled') },
      ...{ page: control.textOf('page'), size: PAGE_SIZE, sort: control.textOf('sort') },
    },
  });
  const add = may('createAuthProvider') ? (
    <LinkButton to="/frontdoors/$frontdoorId/providers/new" params={{ frontdoorId }}>
      {text.newProvider}
    </LinkButton>
  ) : null;
  return (
    <>
      <PageTitle title={text.providers}>{add}</PageTitle>
      <p className="fd-soft">{text.intro}</p>
      <Panel>
        <Filters control={control}>
          <TextFilter control={control} name="name" label={parts.filterText} />
          <ChoiceFilter
            control={control}
            name="type"
            label={text.type}
            choices={types.map(({ type, displayName }) => ({ value: type, label: displayName }))}
          />
          <ChoiceFilter
            control={control}
            name="enabled"
            label={text.state}
            choices={[
              { value: 'true', label: text.enabled },
              { value: 'false', label: text.disabled },
            ]}
          />
        </Filters>
        <AnswerView answer={answer}>
          {({ body }) => (
            <ListTable<ProviderEntry>
              label={text.providers}
              page={body}
              control={control}
              keyOf={({ id }) => id}
              empty={<p>{text.nothing}</p>}
              columns={[
                {
                  title: text.name,
                  sort: 'name',
                  cell: ({ id, name }) => (
                    <Link
                      to="/frontdoors/$frontdoorId/providers/$providerId"
                      params={{ frontdoorId, providerId: id }}
                    >
                      {name}
                    </Link>
                  ),
                },
                { title: text.type, sort: 'type', cell: ({ type }) => typeName(type) },
                {
                  title: text.state,
                  sort: 'enabled',
                  cell: ({ enabled }) => <ProviderState isEnabled={enabled} />,
                },
              ]}
            />
          )}
        </AnswerView>
      </Panel>
    </>
  );
}
