/** The inspector: recorded requests of a share, which appear as they come, until the list is paused. */
import { Button } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { useHeldChanges } from '../../api/changes.ts';
import { useAnswer } from '../../api/queries.ts';
import { useFrontdoorId, useParam } from '../../frame/frontdoor.tsx';
import { AnswerView } from '../../parts/answer-view.tsx';
import { ChoiceFilter, Filters, TextFilter } from '../../parts/filters.tsx';
import { ListTable, PAGE_SIZE } from '../../parts/list-table.tsx';
import { Panel } from '../../parts/page-title.tsx';
import { useSearchState } from '../../parts/search-state.tsx';
import { TimeAgo } from '../../parts/time-ago.tsx';
import { useFormat, useText } from '../../text/language.tsx';
import { RecordingPanel } from './recording-panel.tsx';
import { requestsText } from './requests-text.ts';

const CLASSES = ['2xx', '3xx', '4xx', '5xx', 'none'] as const;

export function RequestsPage(): ReactNode {
  const [text, format] = [useText(requestsText), useFormat()];
  const parameters = { frontdoorId: useFrontdoorId(), token: useParam('token') };
  const control = useSearchState();
  const [isPaused, setPaused] = useState(false);
  useHeldChanges(isPaused);
  const { page, ...filters } = control.search;
  const list = useAnswer('listInspectedRequests', {
    parameters,
    query: { ...filters, page: page ?? 0, size: PAGE_SIZE },
  });
  return (
    <>
      <RecordingPanel parameters={parameters} />
      <Panel
        title={text.requests}
        actions={
          <Button variant="default" aria-pressed={isPaused} onClick={() => setPaused(!isPaused)}>
            {isPaused ? text.go : text.pause}
          </Button>
        }
      >
        <p role="status">{isPaused ? text.paused : null}</p>
        <Filters control={control}>
          <TextFilter control={control} name="text" label={text.text} />
          <ChoiceFilter
            control={control}
            name="statusClass"
            label={text.statusClass}
            choices={CLASSES.map((value) => ({ value, label: value === 'none' ? text.noStatus : value }))}
          />
        </Filters>
        <AnswerView answer={list}>
          {({ body }) => (
            <ListTable
              label={text.requests}
              page={body}
              control={control}
              keyOf={({ id }) => id}
              empty={<p>{text.none}</p>}
              columns={[
                { title: text.when, sort: 'at', cell: ({ at }) => <TimeAgo at={at} /> },
                {
                  title: text.request,
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
                { title: text.status, cell: ({ status }) => (status === 0 ? text.noStatus : String(status)) },
                {
                  title: text.took,
                  cell: ({ timingsMs: { done } }) => (done === null ? '' : format.duration(done)),
                  isNumber: true,
                },
                { title: text.sent, cell: ({ requestBytes }) => format.bytes(requestBytes), isNumber: true },
                {
                  title: text.received,
                  cell: ({ answerBytes }) => format.bytes(answerBytes),
                  isNumber: true,
                },
                { title: text.identity, cell: ({ identity, client }) => identity ?? client },
              ]}
            />
          )}
        </AnswerView>
      </Panel>
    </>
  );
}
