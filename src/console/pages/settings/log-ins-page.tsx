/** The identity providers with which people log in at the console. */
import { Button } from '@mantine/core';
import { useState, type ReactNode } from 'react';
import type { AnswerOf } from '#contract';
import { useAnswer, useChange } from '../../api/queries.ts';
import { AnswerView } from '../../parts/answer-view.tsx';
import { CopyText } from '../../parts/copy-text.tsx';
import { ConfirmDialog } from '../../parts/dialog.tsx';
import { ListTable, PAGE_SIZE } from '../../parts/list-table.tsx';
import { PageTitle, Panel } from '../../parts/page-title.tsx';
import { useSearchState } from '../../parts/search-state.tsx';
import { useText } from '../../text/language.tsx';
import { AddLogIn } from './add-log-in.tsx';
import { EndedSessions } from './ended-sessions.tsx';
import { OtherOrganization, useOrganizationId } from './organization-choice.tsx';
import { settingsText } from './settings-text.ts';

type LogIn = AnswerOf<'listConsoleLogIns'>['content'][number];

export function LogInsPage(): ReactNode {
  const text = useText(settingsText);
  const control = useSearchState();
  const organizationId = useOrganizationId();
  const [isAdding, setAdding] = useState(false);
  const [ended, setEnded] = useState<LogIn | undefined>();
  const close = () => setEnded(undefined);
  const list = useAnswer('listConsoleLogIns', {
    query: { organizationId, page: control.search['page'] ?? 0, size: PAGE_SIZE },
  });
  const { mutate, error, isPending } = useChange('deleteConsoleLogIn', {
    refreshes: ['console-log-in'],
    onDone: close,
  });
  return (
    <>
      <PageTitle title={text.logIns}>
        <Button onClick={() => setAdding(true)}>{text.addLogIn}</Button>
      </PageTitle>
      <OtherOrganization />
      <p>{text.logInsText}</p>
      <Panel>
        <AnswerView answer={list}>
          {({ body }) => (
            <ListTable
              label={text.logIns}
              page={body}
              control={{ ...control, isFiltered: false }}
              keyOf={({ id }) => id}
              empty={<p>{text.noLogIns}</p>}
              columns={[
                { title: text.provider, cell: ({ name }) => name },
                { title: text.callback, cell: ({ callbackUrl }) => <CopyText value={callbackUrl} /> },
                {
                  title: text.roleRules,
                  cell: ({ roles }) =>
                    roles.length === 0
                      ? text.noRules
                      : roles
                          .map(({ group, email, role }) => `${group ?? email ?? ''}: ${text.roleName(role)}`)
                          .join('; '),
                },
                {
                  title: text.end,
                  cell: (logIn) => (
                    <Button
                      size="compact-sm"
                      variant="default"
                      onClick={() => setEnded(logIn)}
                      aria-label={`${text.endLogIn}: ${logIn.name}`}
                    >
                      {text.end}
                    </Button>
                  ),
                },
              ]}
            />
          )}
        </AnswerView>
      </Panel>
      {isAdding ? <AddLogIn organizationId={organizationId} onClose={() => setAdding(false)} /> : null}
      {ended === undefined ? null : (
        <ConfirmDialog
          title={text.endLogIn}
          isOpen
          onClose={close}
          action={text.end}
          error={error}
          isPending={isPending}
          onConfirm={() => mutate({ parameters: { id: ended.id } })}
        >
          <p>{text.endLogInText}</p>
          <EndedSessions query={{ organizationId, authProviderId: ended.authProviderId }} />
        </ConfirmDialog>
      )}
    </>
  );
}
