/** Services of the mesh, beside shares. */
import { Button } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { useChange, useIdempotencyKey } from '../../api/queries.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { useNameFilter } from '../../parts/filters.tsx';
import { Form } from '../../parts/form.tsx';
import { ListPage } from '../../parts/list-page.tsx';
import { NameField } from '../../parts/name-field.tsx';
import { TimeAgo } from '../../parts/time-ago.tsx';
import { useList } from '../../parts/use-list.ts';
import { useText } from '../../text/language.tsx';
import { meshText } from './mesh-text.ts';
import { StrategyChoice, type Strategy } from './strategy-choice.tsx';

export function ServicesPage(): ReactNode {
  const text = useText(meshText);
  const [isCreating, setCreating] = useState(false);
  return (
    <ListPage
      title={text.services}
      actions={<Button onClick={() => setCreating(true)}>{text.newService}</Button>}
      list={useList('listFabricServices', {}, { filters: [useNameFilter()] })}
      columns={[
        {
          id: 'name',
          title: text.name,
          isName: true,
          share: 2,
          sort: 'name',
          cell: ({ id, name }) => (
            <Link to="/mesh/services/$serviceId" params={{ serviceId: id }}>
              {name}
            </Link>
          ),
        },
        { id: 'strategy', title: text.strategy, cell: ({ terminatorStrategy }) => terminatorStrategy },
        { id: 'created', title: text.created, width: 8, cell: ({ createdAt }) => <TimeAgo at={createdAt} /> },
      ]}
      keyOf={({ id }) => id}
      empty={<p>{text.noServices}</p>}
    >
      {isCreating ? <CreateService onClose={() => setCreating(false)} /> : null}
    </ListPage>
  );
}

function CreateService({ onClose }: { readonly onClose: () => void }): ReactNode {
  const text = useText(meshText);
  const [name, setName] = useState('');
  const [terminatorStrategy, setStrategy] = useState<Strategy>('smartrouting');
  const idempotencyKey = useIdempotencyKey();
  const { mutate, error, isPending } = useChange('createFabricService', {
    refreshes: ['fabric-service'],
    onDone: onClose,
  });
  return (
    <Dialog title={text.newService} isOpen onClose={onClose} size="md">
      <Form
        fields={['name']}
        error={error}
        isPending={isPending}
        submit={text.create}
        onCancel={onClose}
        onSubmit={() => mutate({ body: { name, terminatorStrategy }, idempotencyKey })}
      >
        <NameField isFirst label={text.name} value={name} onChange={setName} />
        <StrategyChoice value={terminatorStrategy} onChange={setStrategy} />
      </Form>
    </Dialog>
  );
}
