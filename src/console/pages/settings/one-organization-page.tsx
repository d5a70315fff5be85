/** One organization, for operators: the way to its settings, and its deletion. */
import { Button } from '@mantine/core';
import { Link, useNavigate } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { useAnswer, useChange } from '../../api/queries.ts';
import { useParam } from '../../frame/frontdoor.tsx';
import { AnswerView } from '../../parts/answer-view.tsx';
import { CopyText } from '../../parts/copy-text.tsx';
import { ConfirmDialog } from '../../parts/dialog.tsx';
import { Facts, PageTitle, Panel } from '../../parts/page-title.tsx';
import { useText } from '../../text/language.tsx';
import { settingsText } from './settings-text.ts';

const PAGES = ['frontdoors', 'accounts', 'clients', 'people', 'sessions', 'organization', 'logIns'] as const;

export function OneOrganizationPage(): ReactNode {
  const text = useText(settingsText);
  const organizationId = useParam('organizationId');
  const parameters = { organizationId };
  const answer = useAnswer('getOrganization', { parameters });
  const navigate = useNavigate();
  const [isDeleting, setDeleting] = useState(false);
  const { mutate, error, isPending } = useChange('deleteOrganization', {
    refreshes: ['organization'],
    onDone: () => void navigate({ to: '/settings/organizations' }),
  });
  return (
    <AnswerView answer={answer}>
      {({ body, etag }) => (
        <>
          <PageTitle title={body.name} above={<Link to="/settings/organizations">{text.organizations}</Link>}>
            <Button color="red" onClick={() => setDeleting(true)}>
              {text.deleteOrganization}
            </Button>
          </PageTitle>
          <Panel>
            <Facts facts={[[text.id, <CopyText key="id" value={body.id} />]]} />
            <ul>
              {PAGES.map((page) => (
                <li key={page}>
                  <Link to={`/settings/${page === 'logIns' ? 'log-ins' : page}`} search={{ organizationId }}>
                    {text[page]}
                  </Link>
                </li>
              ))}
            </ul>
          </Panel>
          {isDeleting ? (
            <ConfirmDialog
              title={text.deleteOrganization}
              isOpen
              onClose={() => setDeleting(false)}
              action={text.deleteOrganization}
              typed={body.name}
              error={error}
              isPending={isPending}
              onConfirm={() => mutate({ parameters, ifMatch: etag })}
            >
              <p>{text.deleteOrganizationText}</p>
            </ConfirmDialog>
          ) : null}
        </>
      )}
    </AnswerView>
  );
}
