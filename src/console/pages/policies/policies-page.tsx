/** The list of the shared policies of a frontdoor. */
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { AnswerOf } from '#contract';
import { useSession } from '../../api/session.tsx';
import { useFrontdoorId } from '../../frame/frontdoor.tsx';
import { EmptyCommand } from '../../parts/empty-command.tsx';
import { useNameFilter } from '../../parts/filters.tsx';
import { LinkButton } from '../../parts/link-button.tsx';
import { EmptyList, ListPage } from '../../parts/list-page.tsx';
import type { ListColumn } from '../../parts/list-table.tsx';
import { TimeAgo } from '../../parts/time-ago.tsx';
import { useList } from '../../parts/use-list.ts';
import { useFormat, useText } from '../../text/language.tsx';
import { policiesText } from './policies-text.ts';

type PolicyEntry = AnswerOf<'listPolicies'>['content'][number];

export function PoliciesPage(): ReactNode {
  const text = useText(policiesText);
  const frontdoorId = useFrontdoorId();
  const { may } = useSession();
  return (
    <ListPage
      title={text.policies}
      actions={<CreateButton />}
      intro={<p className="fd-soft">{text.intro}</p>}
      list={useList('listPolicies', { parameters: { frontdoorId } }, { filters: [useNameFilter()] })}
      columns={useColumns(frontdoorId)}
      keyOf={({ id }) => id}
      empty={
        <EmptyList title={text.nothing} text={text.nothingText}>
          <CreateButton />
          {may('createPolicy') ? <EmptyCommand kind="policy" /> : null}
        </EmptyList>
      }
    />
  );
}

function CreateButton(): ReactNode {
  const text = useText(policiesText);
  const frontdoorId = useFrontdoorId();
  const { may } = useSession();
  if (!may('createPolicy')) return null;
  return (
    <LinkButton to="/frontdoors/$frontdoorId/policies/new" params={{ frontdoorId }}>
      {text.newPolicy}
    </LinkButton>
  );
}

function useColumns(frontdoorId: string): readonly ListColumn<PolicyEntry>[] {
  const [text, format] = [useText(policiesText), useFormat()];
  return [
    {
      id: 'name',
      title: text.name,
      isName: true,
      share: 2,
      sort: 'name',
      cell: ({ id, name }) => (
        <Link to="/frontdoors/$frontdoorId/policies/$policyId" params={{ frontdoorId, policyId: id }}>
          {name}
        </Link>
      ),
    },
    {
      id: 'used',
      title: text.used,
      width: 10,
      cell: ({ id, shareCount }) =>
        shareCount === 0 ? (
          <span className="fd-soft">{text.shares(0, format.number(0))}</span>
        ) : (
          <Link to="/frontdoors/$frontdoorId/shares" params={{ frontdoorId }} search={{ policyId: id }}>
            {text.shares(shareCount, format.number(shareCount))}
          </Link>
        ),
    },
    {
      id: 'created',
      title: text.created,
      width: 9,
      sort: 'createdAt',
      cell: ({ createdAt }) => <TimeAgo at={createdAt} />,
    },
  ];
}
