/** Where public shares appear: the frontends of the installation, and domains of the frontdoor's own. */
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { CustomFrontendAnswer } from '#contract/schemas';
import { useAnswer } from '../../api/queries.ts';
import { useSession } from '../../api/session.tsx';
import { useFrontdoorId } from '../../frame/frontdoor.tsx';
import { AnswerView } from '../../parts/answer-view.tsx';
import { EmptyCommand } from '../../parts/empty-command.tsx';
import { useNameFilter } from '../../parts/filters.tsx';
import { LinkButton } from '../../parts/link-button.tsx';
import { ListPanel } from '../../parts/list-page.tsx';
import type { ListColumn } from '../../parts/list-table.tsx';
import { PageTitle, Panel } from '../../parts/page-title.tsx';
import { SimpleTable } from '../../parts/simple-table.tsx';
import { TimeAgo } from '../../parts/time-ago.tsx';
import { useList } from '../../parts/use-list.ts';
import { useText } from '../../text/language.tsx';
import { DomainProof } from './domain-proof.tsx';
import { DomainState } from './domain-state.tsx';
import { domainsText } from './domains-text.ts';

const STATES = ['NEW', 'PENDING', 'ACTIVE'] as const;

export function DomainsPage(): ReactNode {
  const text = useText(domainsText);
  return (
    <>
      <PageTitle title={text.domains}>
        <CreateButton />
      </PageTitle>
      <OwnDomains />
      <FrontendList />
    </>
  );
}

function CreateButton(): ReactNode {
  const text = useText(domainsText);
  const frontdoorId = useFrontdoorId();
  const { may } = useSession();
  if (!may('createCustomFrontend')) return null;
  return (
    <LinkButton to="/frontdoors/$frontdoorId/domains/new" params={{ frontdoorId }}>
      {text.newDomain}
    </LinkButton>
  );
}

function OwnDomains(): ReactNode {
  const text = useText(domainsText);
  const { may } = useSession();
  const frontdoorId = useFrontdoorId();
  const states = STATES.map((value) => ({ value, label: text.states(value) }));
  const filters = [useNameFilter(), { name: 'status', label: text.state, by: states }];
  return (
    <ListPanel
      title={text.own}
      intro={<p className="fd-soft">{text.ownIntro}</p>}
      list={useList('listCustomFrontends', { parameters: { frontdoorId } }, { filters })}
      columns={useColumns()}
      keyOf={({ id }) => id}
      empty={
        <>
          <p>{text.nothing}</p>
          <CreateButton />
          {may('createCustomFrontend') ? <EmptyCommand kind="domain" /> : null}
        </>
      }
    />
  );
}

function useColumns(): readonly ListColumn<CustomFrontendAnswer>[] {
  const text = useText(domainsText);
  const frontdoorId = useFrontdoorId();
  return [
    {
      id: 'hostname',
      title: text.hostname,
      isName: true,
      share: 2,
      sort: 'hostname',
      cell: ({ id, hostname }) => (
        <Link to="/frontdoors/$frontdoorId/domains/$domainId" params={{ frontdoorId, domainId: id }}>
          {hostname}
        </Link>
      ),
    },
    {
      id: 'state',
      title: text.state,
      width: 9,
      sort: 'status',
      cell: ({ status }) => <DomainState status={status} />,
    },
    { id: 'proof', title: text.proof, share: 1.4, cell: ({ proof }) => <DomainProof proof={proof} /> },
    {
      id: 'created',
      title: text.created,
      width: 8,
      sort: 'createdAt',
      cell: ({ createdAt }) => <TimeAgo at={createdAt} />,
    },
  ];
}

function FrontendList(): ReactNode {
  const text = useText(domainsText);
  const answer = useAnswer('listFrontends', { parameters: { frontdoorId: useFrontdoorId() } });
  return (
    <Panel title={text.frontends}>
      <AnswerView answer={answer}>
        {({ body: frontends }) =>
          frontends.length === 0 ? (
            <p>{text.noFrontends}</p>
          ) : (
            <SimpleTable
              label={text.frontends}
              head={[text.frontendName, text.frontendUrl]}
              rows={frontends.map(({ id, publicName, urlTemplate }) => [
                publicName,
                <span key={id} className="fd-mono">
                  {urlTemplate}
                </span>,
              ])}
            />
          )
        }
      </AnswerView>
    </Panel>
  );
}
