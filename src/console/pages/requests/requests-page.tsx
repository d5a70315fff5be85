/** The inspector: recorded requests of a share, which appear as they come, until the list is paused. */
import { Button } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import type { AnswerOf } from '#contract';
import { useHeldChanges } from '../../api/use-changes.ts';
import { useFrontdoorId, useParam } from '../../frame/frontdoor.tsx';
import { ListPanel } from '../../parts/list-page.tsx';
import type { ListColumn } from '../../parts/list-table.tsx';
import { TimeAgo } from '../../parts/time-ago.tsx';
import { useList } from '../../parts/use-list.ts';
import { useFormat, useText } from '../../text/language.tsx';
import { RecordingPanel } from './recording-panel.tsx';
import { VisitCommand } from '../shares/visit-command.tsx';
import { requestsText } from './requests-text.ts';

type InspectedRequest = AnswerOf<'listInspectedRequests'>['content'][number];

const CLASSES = ['2xx', '3xx', '4xx', '5xx', 'none'] as const;

export function RequestsPage(): ReactNode {
  const text = useText(requestsText);
  const parameters = { frontdoorId: useFrontdoorId(), token: useParam('token') };
  const [isPaused, setPaused] = useState(false);
  useHeldChanges(isPaused);
  const classes = CLASSES.map((value) => ({ value, label: value === 'none' ? text.noStatus : value }));
  const filters = [
    { name: 'text', label: text.text, by: 'text' },
    { name: 'statusClass', label: text.statusClass, by: classes },
  ] as const;
  return (
    <>
      <RecordingPanel parameters={parameters} />
      <ListPanel
        title={text.requests}
        actions={
          <Button variant="default" aria-pressed={isPaused} onClick={() => setPaused(!isPaused)}>
            {isPaused ? text.go : text.pause}
          </Button>
        }
        intro={<p role="status">{isPaused ? text.paused : null}</p>}
        list={useList('listInspectedRequests', { parameters }, { filters, linked: ['from', 'to'] })}
        columns={useColumns(parameters)}
        keyOf={({ id }) => id}
        empty={
          <>
            <p>{text.none}</p>
            <VisitCommand />
          </>
        }
      />
    </>
  );
}

function useColumns(parameters: {
  readonly frontdoorId: string;
  readonly token: string;
}): readonly ListColumn<InspectedRequest>[] {
  const [text, format] = [useText(requestsText), useFormat()];
  return [
    { id: 'when', title: text.when, width: 8, sort: 'at', cell: ({ at }) => <TimeAgo at={at} /> },
    {
      id: 'request',
      title: text.request,
      isName: true,
      share: 2,
      cell: ({ id, method, target }) => (
        <Link
          className="fd-mono fd-small"
          to="/frontdoors/$frontdoorId/shares/$token/requests/$requestId"
          params={{ ...parameters, requestId: id }}
          aria-label={text.openRequest(`${method} ${target}`)}
        >
          {`${method} ${target}`}
        </Link>
      ),
    },
    {
      id: 'status',
      title: text.status,
      width: 6,
      cell: ({ status }) => (status === 0 ? text.noStatus : String(status)),
    },
    {
      id: 'took',
      title: text.took,
      width: 6,
      cell: ({ timingsMs: { done } }) => (done === null ? '' : format.duration(done)),
      isNumber: true,
    },
    {
      id: 'sent',
      title: text.sent,
      width: 6,
      cell: ({ requestBytes }) => format.bytes(requestBytes),
      isNumber: true,
    },
    {
      id: 'received',
      title: text.received,
      width: 6,
      cell: ({ answerBytes }) => format.bytes(answerBytes),
      isNumber: true,
    },
    { id: 'identity', title: text.identity, cell: ({ identity, client }) => identity ?? client },
  ];
}
