/** Codes that agents enroll with: those that are outstanding, and which agent came of the others. */
import { Button } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import type { AgentEnrollmentAnswer } from '#contract';
import { useAnswer, useChange } from '../../api/queries.ts';
import { useSession } from '../../api/session.tsx';
import { useFrontdoorId } from '../../frame/frontdoor.tsx';
import { AnswerView } from '../../parts/answer-view.tsx';
import { ConfirmDialog } from '../../parts/dialog.tsx';
import { ListTable, PAGE_SIZE, type ListColumn } from '../../parts/list-table.tsx';
import { PageTitle, Panel } from '../../parts/page-title.tsx';
import { useSearchState } from '../../parts/search-state.tsx';
import { StateBadge, type Tone } from '../../parts/state-badge.tsx';
import { TimeAgo } from '../../parts/time-ago.tsx';
import { useText } from '../../text/language.tsx';
import { AgentName } from './agent-name.tsx';
import { AgentsTabs } from './agents-tabs.tsx';
import { agentsText } from './agents-text.ts';

const TONES: Readonly<Record<string, Tone>> = { open: 'soft', used: 'good', expired: 'warn', refused: 'bad' };

export function EnrollmentsPage(): ReactNode {
  const text = useText(agentsText);
  const frontdoorId = useFrontdoorId();
  const control = useSearchState();
  const [cancelled, setCancelled] = useState<AgentEnrollmentAnswer | undefined>();
  const columns = useColumns(setCancelled);
  const answer = useAnswer('listEnrollments', {
    parameters: { frontdoorId },
    query: { page: Number(control.search['page'] ?? 0), size: PAGE_SIZE },
  });
  return (
    <>
      <PageTitle title={text.codes} />
      <AgentsTabs />
      <Panel>
        <p className="fd-soft">{text.codesText}</p>
        <AnswerView answer={answer}>
          {({ body }) => (
            <ListTable
              label={text.listOfCodes}
              page={body}
              columns={columns}
              keyOf={({ id }) => id}
              control={control}
              empty={<p>{text.noCodes}</p>}
            />
          )}
        </AnswerView>
      </Panel>
      {cancelled === undefined ? null : (
        <CancelDialog enrollment={cancelled} onClose={() => setCancelled(undefined)} />
      )}
    </>
  );
}

function useColumns(
  cancel: (enrollment: AgentEnrollmentAnswer) => void,
): readonly ListColumn<AgentEnrollmentAnswer>[] {
  const text = useText(agentsText);
  const { may } = useSession();
  return [
    {
      title: text.state,
      cell: ({ state }) => <StateBadge tone={TONES[state] ?? 'warn'}>{text.codeStates(state)}</StateBadge>,
    },
    { title: text.name, cell: ({ name }) => name ?? <span className="fd-soft">{text.unnamed}</span> },
    { title: text.codeCreated, cell: ({ createdAt }) => <TimeAgo at={createdAt} /> },
    {
      title: text.expires,
      cell: ({ state, expiresAt }) => (state === 'used' ? null : <TimeAgo at={expiresAt} />),
    },
    { title: text.agent, cell: (enrollment) => <AgentOf enrollment={enrollment} /> },
    {
      title: text.actions,
      cell: (enrollment) =>
        enrollment.state === 'used' ? null : (
          <Button
            size="compact-sm"
            variant="default"
            disabled={!may('cancelEnrollment')}
            aria-label={text.cancelOf(enrollment.name ?? text.unnamed)}
            onClick={() => cancel(enrollment)}
          >
            {text.cancel}
          </Button>
        ),
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

function CancelDialog(props: {
  readonly enrollment: AgentEnrollmentAnswer;
  readonly onClose: () => void;
}): ReactNode {
  const text = useText(agentsText);
  const frontdoorId = useFrontdoorId();
  const { id, name } = props.enrollment;
  const cancel = useChange('cancelEnrollment', { refreshes: ['enrollment'], onDone: props.onClose });
  return (
    <ConfirmDialog
      title={text.cancelOf(name ?? text.unnamed)}
      isOpen
      onClose={props.onClose}
      action={text.cancel}
      isPending={cancel.isPending}
      error={cancel.error}
      onConfirm={() => cancel.mutate({ parameters: { frontdoorId, id } })}
    >
      <p>{text.cancelText}</p>
    </ConfirmDialog>
  );
}
