/** Requests that failed or were refused, and a field for the error id on a visitor's page. */
import { Button, Group, TextInput } from '@mantine/core';
import { Link, useNavigate } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { useAnswer } from '../../api/queries.ts';
import { useFrontdoorId } from '../../frame/frontdoor.tsx';
import { ApiText } from '../../parts/api-text.tsx';
import { AnswerView } from '../../parts/answer-view.tsx';
import { ChoiceFilter, Filters, TextFilter } from '../../parts/filters.tsx';
import { ListTable, PAGE_SIZE } from '../../parts/list-table.tsx';
import { PageTitle, Panel } from '../../parts/page-title.tsx';
import { useSearchState } from '../../parts/search-state.tsx';
import { TimeAgo } from '../../parts/time-ago.tsx';
import { useText } from '../../text/language.tsx';
import { brokenAt } from './failed-way.ts';
import { failuresText } from './failures-text.ts';

const CLASSES = ['4xx', '5xx', 'none'] as const;

export function FailuresPage(): ReactNode {
  const text = useText(failuresText);
  const frontdoorId = useFrontdoorId();
  const control = useSearchState();
  const { page, ...filters } = control.search;
  const list = useAnswer('listFailures', {
    parameters: { frontdoorId },
    query: { ...filters, page: page ?? 0, size: PAGE_SIZE },
  });
  return (
    <>
      <PageTitle title={text.failures} />
      <Panel>
        <FindById frontdoorId={frontdoorId} />
      </Panel>
      <Panel>
        <Filters control={control}>
          <TextFilter control={control} name="text" label={text.text} />
          <TextFilter control={control} name="shareToken" label={text.share} />
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
              label={text.failures}
              page={body}
              control={control}
              keyOf={({ errorId }) => errorId}
              empty={<p>{text.none}</p>}
              columns={[
                {
                  title: text.when,
                  sort: 'at',
                  cell: ({ at, errorId }) => (
                    <Link to="/frontdoors/$frontdoorId/failures/$errorId" params={{ frontdoorId, errorId }}>
                      <TimeAgo at={at} />
                    </Link>
                  ),
                },
                { title: text.status, cell: ({ status }) => (status === 0 ? text.noStatus : String(status)) },
                { title: text.hop, cell: ({ hop, status }) => text.hopName(brokenAt(hop, status)) },
                { title: text.cause, cell: ({ cause }) => <ApiText>{cause}</ApiText> },
                {
                  title: text.request,
                  cell: ({ method, host, path }) => (
                    <span className="fd-mono fd-small">{`${method} ${host}${path}`}</span>
                  ),
                },
                {
                  title: text.share,
                  cell: ({ shareToken }) =>
                    shareToken === null ? (
                      text.deletedShare
                    ) : (
                      <Link
                        to="/frontdoors/$frontdoorId/shares/$token"
                        params={{ frontdoorId, token: shareToken }}
                      >
                        {shareToken}
                      </Link>
                    ),
                },
              ]}
            />
          )}
        </AnswerView>
      </Panel>
    </>
  );
}

export function FindById({ frontdoorId }: { readonly frontdoorId: string }): ReactNode {
  const text = useText(failuresText);
  const navigate = useNavigate();
  const [id, setId] = useState('');
  const errorId = id.trim();
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (errorId !== '')
          void navigate({
            to: '/frontdoors/$frontdoorId/failures/$errorId',
            params: { frontdoorId, errorId },
          });
      }}
    >
      <Group align="end">
        <TextInput
          label={text.findById}
          description={text.findByIdHint}
          value={id}
          onChange={({ currentTarget }) => setId(currentTarget.value)}
          autoComplete="off"
          spellCheck={false}
        />
        <Button type="submit" disabled={errorId === ''}>
          {text.find}
        </Button>
      </Group>
    </form>
  );
}
