/** One organization, for operators: the way to its settings, and its deletion. */
import { Link, useNavigate } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useAnswer } from '../../api/queries.ts';
import { useParam } from '../../frame/frontdoor.tsx';
import { AnswerView } from '../../parts/answer-view.tsx';
import { CopyText } from '../../parts/copy-text.tsx';
import { DeleteButton } from '../../parts/delete-button.tsx';
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
  return (
    <AnswerView answer={answer}>
      {({ body, etag }) => (
        <>
          <PageTitle title={body.name} above={<Link to="/settings/organizations">{text.organizations}</Link>}>
            <DeleteButton
              operation="deleteOrganization"
              kind="organization"
              input={{ parameters, ifMatch: etag }}
              label={text.deleteOrganization}
              title={text.deleteOrganization}
              typed={body.name}
              onDeleted={() => void navigate({ to: '/settings/organizations' })}
            >
              <p>{text.deleteOrganizationText}</p>
            </DeleteButton>
          </PageTitle>
          <Panel>
            <Facts facts={[[text.id, <CopyText key="id" value={body.id} />]]} />
            <ul className="fd-plain">
              {PAGES.map((page) => (
                <li key={page}>
                  <Link to={`/settings/${page === 'logIns' ? 'log-ins' : page}`} search={{ organizationId }}>
                    {text[page]}
                  </Link>
                </li>
              ))}
            </ul>
          </Panel>
        </>
      )}
    </AnswerView>
  );
}
