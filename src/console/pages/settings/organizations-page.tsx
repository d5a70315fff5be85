/** All organizations, for operators. */
import { Button } from '@mantine/core';
import { Link, useNavigate } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { useChange, useIdempotencyKey } from '../../api/queries.ts';
import { useNameFilter } from '../../parts/filters.tsx';
import { ListPage } from '../../parts/list-page.tsx';
import { useList } from '../../parts/use-list.ts';
import { useText } from '../../text/language.tsx';
import { NameDialog } from './name-dialog.tsx';
import { settingsText } from './settings-text.ts';

export function OrganizationsPage(): ReactNode {
  const text = useText(settingsText);
  const [isCreating, setCreating] = useState(false);
  return (
    <ListPage
      title={text.organizations}
      actions={<Button onClick={() => setCreating(true)}>{text.newOrganization}</Button>}
      list={useList('listOrganizations', {}, { filters: [useNameFilter()] })}
      columns={[
        {
          id: 'name',
          title: text.name,
          isName: true,
          share: 1.4,
          cell: ({ id, name }) => (
            <Link to="/settings/organizations/$organizationId" params={{ organizationId: id }}>
              {name}
            </Link>
          ),
        },
        { id: 'id', title: text.id, cell: ({ id }) => <span className="fd-mono">{id}</span> },
      ]}
      keyOf={({ id }) => id}
    >
      {isCreating ? <CreateOrganization onClose={() => setCreating(false)} /> : null}
    </ListPage>
  );
}

function CreateOrganization({ onClose }: { readonly onClose: () => void }): ReactNode {
  const text = useText(settingsText);
  const navigate = useNavigate();
  const idempotencyKey = useIdempotencyKey();
  const { mutate, error, isPending } = useChange('createOrganization', {
    refreshes: ['organization'],
    onDone: ({ body }) =>
      void navigate({ to: '/settings/organizations/$organizationId', params: { organizationId: body.id } }),
  });
  return (
    <NameDialog
      title={text.newOrganization}
      submit={text.create}
      error={error}
      isPending={isPending}
      onClose={onClose}
      onSubmit={(name) => mutate({ body: { name }, idempotencyKey })}
    />
  );
}
