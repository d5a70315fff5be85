/** Requests that failed or were refused, by cause and one by one, and a field for the error id on a visitor's page. */
import { Button, Group, TextInput } from '@mantine/core';
import { Link, useNavigate } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import type { AnswerOf } from '#contract';
import { useFrontdoorId } from '../../frame/frontdoor.tsx';
import { ApiText } from '../../parts/api-text.tsx';
import { EmptyCommand } from '../../parts/empty-command.tsx';
import { ListPage } from '../../parts/list-page.tsx';
import type { ListColumn } from '../../parts/list-table.tsx';
import { Panel } from '../../parts/page-title.tsx';
import { TimeAgo } from '../../parts/time-ago.tsx';
import { useList } from '../../parts/use-list.ts';
import { useText } from '../../text/language.tsx';
import { brokenAt } from './failed-way.ts';
import { FailureCausesTable } from './failure-causes-table.tsx';
import { failuresText } from './failures-text.ts';

type Failure = AnswerOf<'listFailures'>['content'][number];

const CLASSES = ['4xx', '5xx', 'none'] as const;

export function FailuresPage(): ReactNode {
  const text = useText(failuresText);
  const frontdoorId = useFrontdoorId();
  const classes = CLASSES.map((value) => ({ value, label: value === 'none' ? text.noStatus : value }));
  const filters = [
    { name: 'text', label: text.text, by: 'text' },
    { name: 'shareToken', label: text.share, by: 'text' },
    { name: 'statusClass', label: text.statusClass, by: classes },
  ] as const;
  const linked = ['code', 'hop', 'environmentId', 'providerId', 'from', 'to'];
  const list = useList('listFailures', { parameters: { frontdoorId } }, { filters, linked });
  return (
    <ListPage
      title={text.failures}
      intro={
        <>
          <Panel>
            <FindById frontdoorId={frontdoorId} />
          </Panel>
          <FailureCausesTable query={list.query} />
        </>
      }
      list={list}
      columns={useColumns(frontdoorId)}
      keyOf={({ errorId }) => errorId}
      empty={
        <>
          <p>{text.none}</p>
          <EmptyCommand kind="why" />
        </>
      }
    />
  );
}

function useColumns(frontdoorId: string): readonly ListColumn<Failure>[] {
  const text = useText(failuresText);
  return [
    {
      id: 'when',
      title: text.when,
      isName: true,
      width: 8,
      sort: 'at',
      cell: ({ at, errorId }) => (
        <Link to="/frontdoors/$frontdoorId/failures/$errorId" params={{ frontdoorId, errorId }}>
          <TimeAgo at={at} />
        </Link>
      ),
    },
    {
      id: 'status',
      title: text.status,
      width: 6,
      cell: ({ status }) => (status === 0 ? text.noStatus : String(status)),
    },
    { id: 'hop', title: text.hop, width: 8, cell: ({ hop, status }) => text.hopName(brokenAt(hop, status)) },
    {
      id: 'cause',
      title: text.cause,
      share: 1.6,
      cell: ({ cause, code }) => <ApiText code={code}>{cause}</ApiText>,
    },
    {
      id: 'request',
      title: text.request,
      share: 1.6,
      cell: ({ method, host, path }) => (
        <span className="fd-mono fd-small">{`${method} ${host}${path}`}</span>
      ),
    },
    {
      id: 'share',
      title: text.share,
      cell: ({ shareToken }) =>
        shareToken === null ? (
          text.deletedShare
        ) : (
          <Link to="/frontdoors/$frontdoorId/shares/$token" params={{ frontdoorId, token: shareToken }}>
            {shareToken}
          </Link>
        ),
    },
  ];
}

function FindById({ frontdoorId }: { readonly frontdoorId: string }): ReactNode {
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
