/** The people of an organization, and open invitations. */
import { Button, NativeSelect, TextInput } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import type { AnswerOf } from '#contract';
import { useAnswer, useChange, useIdempotencyKey } from '../../api/queries.ts';
import { ConfirmedAction } from '../../parts/action-button.tsx';
import { AnswerView } from '../../parts/answer-view.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { useNameFilter } from '../../parts/filters.tsx';
import { Form, useFieldError } from '../../parts/form.tsx';
import { useFormInAddress } from '../../parts/form-in-address.ts';
import { ListPage } from '../../parts/list-page.tsx';
import { ListTable, type ListColumn } from '../../parts/list-table.tsx';
import { NameField } from '../../parts/name-field.tsx';
import { Panel } from '../../parts/page-title.tsx';
import { partsText } from '../../parts/parts-text.ts';
import { useSearchState } from '../../parts/search-state.tsx';
import { SecretOnceDialog } from '../../parts/secret-once.tsx';
import { StateBadge } from '../../parts/state-badge.tsx';
import { TimeAgo } from '../../parts/time-ago.tsx';
import { useList } from '../../parts/use-list.ts';
import { useTableView } from '../../parts/use-table-view.ts';
import { useFormat, useText } from '../../text/language.tsx';
import { OtherOrganization, useOrganizationId } from './organization-choice.tsx';
import { RoleChoice, type RoleName } from './role-choice.tsx';
import { settingsText } from './settings-text.ts';

type Person = AnswerOf<'listPeople'>['content'][number];

const MAX_INVITATIONS = 100;
const DAY_SECONDS = 86_400;
const LIFETIME_DAYS = [1, 7, 30] as const;
const DEFAULT_DAYS = 7;

export function PeoplePage(): ReactNode {
  const text = useText(settingsText);
  const organizationId = useOrganizationId();
  const form = useFormInAddress();
  const [link, setLink] = useState<string | undefined>();
  return (
    <ListPage
      title={text.people}
      actions={<Button onClick={form.open}>{text.invite}</Button>}
      intro={<OtherOrganization />}
      list={useList('listPeople', { query: { organizationId } }, { filters: [useNameFilter()] })}
      columns={useColumns()}
      keyOf={({ id }) => id}
    >
      <Invitations organizationId={organizationId} />
      {form.isOpen ? (
        <Invite
          organizationId={organizationId}
          onClose={form.close}
          onLink={(made) => {
            form.close();
            setLink(made);
          }}
        />
      ) : null}
      <SecretOnceDialog
        title={text.invitationMade}
        facts={link === undefined ? undefined : [[text.link, link]]}
        onClose={() => setLink(undefined)}
      >
        <p>{text.inviteText}</p>
      </SecretOnceDialog>
    </ListPage>
  );
}

function useColumns(): readonly ListColumn<Person>[] {
  const [text, common] = [useText(settingsText), useText(partsText)];
  return [
    {
      id: 'name',
      title: text.name,
      isName: true,
      sort: 'name',
      cell: ({ id, name }) => (
        <Link to="/settings/people/$personId" params={{ personId: id }}>
          {name}
        </Link>
      ),
    },
    { id: 'email', title: text.email, share: 1.2, sort: 'email', cell: ({ email }) => email ?? common.none },
    {
      id: 'role',
      title: text.role,
      width: 9,
      sort: 'role',
      cell: ({ role }) =>
        role === undefined ? <StateBadge tone="warn">{text.noRole}</StateBadge> : text.roleName(role),
    },
    {
      id: 'secondFactor',
      title: text.secondFactor,
      width: 9,
      cell: ({ secondFactor }) => (secondFactor ? text.on : text.off),
    },
    { id: 'lastSeen', title: text.lastSeen, width: 9, cell: ({ lastSeenAt }) => <TimeAgo at={lastSeenAt} /> },
  ];
}

function Invitations({ organizationId }: { readonly organizationId: string }): ReactNode {
  const text = useText(settingsText);
  const control = useSearchState();
  const view = useTableView('invitations');
  const list = useAnswer('listInvitations', { query: { organizationId, size: MAX_INVITATIONS } });
  return (
    <Panel title={text.invitations}>
      <AnswerView answer={list}>
        {({ body }) => (
          <ListTable
            label={text.invitations}
            page={{ ...body, totalPages: 1 }}
            control={control}
            view={view}
            keyOf={({ id }) => id}
            columns={[
              { id: 'name', title: text.name, isName: true, cell: ({ name }) => name },
              { id: 'role', title: text.role, width: 9, cell: ({ role }) => text.roleName(role) },
              {
                id: 'invitedBy',
                title: text.invitedBy,
                cell: ({ createdBy: { kind, id, name } }) =>
                  kind === 'system' ? text.invitedBySystem : (name ?? id),
              },
              {
                id: 'expires',
                title: text.expires,
                width: 8,
                cell: ({ expiresAt }) => <TimeAgo at={expiresAt} />,
              },
              {
                id: 'withdraw',
                title: text.withdraw,
                width: 9,
                cell: ({ id, name }) => (
                  <ConfirmedAction
                    operation="deleteInvitation"
                    input={{ parameters: { id } }}
                    refreshes={['invitation']}
                    label={text.withdraw}
                    full={`${text.withdraw}: ${name}`}
                    title={text.withdraw}
                  >
                    <p>{text.withdrawText(name)}</p>
                  </ConfirmedAction>
                ),
              },
            ]}
          />
        )}
      </AnswerView>
    </Panel>
  );
}

function Invite(props: {
  readonly organizationId: string;
  readonly onClose: () => void;
  readonly onLink: (link: string) => void;
}): ReactNode {
  const [text, format] = [useText(settingsText), useFormat()];
  const { organizationId, onClose, onLink } = props;
  const [name, setName] = useState('');
  const [email, setEmail] = useState('');
  const [role, setRole] = useState<RoleName>('reader');
  const [days, setDays] = useState<number>(DEFAULT_DAYS);
  const idempotencyKey = useIdempotencyKey();
  const { mutate, error, isPending } = useChange('createInvitation', {
    refreshes: ['invitation'],
    onDone: ({ body }) => onLink(body.link),
  });
  const submit = () =>
    mutate({
      body: {
        name,
        role,
        organizationId,
        lifetimeSeconds: days * DAY_SECONDS,
        ...(email === '' ? {} : { email }),
      },
      idempotencyKey,
    });
  return (
    <Dialog title={text.invite} isOpen onClose={onClose}>
      <Form
        fields={['name', 'email']}
        error={error}
        isPending={isPending}
        submit={text.invite}
        onCancel={onClose}
        onSubmit={submit}
      >
        <NameField isFirst label={text.name} value={name} onChange={setName} />
        <EmailInput value={email} onChange={setEmail} />
        <RoleChoice label={text.role} value={role} onChange={setRole} />
        <NativeSelect
          mt="sm"
          label={text.lifetime}
          value={String(days)}
          onChange={({ currentTarget }) => setDays(Number(currentTarget.value))}
          data={LIFETIME_DAYS.map((count) => ({
            value: String(count),
            label: text.lifetimeDays(count, format.number(count)),
          }))}
        />
      </Form>
    </Dialog>
  );
}

function EmailInput(props: {
  readonly value: string;
  readonly onChange: (value: string) => void;
}): ReactNode {
  const text = useText(settingsText);
  return (
    <TextInput
      my="sm"
      type="email"
      maxLength={254}
      label={text.email}
      value={props.value}
      error={useFieldError('email')}
      onChange={({ currentTarget }) => props.onChange(currentTarget.value)}
    />
  );
}
