/** Codes that agents enroll with: those that are outstanding, and which agent came of the others. */
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { AgentEnrollmentAnswer } from '#contract/schemas';
import { useSession } from '../../api/session.tsx';
import { useFrontdoorId } from '../../frame/frontdoor.tsx';
import { ConfirmedAction } from '../../parts/action-button.tsx';
import { ListPage } from '../../parts/list-page.tsx';
import type { ListColumn } from '../../parts/list-table.tsx';
import { StateBadge, type Tone } from '../../parts/state-badge.tsx';
import { TimeAgo } from '../../parts/time-ago.tsx';
import { useList } from '../../parts/use-list.ts';
import { useText } from '../../text/language.tsx';
import { AgentName } from './agent-name.tsx';
import { AgentsTabs } from './agents-tabs.tsx';
import { agentsText } from './agents-text.ts';

const TONES: Readonly<Record<string, Tone>> = { open: 'soft', used: 'good', expired: 'warn', refused: 'bad' };

export function EnrollmentsPage(): ReactNode {
  const text = useText(agentsText);
  const parameters = { frontdoorId: useFrontdoorId() };
  return (
    <ListPage
      title={text.codes}
      label={text.listOfCodes}
      intro={
        <>
          <AgentsTabs />
          <p className="fd-soft">{text.codesText}</p>
        </>
      }
      list={useList('listEnrollments', { parameters })}
      columns={useColumns()}
      keyOf={({ id }) => id}
      empty={<p>{text.noCodes}</p>}
    />
  );
}

function useColumns(): readonly ListColumn<AgentEnrollmentAnswer>[] {
  const text = useText(agentsText);
  return [
    {
      id: 'state',
      title: text.state,
      width: 8,
      cell: ({ state }) => <StateBadge tone={TONES[state] ?? 'warn'}>{text.codeStates(state)}</StateBadge>,
    },
    {
      id: 'name',
      title: text.name,
      isName: true,
      cell: ({ name }) => name ?? <span className="fd-soft">{text.unnamed}</span>,
    },
    { id: 'created', title: text.codeCreated, width: 8, cell: ({ createdAt }) => <TimeAgo at={createdAt} /> },
    {
      id: 'expires',
      title: text.expires,
      width: 8,
      cell: ({ state, expiresAt }) => (state === 'used' ? null : <TimeAgo at={expiresAt} />),
    },
    { id: 'agent', title: text.agent, share: 1.2, cell: (enrollment) => <AgentOf enrollment={enrollment} /> },
    {
      id: 'actions',
      title: text.actions,
      width: 9,
      cell: (enrollment) => <Cancel enrollment={enrollment} />,
    },
  ];
}

function AgentOf({ enrollment }: { readonly enrollment: AgentEnrollmentAnswer }): ReactNode {
  const text = useText(agentsText);
  const frontdoorId = useFrontdoorId();
  const { environmentId, usedAt, state } = enrollment;
  if (state !== 'used') return null;
  return (
    <>
      {environmentId === null ? (
        <span className="fd-soft">{text.agentGone}</span>
      ) : (
        <Link
          to="/frontdoors/$frontdoorId/agents/$environmentId"
          params={{ frontdoorId, environmentId }}
          className="fd-name"
        >
          <AgentName id={environmentId} />
        </Link>
      )}{' '}
      <span className="fd-soft fd-small">
        <TimeAgo at={usedAt} />
      </span>
    </>
  );
}

function Cancel({ enrollment }: { readonly enrollment: AgentEnrollmentAnswer }): ReactNode {
  const text = useText(agentsText);
  const { may } = useSession();
  const frontdoorId = useFrontdoorId();
  const { id, name, state } = enrollment;
  if (state === 'used') return null;
  const title = text.cancelOf(name ?? text.unnamed);
  return (
    <ConfirmedAction
      operation="cancelEnrollment"
      input={{ parameters: { frontdoorId, id } }}
      refreshes={['enrollment']}
      label={text.cancel}
      full={title}
      title={title}
      isDisabled={!may('cancelEnrollment')}
    >
      <p>{text.cancelText}</p>
    </ConfirmedAction>
  );
}
