/** Circuits: where they go, follow one, end one. */
import { Group } from '@mantine/core';
import { useState, type ReactNode } from 'react';
import { ConfirmedAction, ActionButton } from '../../parts/action-button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { ListPage } from '../../parts/list-page.tsx';
import { TimeAgo } from '../../parts/time-ago.tsx';
import { useList } from '../../parts/use-list.ts';
import { useFormat, useText } from '../../text/language.tsx';
import { Inspection } from './inspection.tsx';
import { useMeshFilters } from './mesh-filters.ts';
import { meshText } from './mesh-text.ts';

export function CircuitsPage(): ReactNode {
  const [text, format] = [useText(meshText), useFormat()];
  const [followed, setFollowed] = useState<string | undefined>();
  return (
    <ListPage
      title={text.circuits}
      list={useList('listCircuits', {}, { filters: useMeshFilters() })}
      columns={[
        { title: text.id, sort: 'id', cell: ({ id }) => <span className="fd-mono">{id}</span> },
        { title: text.service, cell: ({ serviceName }) => serviceName },
        { title: text.path, cell: ({ routerNames }) => routerNames.join(' → ') },
        { title: text.cost, cell: ({ cost }) => format.number(cost), isNumber: true },
        { title: text.began, sort: 'createdAt', cell: ({ createdAt }) => <TimeAgo at={createdAt} /> },
        {
          title: text.change,
          cell: ({ id }) => (
            <Group gap="xs" wrap="nowrap">
              <ActionButton
                label={text.follow}
                full={`${text.follow}: ${id}`}
                onClick={() => setFollowed(id)}
              />
              <ConfirmedAction
                operation="endCircuit"
                input={{ parameters: { id } }}
                refreshes={['circuit']}
                label={text.endCircuit}
                full={`${text.endCircuit}: ${id}`}
                title={text.endCircuitTitle}
              >
                <p>{text.endCircuitText}</p>
              </ConfirmedAction>
            </Group>
          ),
        },
      ]}
      keyOf={({ id }) => id}
      empty={<p>{text.noCircuits}</p>}
    >
      {followed === undefined ? null : (
        <Dialog title={text.followed} isOpen onClose={() => setFollowed(undefined)} size="xl" closesOutside>
          <Inspection names={[`circuit:${followed}`]} routerId={undefined} />
        </Dialog>
      )}
    </ListPage>
  );
}
