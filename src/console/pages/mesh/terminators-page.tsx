/** Terminators: where circuits to a service end. */
import { Button, NativeSelect } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { useAnswer, useChange, useIdempotencyKey } from '../../api/queries.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { Form } from '../../parts/form.tsx';
import { ListPage } from '../../parts/list-page.tsx';
import { StateBadge } from '../../parts/state-badge.tsx';
import { useList } from '../../parts/use-list.ts';
import { useFormat, useText } from '../../text/language.tsx';
import { useMeshFilters } from './mesh-filters.ts';
import { meshText } from './mesh-text.ts';
import { RouterChoice } from './router-choice.tsx';
import { NO_FIELDS, TerminatorFields, terminatorBody } from './terminator-fields.tsx';

const MAX_SHOWN = 100;

export function TerminatorsPage(): ReactNode {
  const [text, format] = [useText(meshText), useFormat()];
  const [isCreating, setCreating] = useState(false);
  return (
    <ListPage
      title={text.terminators}
      actions={<Button onClick={() => setCreating(true)}>{text.newTerminator}</Button>}
      list={useList('listTerminators', {}, { filters: useMeshFilters() })}
      columns={[
        {
          id: 'id',
          title: text.id,
          isName: true,
          sort: 'id',
          cell: ({ id }) => (
            <Link className="fd-mono" to="/mesh/terminators/$terminatorId" params={{ terminatorId: id }}>
              {id}
            </Link>
          ),
        },
        {
          id: 'service',
          title: text.service,
          share: 1.4,
          cell: ({ kind, serviceName }) => `${serviceName} (${text.kind(kind)})`,
        },
        { id: 'router', title: text.router, cell: ({ routerName }) => routerName },
        { id: 'precedence', title: text.precedence, width: 8, cell: ({ precedence }) => precedence },
        {
          id: 'cost',
          title: text.cost,
          width: 6,
          sort: 'cost',
          cell: ({ cost }) => format.number(cost),
          isNumber: true,
        },
        {
          id: 'dynamic-cost',
          title: text.dynamicCost,
          width: 8,
          cell: ({ dynamicCost }) => format.number(dynamicCost),
          isNumber: true,
        },
        {
          id: 'health',
          title: text.health,
          width: 8,
          cell: ({ healthy }) => (
            <StateBadge tone={healthy ? 'good' : 'bad'}>{healthy ? text.healthy : text.unhealthy}</StateBadge>
          ),
        },
      ]}
      keyOf={({ id }) => id}
      empty={<p>{text.noTerminators}</p>}
    >
      {isCreating ? <CreateTerminator onClose={() => setCreating(false)} /> : null}
    </ListPage>
  );
}

function CreateTerminator({ onClose }: { readonly onClose: () => void }): ReactNode {
  const text = useText(meshText);
  const services = useAnswer('listFabricServices', { query: { size: MAX_SHOWN, sort: 'name,asc' } });
  const [serviceId, setServiceId] = useState('');
  const [routerId, setRouterId] = useState('');
  const [fields, setFields] = useState(NO_FIELDS);
  const idempotencyKey = useIdempotencyKey();
  const { mutate, error, isPending } = useChange('createTerminator', {
    refreshes: ['terminator'],
    onDone: onClose,
  });
  return (
    <Dialog title={text.newTerminator} isOpen onClose={onClose}>
      <Form
        fields={['routerId', 'address', 'cost', 'instanceId']}
        error={error}
        isPending={isPending}
        isDisabled={serviceId === '' || routerId === ''}
        submit={text.create}
        onCancel={onClose}
        onSubmit={() => mutate({ body: { serviceId, routerId, ...terminatorBody(fields) }, idempotencyKey })}
      >
        <NativeSelect
          label={text.service}
          value={serviceId}
          onChange={({ currentTarget }) => setServiceId(currentTarget.value)}
          data={[
            { value: '', label: '–' },
            ...(services.data?.body.content ?? []).map(({ id, name }) => ({ value: id, label: name })),
          ]}
        />
        <RouterChoice value={routerId} none="–" onChange={setRouterId} />
        <TerminatorFields fields={fields} onChange={setFields} />
      </Form>
    </Dialog>
  );
}
