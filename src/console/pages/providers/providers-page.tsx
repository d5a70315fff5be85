/** The list of the auth providers of a frontdoor. */
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { AnswerOf } from '#contract';
import { useSession } from '../../api/session.tsx';
import { useFrontdoorId } from '../../frame/frontdoor.tsx';
import { EmptyCommand } from '../../parts/empty-command.tsx';
import { useNameFilter } from '../../parts/filters.tsx';
import { LinkButton } from '../../parts/link-button.tsx';
import { ListPage } from '../../parts/list-page.tsx';
import type { ListColumn } from '../../parts/list-table.tsx';
import { useList } from '../../parts/use-list.ts';
import { useText } from '../../text/language.tsx';
import { ProviderState, useProviderTypes, useTypeName } from './provider-types.tsx';
import { providersText } from './providers-text.ts';

type ProviderEntry = AnswerOf<'listAuthProviders'>['content'][number];

export function ProvidersPage(): ReactNode {
  const text = useText(providersText);
  const frontdoorId = useFrontdoorId();
  const { may } = useSession();
  const types = useProviderTypes().data?.body ?? [];
  const filters = [
    useNameFilter(),
    {
      name: 'type',
      label: text.type,
      by: types.map(({ type, displayName }) => ({ value: type, label: displayName })),
    },
    {
      name: 'enabled',
      label: text.state,
      by: [
        { value: 'true', label: text.enabled },
        { value: 'false', label: text.disabled },
      ],
    },
  ];
  return (
    <ListPage
      title={text.providers}
      actions={<CreateButton />}
      intro={<p className="fd-soft">{text.intro}</p>}
      list={useList('listAuthProviders', { parameters: { frontdoorId } }, { filters })}
      columns={useColumns(frontdoorId)}
      keyOf={({ id }) => id}
      empty={
        <>
          <p>{text.nothing}</p>
          <CreateButton />
          {may('createAuthProvider') ? <EmptyCommand kind="provider" /> : null}
        </>
      }
    />
  );
}

function CreateButton(): ReactNode {
  const text = useText(providersText);
  const frontdoorId = useFrontdoorId();
  const { may } = useSession();
  if (!may('createAuthProvider')) return null;
  return (
    <LinkButton to="/frontdoors/$frontdoorId/providers/new" params={{ frontdoorId }}>
      {text.newProvider}
    </LinkButton>
  );
}

function useColumns(frontdoorId: string): readonly ListColumn<ProviderEntry>[] {
  const text = useText(providersText);
  const typeName = useTypeName();
  return [
    {
      id: 'name',
      title: text.name,
      isName: true,
      share: 2,
      sort: 'name',
      cell: ({ id, name }) => (
        <Link to="/frontdoors/$frontdoorId/providers/$providerId" params={{ frontdoorId, providerId: id }}>
          {name}
        </Link>
      ),
    },
    { id: 'type', title: text.type, sort: 'type', cell: ({ type }) => typeName(type) },
    {
      id: 'state',
      title: text.state,
      width: 9,
      sort: 'enabled',
      cell: ({ enabled }) => <ProviderState isEnabled={enabled} />,
    },
  ];
}
