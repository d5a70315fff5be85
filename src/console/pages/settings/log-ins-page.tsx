/** The identity providers with which people log in at the console. */
import { Button } from '@mantine/core';
import { useState, type ReactNode } from 'react';
import { ConfirmedAction } from '../../parts/action-button.tsx';
import { CopyText } from '../../parts/copy-text.tsx';
import { ListPage } from '../../parts/list-page.tsx';
import { useList } from '../../parts/use-list.ts';
import { useText } from '../../text/language.tsx';
import { AddLogIn } from './add-log-in.tsx';
import { EndedSessions } from './ended-sessions.tsx';
import { OtherOrganization, useOrganizationId } from './organization-choice.tsx';
import { settingsText } from './settings-text.ts';

export function LogInsPage(): ReactNode {
  const text = useText(settingsText);
  const organizationId = useOrganizationId();
  const [isAdding, setAdding] = useState(false);
  return (
    <ListPage
      title={text.logIns}
      actions={<Button onClick={() => setAdding(true)}>{text.addLogIn}</Button>}
      intro={
        <>
          <OtherOrganization />
          <p>{text.logInsText}</p>
        </>
      }
      list={useList('listConsoleLogIns', { query: { organizationId } })}
      columns={[
        { id: 'provider', title: text.provider, isName: true, cell: ({ name }) => name },
        {
          id: 'callback',
          title: text.callback,
          share: 2,
          cell: ({ callbackUrl }) => <CopyText value={callbackUrl} />,
        },
        {
          id: 'roleRules',
          title: text.roleRules,
          cell: ({ roles }) =>
            roles.length === 0
              ? text.noRules
              : roles
                  .map(({ group, email, role }) => `${group ?? email ?? ''}: ${text.roleName(role)}`)
                  .join('; '),
        },
        {
          id: 'end',
          title: text.end,
          width: 7,
          cell: ({ id, name, authProviderId }) => (
            <ConfirmedAction
              operation="deleteConsoleLogIn"
              input={{ parameters: { id } }}
              refreshes={['console-log-in']}
              label={text.end}
              full={`${text.endLogIn}: ${name}`}
              title={text.endLogIn}
            >
              <p>{text.endLogInText}</p>
              <EndedSessions query={{ organizationId, authProviderId }} />
            </ConfirmedAction>
          ),
        },
      ]}
      keyOf={({ id }) => id}
      empty={<p>{text.noLogIns}</p>}
    >
      {isAdding ? <AddLogIn organizationId={organizationId} onClose={() => setAdding(false)} /> : null}
    </ListPage>
  );
}
