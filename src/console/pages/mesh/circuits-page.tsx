/** Circuits: where they go, follow one, end one. */
import { useState, type ReactNode } from 'react';
import { ConfirmedDialog } from '../../parts/action-button.tsx';
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
  const [ending, setEnding] = useState<string | undefined>();
  return (
    <ListPage
      title={text.circuits}
      list={useList('listCircuits', {}, { filters: useMeshFilters() })}
      columns={[
        {
          id: 'id',
          title: text.id,
          isName: true,
          sort: 'id',
          cell: ({ id }) => <span className="fd-mono">{id}</span>,
        },
        { id: 'service', title: text.service, cell: ({ serviceName }) => serviceName },
        { id: 'path', title: text.path, share: 1.6, cell: ({ routerNames }) => routerNames.join(' → ') },
        { id: 'cost', title: text.cost, width: 6, cell: ({ cost }) => format.number(cost), isNumber: true },
        {
          id: 'began',
          title: text.began,
          width: 8,
          sort: 'createdAt',
          cell: ({ createdAt }) => <TimeAgo at={createdAt} />,
        },
      ]}
      keyOf={({ id }) => id}
      menuOf={({ id }) => [
        { label: text.follow, onSelect: () => setFollowed(id) },
        { label: text.endCircuit, isDanger: true, onSelect: () => setEnding(id) },
      ]}
      empty={<p>{text.noCircuits}</p>}
    >
      {ending === undefined ? null : (
        <ConfirmedDialog
          operation="endCircuit"
          input={{ parameters: { id: ending } }}
          refreshes={['circuit']}
          title={text.endCircuitTitle}
          action={text.endCircuit}
          onClose={() => setEnding(undefined)}
        >
          <p>{text.endCircuitText}</p>
        </ConfirmedDialog>
      )}
      {followed === undefined ? null : (
        <Dialog title={text.followed} isOpen onClose={() => setFollowed(undefined)} size="xl" closesOutside>
          <Inspection names={[`circuit:${followed}`]} routerId={undefined} />
        </Dialog>
      )}
    </ListPage>
  );
}
