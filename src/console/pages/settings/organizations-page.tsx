/** All organizations, for operators. */
import { Button } from '@mantine/core';
import { Link, useNavigate } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { useAnswer, useChange, useIdempotencyKey } from '../../api/queries.ts';
import { AnswerView } from '../../parts/answer-view.tsx';
import { Filters, TextFilter } from '../../parts/filters.tsx';
import { ListTable, PAGE_SIZE } from '../../parts/list-table.tsx';
import { PageTitle, Panel } from '../../parts/page-title.tsx';
import { partsText } from '../../parts/parts-text.ts';
import { useSearchState } from '../../parts/search-state.tsx';
import { useText } from '../../text/language.tsx';
import { NameDialog } from './name-dialog.tsx';
import { settingsText } from './settings-text.ts';

export function OrganizationsPage(): ReactNode {
  const [text, common] = [useText(settingsText), useText(partsText)];
  const control = useSearchState();
  const [isCreating, setCreating] = useState(false);
  const list = useAnswer('listOrganizations', {
    query: { name: control.textOf('name'), page: control.search['page'] ?? 0, size: PAGE_SIZE },
  });
  return (
    <>
      <PageTitle title={text.organizations}>
        <Button onClick={() => setCreating(true)}>{text.newOrganization}</Button>
      </PageTitle>
      <Panel>
        <Filters control={control}>
          <TextFilter control={control} name="name" label={common.filterText} />
        </Filters>
        <AnswerView answer={list}>
          {({ body }) => (
            <ListTable
              label={text.organizations}
              page={body}
              control={control}
              keyOf={({ id }) => id}
              columns={[
                {
                  title: text.name,
                  cell: ({ id, name }) => (
                    <Link to="/settings/organizations/$organizationId" params={{ organizationId: id }}>
                      {name}
                    </Link>
                  ),
                },
                { title: text.id, cell: ({ id }) => <span className="fd-mono">{id}</span> },
              ]}
            />
          )}
        </AnswerView>
      </Panel>
      {isCreating ? <CreateOrganization onClose={() => setCreating(false)} /> : null}
    </>
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
