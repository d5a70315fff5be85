/** One person: name, role, new password, second factor, removal. */
import { Group } from '@mantine/core';
import { Link, useNavigate } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import type { AnswerOf } from '#contract';
import { useAnswer, useChange } from '../../api/queries.ts';
import { useParam } from '../../frame/frontdoor.tsx';
import { ConfirmedAction } from '../../parts/action-button.tsx';
import { AnswerView } from '../../parts/answer-view.tsx';
import { DeleteButton } from '../../parts/delete-button.tsx';
import { EditForm } from '../../parts/edit-form.tsx';
import { NameField } from '../../parts/name-field.tsx';
import { Facts, PageTitle, Panel } from '../../parts/page-title.tsx';
import { partsText } from '../../parts/parts-text.ts';
import { SecretOnceDialog } from '../../parts/secret-once.tsx';
import { ExactTime, TimeAgo } from '../../parts/time-ago.tsx';
import { reloadOf, useEdit, type Editable } from '../../parts/use-edit.ts';
import { useText } from '../../text/language.tsx';
import { RoleChoice, type RoleName } from './role-choice.tsx';
import { settingsText } from './settings-text.ts';

type Person = AnswerOf<'getPerson'>;

export function PersonPage(): ReactNode {
  const [text, common] = [useText(settingsText), useText(partsText)];
  const id = useParam('personId');
  const answer = useAnswer('getPerson', { parameters: { id } });
  const navigate = useNavigate();
  const [link, setLink] = useState<string | undefined>();
  return (
    <AnswerView answer={answer}>
      {({ body, etag }) => (
        <>
          <PageTitle title={body.name} above={<Link to="/settings/people">{text.people}</Link>}>
            <Group gap="xs">
              <ConfirmedAction
                operation="createPasswordLink"
                input={{ parameters: { id } }}
                refreshes={[]}
                label={text.newPassword}
                action={text.makeLink}
                title={text.newPassword}
                size="sm"
                onDone={({ body: { link: made } }) => setLink(made)}
              >
                <p>{text.newPasswordText}</p>
              </ConfirmedAction>
              <ConfirmedAction
                operation="removePersonSecondFactor"
                input={{ parameters: { id } }}
                refreshes={['person']}
                label={text.removeFactor}
                title={text.removeFactor}
                isDisabled={!body.secondFactor}
                size="sm"
              >
                <p>{text.removeFactorText}</p>
              </ConfirmedAction>
              <DeleteButton
                operation="deletePerson"
                input={{ parameters: { id } }}
                kind="person"
                label={text.removePerson}
                title={text.removePerson}
                typed={body.name}
                onDeleted={() => void navigate({ to: '/settings/people' })}
              >
                <p>{text.removePersonText}</p>
              </DeleteButton>
            </Group>
          </PageTitle>
          <Panel>
            <Facts
              facts={[
                [text.email, body.email ?? common.none],
                [text.secondFactor, body.secondFactor ? text.on : text.off],
                [text.lastSeen, <TimeAgo key="seen" at={body.lastSeenAt} />],
                [text.created, <ExactTime key="created" at={body.createdAt} />],
              ]}
            />
          </Panel>
          <Panel title={text.changeRole}>
            <ChangePerson key={body.id} now={{ body, etag }} reload={reloadOf(answer)} />
          </Panel>
          <SecretOnceDialog
            title={text.newPasswordMade}
            facts={link === undefined ? undefined : [[text.link, link]]}
            onClose={() => setLink(undefined)}
          >
            <p>{text.newPasswordSend}</p>
          </SecretOnceDialog>
        </>
      )}
    </AnswerView>
  );
}

function ChangePerson(props: Editable<Person>): ReactNode {
  const text = useText(settingsText);
  const edit = useEdit({
    ...props,
    draftOf: ({ name, role }) => ({ name, role: role ?? ('reader' satisfies RoleName) }),
  });
  const change = useChange('changePerson', { refreshes: ['person'], onDone: edit.saved });
  const { body, etag } = edit.base;
  return (
    <EditForm
      edit={edit}
      change={change}
      fields={['name']}
      submit={text.save}
      onSubmit={() => change.mutate({ parameters: { id: body.id }, body: edit.draft, ifMatch: etag })}
    >
      <p>{body.role === undefined ? text.noRole : text.changeRoleText}</p>
      <NameField label={text.name} value={edit.draft.name} onChange={(name) => edit.type({ name })} />
      <RoleChoice label={text.role} value={edit.draft.role} onChange={(role) => edit.type({ role })} />
    </EditForm>
  );
}
