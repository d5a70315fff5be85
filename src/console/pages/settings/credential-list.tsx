/** API accounts or OAuth clients: a list, and the creation of one, whose secret is shown once. */
import { Button, Checkbox, Fieldset } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { useIdempotencyKey } from '../../api/queries.ts';
import { useSession } from '../../api/session.tsx';
import { AnswerView } from '../../parts/answer-view.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Filters, TextFilter } from '../../parts/filters.tsx';
import { Form } from '../../parts/form.tsx';
import { NameField } from '../../parts/name-field.tsx';
import { ListTable, PAGE_SIZE } from '../../parts/list-table.tsx';
import { PageTitle, Panel } from '../../parts/page-title.tsx';
import { partsText } from '../../parts/parts-text.ts';
import { useSearchState } from '../../parts/search-state.tsx';
import { SecretOnceDialog } from '../../parts/secret-once.tsx';
import { TimeAgo } from '../../parts/time-ago.tsx';
import { useText } from '../../text/language.tsx';
import type { CredentialKind, NewCredential, ShownSecret } from './credential-kind.ts';
import { OtherOrganization, useOrganizationId } from './organization-choice.tsx';
import { settingsText } from './settings-text.ts';

type Scope = NonNullable<NewCredential['scopes']>[number];

const SCOPES: readonly Scope[] = [
  'frontdoor.read',
  'frontdoor.write',
  'frontdoor.organization',
  'frontdoor.admin',
];

export function ScopeNames({ scopes }: { readonly scopes: readonly string[] }): ReactNode {
  const text = useText(settingsText);
  return scopes.map((scope) => text.scope(scope)).join(', ');
}

export function CredentialList({ kind }: { readonly kind: CredentialKind }): ReactNode {
  const [text, common] = [useText(settingsText), useText(partsText)];
  const control = useSearchState();
  const organizationId = useOrganizationId();
  const [isCreating, setCreating] = useState(false);
  const [shown, setShown] = useState<ShownSecret | undefined>();
  const { page, sort } = control.search;
  const list = kind.useList({
    organizationId,
    name: control.textOf('name'),
    sort,
    page: page ?? 0,
    size: PAGE_SIZE,
  });
  const isAccounts = kind.path === 'accounts';
  return (
    <>
      <PageTitle title={text[kind.path]}>
        <Button onClick={() => setCreating(true)}>{isAccounts ? text.newAccount : text.newClient}</Button>
      </PageTitle>
      <OtherOrganization />
      <p>{isAccounts ? text.accountsText : text.clientsText}</p>
      <Panel>
        <Filters control={control}>
          <TextFilter control={control} name="name" label={common.filterText} />
        </Filters>
        <AnswerView answer={list}>
          {({ body }) => (
            <ListTable
              label={text[kind.path]}
              page={body}
              control={control}
              keyOf={({ id }) => id}
              columns={[
                {
                  title: text.name,
                  sort: 'name',
                  cell: ({ id, name }) => <Link to={`/settings/${kind.path}/${id}`}>{name}</Link>,
                },
                { title: text.scopes, cell: ({ scopes }) => <ScopeNames scopes={scopes} /> },
                { title: text.lastUsed, cell: ({ lastUsedAt }) => <TimeAgo at={lastUsedAt} /> },
                {
                  title: text.created,
                  sort: 'createdAt',
                  cell: ({ createdAt }) => <TimeAgo at={createdAt} />,
                },
              ]}
            />
          )}
        </AnswerView>
      </Panel>
      {isCreating ? (
        <CreateCredential
          kind={kind}
          organizationId={organizationId}
          onClose={() => setCreating(false)}
          onSecret={(made) => {
            setCreating(false);
            setShown(made);
          }}
        />
      ) : null}
      <SecretOnceDialog
        title={isAccounts ? text.accountCreated : text.clientCreated}
        facts={
          shown && [
            [text.id, shown.id],
            [isAccounts ? text.token : text.secret, shown.secret],
          ]
        }
        onClose={() => setShown(undefined)}
      />
    </>
  );
}

function CreateCredential(props: {
  readonly kind: CredentialKind;
  readonly organizationId: string;
  readonly onClose: () => void;
  readonly onSecret: (shown: ShownSecret) => void;
}): ReactNode {
  const text = useText(settingsText);
  const { kind, organizationId, onClose, onSecret } = props;
  const { caller } = useSession();
  const [name, setName] = useState('');
  const [scopes, setScopes] = useState<readonly Scope[]>(['frontdoor.read']);
  const idempotencyKey = useIdempotencyKey();
  const { mutate, error, isPending } = kind.useCreate(onSecret);
  // Nobody hands out more than one has.
  const offered = SCOPES.filter(
    (scope) => caller.scopes.includes(scope) || caller.scopes.includes('frontdoor.admin'),
  );
  return (
    <Dialog title={kind.path === 'accounts' ? text.newAccount : text.newClient} isOpen onClose={onClose}>
      <Form
        fields={['name']}
        error={error}
        isPending={isPending}
        isDisabled={scopes.length === 0}
        submit={text.create}
        onCancel={onClose}
        onSubmit={() => mutate({ body: { name, organizationId, scopes: [...scopes] }, idempotencyKey })}
      >
        <NameField isFirst label={text.name} value={name} onChange={setName} />
        <Fieldset legend={text.scopes} mt="md">
          {offered.map((scope) => (
            <Checkbox
              key={scope}
              mb="xs"
              label={text.scope(scope)}
              description={scope}
              checked={scopes.includes(scope)}
              onChange={({ currentTarget }) =>
                setScopes(
                  currentTarget.checked ? [...scopes, scope] : scopes.filter((other) => other !== scope),
                )
              }
            />
          ))}
        </Fieldset>
      </Form>
    </Dialog>
  );
}
