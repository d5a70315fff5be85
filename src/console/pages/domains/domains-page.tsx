/** Where public shares appear: the frontends of the installation, and domains of the frontdoor's own. */
import { Table } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { CustomFrontendAnswer } from '#contract';
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
import { TimeAgo } from '../../parts/time-ago.tsx';
import { useText } from '../../text/language.tsx';
import { DomainProof } from './domain-proof.tsx';
import { DomainState } from './domain-state.tsx';
import { domainsText } from './domains-text.ts';

const STATES = ['NEW', 'PENDING', 'ACTIVE'] as const;

export function DomainsPage(): ReactNode {
  const text = useText(domainsText);
  const frontdoorId = useFrontdoorId();
  const { may } = useSession();
  return (
    <>
      <PageTitle title={text.domains}>
        {may('createCustomFrontend') ? (
          <LinkButton to="/frontdoors/$frontdoorId/domains/new" params={{ frontdoorId }}>
            {text.newDomain}
          </LinkButton>
        ) : null}
      </PageTitle>
      <OwnDomains />
      <FrontendList />
    </>
  );
}

function OwnDomains(): ReactNode {
  const [text, parts] = [useText(domainsText), useText(partsText)];
  const frontdoorId = useFrontdoorId();
  const control = useSearchState();
  const answer = useAnswer('listCustomFrontends', {
    parameters: { frontdoorId },
    query: {
      ...{ name: control.textOf('name'), status: control.textOf('status') },
      ...{ page: control.textOf('page'), size: PAGE_SIZE, sort: control.textOf('sort') },
    },
  });
  return (
    <Panel title={text.own}>
      <p className="fd-soft">{text.ownIntro}</p>
      <Filters control={control}>
        <TextFilter control={control} name="name" label={parts.filterText} />
        <ChoiceFilter
          control={control}
          name="status"
          label={text.state}
          choices={STATES.map((state) => ({ value: state, label: text.states(state) }))}
        />
      </Filters>
      <AnswerView answer={answer}>
        {({ body }) => (
          <ListTable<CustomFrontendAnswer>
            label={text.own}
            page={body}
            control={control}
            keyOf={({ id }) => id}
            empty={<p>{text.nothing}</p>}
            columns={[
              {
                title: text.hostname,
                sort: 'hostname',
                cell: ({ id, hostname }) => (
                  <Link
                    to="/frontdoors/$frontdoorId/domains/$domainId"
                    params={{ frontdoorId, domainId: id }}
                  >
                    {hostname}
                  </Link>
                ),
              },
              { title: text.state, sort: 'status', cell: ({ status }) => <DomainState status={status} /> },
              { title: text.proof, cell: ({ proof }) => <DomainProof proof={proof} /> },
              {
                title: text.created,
                sort: 'createdAt',
                cell: ({ createdAt }) => <TimeAgo at={createdAt} />,
              },
            ]}
          />
        )}
      </AnswerView>
    </Panel>
  );
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
            <div className="fd-scroll" tabIndex={0} role="region" aria-label={text.frontends}>
              <Table verticalSpacing="xs">
                <Table.Thead>
                  <Table.Tr>
                    <Table.Th>{text.frontendName}</Table.Th>
                    <Table.Th>{text.frontendUrl}</Table.Th>
                  </Table.Tr>
                </Table.Thead>
                <Table.Tbody>
                  {frontends.map(({ id, publicName, urlTemplate }) => (
                    <Table.Tr key={id}>
                      <Table.Td>{publicName}</Table.Td>
                      <Table.Td className="fd-mono">{urlTemplate}</Table.Td>
                    </Table.Tr>
                  ))}
                </Table.Tbody>
              </Table>
            </div>
          )
        }
      </AnswerView>
    </Panel>
  );
}
