/** The audit trail: changes with their authors and differences, filters, export and verification. */
import { Button } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import type { AuditEventAnswer } from '#contract/schemas';
import { useProgram } from '../../api/program.tsx';
import { useSession } from '../../api/session.tsx';
import type { PageFilter } from '../../parts/filters.tsx';
import { ListPage } from '../../parts/list-page.tsx';
import type { ListColumn } from '../../parts/list-table.tsx';
import { Problem } from '../../parts/problem.tsx';
import { StateBadge } from '../../parts/state-badge.tsx';
import { TimeAgo } from '../../parts/time-ago.tsx';
import { useList } from '../../parts/use-list.ts';
import { useFormat, useLanguage, useText } from '../../text/language.tsx';
import { activityText } from './activity-text.ts';
import { actionText } from './action-text.ts';
import { ActorName } from './actor-name.tsx';
import { EventDialog } from './event-dialog.tsx';
import { nameIn } from './event-difference.ts';

const INSTALLATION = 'installation';
/** Links to this page contain some of these. */
const LINKED = ['action', 'actorId', 'targetId', 'organizationId'];

export function ActivityPage(): ReactNode {
  const text = useText(activityText);
  const { isOperator } = useSession();
  const [open, setOpen] = useState<AuditEventAnswer | undefined>();
  const list = useList('listAuditEvents', {}, { filters: useFilters(isOperator), linked: LINKED });
  return (
    <ListPage
      title={text.activity}
      actions={isOperator ? <Verify organizationId={list.control.textOf('organizationId')} /> : null}
      intro={<p>{text.intro}</p>}
      list={list}
      columns={useColumns(setOpen)}
      keyOf={({ id }) => id}
    >
      {open === undefined ? null : <EventDialog event={open} onClose={() => setOpen(undefined)} />}
    </ListPage>
  );
}

function useFilters(isOperator: boolean): readonly PageFilter[] {
  const text = useText(activityText);
  const results = [
    { value: 'ok', label: text.ok },
    { value: 'refused', label: text.refused },
  ];
  const chains = [{ value: INSTALLATION, label: text.installationChain }];
  return [
    { name: 'text', label: text.text, by: 'text' },
    { name: 'result', label: text.result, by: results },
    { name: 'from', label: text.from, by: 'time' },
    { name: 'to', label: text.to, by: 'time' },
    ...(isOperator ? [{ name: 'organizationId', label: text.chain, by: chains }] : []),
  ];
}

function useColumns(open: (event: AuditEventAnswer) => void): readonly ListColumn<AuditEventAnswer>[] {
  const text = useText(activityText);
  const { language } = useLanguage();
  return [
    { id: 'when', title: text.when, width: 8, sort: 'at', cell: ({ at }) => <TimeAgo at={at} /> },
    { id: 'who', title: text.who, cell: ({ actor }) => <ActorName actor={actor} /> },
    {
      id: 'what',
      title: text.what,
      isName: true,
      share: 1.4,
      cell: (event) => (
        <Button
          variant="subtle"
          size="compact-sm"
          onClick={() => open(event)}
          title={event.action}
          aria-label={`${actionText(event.action, language)}: ${text.details}`}
        >
          {actionText(event.action, language)}
        </Button>
      ),
    },
    {
      id: 'target',
      title: text.target,
      share: 1.2,
      cell: ({ target, before, after }) =>
        target === null ? '' : (nameIn(after, before) ?? <span className="fd-mono">{target.id}</span>),
    },
    { id: 'result', title: text.result, cell: (event) => <Result event={event} /> },
    {
      id: 'address',
      title: text.address,
      width: 9,
      cell: ({ address }) => <span className="fd-mono">{address}</span>,
    },
  ];
}

function Result({ event: { result, reason, occurrences } }: { readonly event: AuditEventAnswer }): ReactNode {
  const [text, format] = [useText(activityText), useFormat()];
  return (
    <StateBadge tone={result === 'ok' ? 'good' : 'bad'}>
      {result === 'ok' ? text.ok : (reason ?? text.refused)}
      {occurrences > 1 ? ` (${text.times(occurrences, format.number(occurrences))})` : null}
    </StateBadge>
  );
}

function Verify({ organizationId }: { readonly organizationId: string }): ReactNode {
  const { api } = useProgram();
  const [text, format] = [useText(activityText), useFormat()];
  const { mutate, data, error, isPending } = useMutation({
    mutationFn: () => api.call('verifyAuditEvents', { query: { organizationId } }),
  });
  const result = data?.body;
  return (
    <>
      <span role="status">
        {result === undefined ? null : result.valid ? (
          <StateBadge tone="good">{text.valid(format.number(result.events))}</StateBadge>
        ) : (
          <StateBadge tone="bad">{text.invalid(String(result.firstInvalid))}</StateBadge>
        )}
      </span>
      {error === null ? null : <Problem error={error} />}
      <Button variant="default" loading={isPending} onClick={() => mutate()} title={text.verifying}>
        {text.verify}
      </Button>
    </>
  );
}
