/** API accounts or OAuth clients: a list, and the creation of one, whose secret is shown once. */
import { Button, Checkbox, Fieldset } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { useChange, useIdempotencyKey } from '../../api/queries.ts';
import { useSession } from '../../api/session.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { useNameFilter } from '../../parts/filters.tsx';
import { Form } from '../../parts/form.tsx';
import { useFormInAddress } from '../../parts/form-in-address.ts';
import { ListPage } from '../../parts/list-page.tsx';
import { NameField } from '../../parts/name-field.tsx';
import { SecretOnceDialog } from '../../parts/secret-once.tsx';
import { TimeAgo } from '../../parts/time-ago.tsx';
import { useList } from '../../parts/use-list.ts';
import { useText } from '../../text/language.tsx';
import {
  secretIn,
  type CredentialEntry,
  type CredentialKind,
  type NewCredential,
  type ShownSecret,
} from './credential-kind.ts';
import { OtherOrganization, useOrganizationId } from './organization-choice.tsx';
import { UseLines } from './use-lines.tsx';
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
  const text = useText(settingsText);
  const organizationId = useOrganizationId();
  const form = useFormInAddress();
  const [shown, setShown] = useState<ShownSecret | undefined>();
  const isAccounts = kind.path === 'accounts';
  return (
    <ListPage<CredentialEntry>
      title={text[kind.path]}
      actions={<Button onClick={form.open}>{isAccounts ? text.newAccount : text.newClient}</Button>}
      intro={
        <>
          <OtherOrganization />
          <p>{isAccounts ? text.accountsText : text.clientsText}</p>
        </>
      }
      list={useList(kind.list, { query: { organizationId } }, { filters: [useNameFilter()] })}
      columns={[
        {
          id: 'name',
          title: text.name,
          isName: true,
          sort: 'name',
          cell: ({ id, name }) => <Link to={`/settings/${kind.path}/${id}`}>{name}</Link>,
        },
        {
          id: 'scopes',
          title: text.scopes,
          share: 1.4,
          cell: ({ scopes }) => <ScopeNames scopes={scopes} />,
        },
        {
          id: 'lastUsed',
          title: text.lastUsed,
          width: 9,
          cell: ({ lastUsedAt }) => <TimeAgo at={lastUsedAt} />,
        },
        {
          id: 'created',
          title: text.created,
          width: 8,
          sort: 'createdAt',
          cell: ({ createdAt }) => <TimeAgo at={createdAt} />,
        },
      ]}
      keyOf={({ id }) => id}
    >
      {form.isOpen ? (
        <CreateCredential
          kind={kind}
          organizationId={organizationId}
          onClose={form.close}
          onSecret={(made) => {
            form.close();
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
      >
        <UseLines kind={kind} shown={shown} />
      </SecretOnceDialog>
    </ListPage>
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
  const { mutate, error, isPending } = useChange(kind.create, {
    refreshes: [kind.kind],
    onDone: ({ body }) => onSecret(secretIn(body)),
  });
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
