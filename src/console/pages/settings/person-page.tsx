/** One person: name, role, second factor, removal. */
import { Button, Group } from '@mantine/core';
import { Link, useNavigate } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import type { AnswerOf } from '#contract';
import { useAnswer, useChange } from '../../api/queries.ts';
import { useParam } from '../../frame/frontdoor.tsx';
import { AnswerView } from '../../parts/answer-view.tsx';
import { ConfirmDialog } from '../../parts/dialog.tsx';
import { Form } from '../../parts/form.tsx';
import { NameField } from '../../parts/name-field.tsx';
import { Facts, PageTitle, Panel } from '../../parts/page-title.tsx';
import { partsText } from '../../parts/parts-text.ts';
import { ExactTime, TimeAgo } from '../../parts/time-ago.tsx';
import { useText } from '../../text/language.tsx';
import { RoleChoice, type RoleName } from './role-choice.tsx';
import { settingsText } from './settings-text.ts';

type Person = AnswerOf<'getPerson'>;

export function PersonPage(): ReactNode {
  const [text, common] = [useText(settingsText), useText(partsText)];
  const id = useParam('personId');
  const answer = useAnswer('getPerson', { parameters: { id } });
  const [act, setAct] = useState<'remove' | 'factor' | undefined>();
  const close = () => setAct(undefined);
  return (
    <AnswerView answer={answer}>
      {({ body, etag }) => (
        <>
          <PageTitle title={body.name} above={<Link to="/settings/people">{text.people}</Link>}>
            <Group gap="xs">
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
            <ChangePerson key={etag} person={body} etag={etag} onStale={() => void answer.refetch()} />
          </Panel>
          {act === 'remove' ? <RemovePerson person={body} onClose={close} /> : null}
          {act === 'factor' ? <RemoveFactor person={body} onClose={close} /> : null}
        </>
      )}
    </AnswerView>
  );
}

function ChangePerson(props: {
  readonly person: Person;
  readonly etag: string | undefined;
  readonly onStale: () => void;
}): ReactNode {
  const text = useText(settingsText);
  const { person, etag, onStale } = props;
  const [name, setName] = useState(person.name);
  const [role, setRole] = useState<RoleName>(person.role ?? 'reader');
  const { mutate, error, isPending, reset } = useChange('changePerson', { refreshes: ['person'] });
  return (
    <Form
      fields={['name']}
      error={error}
      isPending={isPending}
      isDisabled={name === person.name && role === person.role}
      submit={text.save}
      onStale={() => {
        onStale();
        reset();
      }}
      onSubmit={() => mutate({ parameters: { id: person.id }, body: { name, role }, ifMatch: etag })}
    >
      <p>{person.role === undefined ? text.noRole : text.changeRoleText}</p>
      <NameField label={text.name} value={name} onChange={setName} />
      <RoleChoice label={text.role} value={role} onChange={setRole} />
    </Form>
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
