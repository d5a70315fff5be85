/** Services of the mesh, beside shares. */
import { Button } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { useAnswer, useChange, useIdempotencyKey } from '../../api/queries.ts';
import { AnswerView } from '../../parts/answer-view.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Filters, TextFilter } from '../../parts/filters.tsx';
import { Form } from '../../parts/form.tsx';
import { NameField } from '../../parts/name-field.tsx';
import { ListTable, PAGE_SIZE } from '../../parts/list-table.tsx';
import { PageTitle, Panel } from '../../parts/page-title.tsx';
import { partsText } from '../../parts/parts-text.ts';
import { useSearchState } from '../../parts/search-state.tsx';
import { TimeAgo } from '../../parts/time-ago.tsx';
import { useText } from '../../text/language.tsx';
import { meshText } from './mesh-text.ts';
import { StrategyChoice, type Strategy } from './strategy-choice.tsx';

export function ServicesPage(): ReactNode {
  const [text, common] = [useText(meshText), useText(partsText)];
  const control = useSearchState();
  const [isCreating, setCreating] = useState(false);
  const { page, ...filters } = control.search;
  const list = useAnswer('listFabricServices', { query: { ...filters, page: page ?? 0, size: PAGE_SIZE } });
  return (
    <>
      <PageTitle title={text.services}>
        <Button onClick={() => setCreating(true)}>{text.newService}</Button>
      </PageTitle>
      <Panel>
        <Filters control={control}>
          <TextFilter control={control} name="name" label={common.filterText} />
        </Filters>
        <AnswerView answer={list}>
          {({ body }) => (
            <ListTable
              label={text.services}
              page={body}
              control={control}
              keyOf={({ id }) => id}
              empty={<p>{text.noServices}</p>}
              columns={[
                {
                  title: text.name,
                  sort: 'name',
                  cell: ({ id, name }) => (
                    <Link to="/mesh/services/$serviceId" params={{ serviceId: id }}>
                      {name}
                    </Link>
                  ),
                },
                { title: text.strategy, cell: ({ terminatorStrategy }) => terminatorStrategy },
                { title: text.created, cell: ({ createdAt }) => <TimeAgo at={createdAt} /> },
              ]}
            />
          )}
        </AnswerView>
      </Panel>
      {isCreating ? <CreateService onClose={() => setCreating(false)} /> : null}
    </>
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
