/** One person: name, role, new password, second factor, removal. */
import { Button, Group } from '@mantine/core';
import { Link, useNavigate } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import type { AnswerOf } from '#contract';
import { useAnswer, useChange } from '../../api/queries.ts';
import { useParam } from '../../frame/frontdoor.tsx';
import { AnswerView } from '../../parts/answer-view.tsx';
import { ConfirmDialog } from '../../parts/dialog.tsx';
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
  const [act, setAct] = useState<'remove' | 'factor' | 'password' | undefined>();
  const [link, setLink] = useState<string | undefined>();
  const close = () => setAct(undefined);
  return (
    <AnswerView answer={answer}>
      {({ body, etag }) => (
        <>
          <PageTitle title={body.name} above={<Link to="/settings/people">{text.people}</Link>}>
            <Group gap="xs">
              <Button variant="default" onClick={() => setAct('password')}>
                {text.newPassword}
              </Button>
              <Button variant="default" disabled={!body.secondFactor} onClick={() => setAct('factor')}>
                {text.removeFactor}
              </Button>
              <Button color="red" onClick={() => setAct('remove')}>
                {text.removePerson}
              </Button>
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
          {act === 'remove' ? <RemovePerson person={body} onClose={close} /> : null}
          {act === 'factor' ? <RemoveFactor person={body} onClose={close} /> : null}
          {act === 'password' ? <NewPassword person={body} onClose={close} onLink={setLink} /> : null}
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

interface OneProps {
  readonly person: Person;
  readonly onClose: () => void;
}

function RemovePerson({ person, onClose }: OneProps): ReactNode {
  const text = useText(settingsText);
  const navigate = useNavigate();
  const { mutate, error, isPending } = useChange('deletePerson', {
    refreshes: ['person'],
    onDone: () => void navigate({ to: '/settings/people' }),
  });
  return (
    <ConfirmDialog
      title={text.removePerson}
      isOpen
      onClose={onClose}
      action={text.removePerson}
      typed={person.name}
      error={error}
      isPending={isPending}
      onConfirm={() => mutate({ parameters: { id: person.id } })}
    >
      <p>{text.removePersonText}</p>
    </ConfirmDialog>
  );
}

function RemoveFactor({ person, onClose }: OneProps): ReactNode {
  const text = useText(settingsText);
  const { mutate, error, isPending } = useChange('removePersonSecondFactor', {
    refreshes: ['person'],
    onDone: onClose,
  });
  return (
    <ConfirmDialog
      title={text.removeFactor}
      isOpen
      onClose={onClose}
      action={text.removeFactor}
      error={error}
      isPending={isPending}
      onConfirm={() => mutate({ parameters: { id: person.id } })}
    >
      <p>{text.removeFactorText}</p>
    </ConfirmDialog>
  );
}

function NewPassword({
  person,
  onClose,
  onLink,
}: OneProps & { readonly onLink: (link: string) => void }): ReactNode {
  const text = useText(settingsText);
  const { mutate, error, isPending } = useChange('createPasswordLink', {
    refreshes: [],
    onDone: ({ body }) => {
      onClose();
      onLink(body.link);
    },
  });
  return (
    <ConfirmDialog
      title={text.newPassword}
      isOpen
      onClose={onClose}
      action={text.makeLink}
      error={error}
      isPending={isPending}
      onConfirm={() => mutate({ parameters: { id: person.id } })}
    >
      <p>{text.newPasswordText}</p>
    </ConfirmDialog>
  );
}
