/** Lists and tables of the style page: sorted, filtered, selected and changed in this page, as a control plane would. */
import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { AddressCell, TargetCell } from '../parts/address-cell.tsx';
import { BulkDialog } from '../parts/bulk-dialog.tsx';
import type { ListColumn } from '../parts/list-column.ts';
import { EmptyList, ListPanel } from '../parts/list-page.tsx';
import { Panel } from '../parts/page-title.tsx';
import type { SearchState } from '../parts/search-state.tsx';
import { RowTable, SimpleTable } from '../parts/simple-table.tsx';
import { StateBadge } from '../parts/state-badge.tsx';
import { TimeAgo } from '../parts/time-ago.tsx';
import type { List, ListPart } from '../parts/use-list.ts';

interface Sample {
  readonly token: string;
  readonly name: string;
  readonly addresses: readonly [string, ...string[]];
  readonly target: string;
  readonly access: string;
  readonly requests: number;
  readonly createdAt: string;
}

const COUNT = 40;
const PAGE_SIZE = 12;
const MINUTE_MS = 60_000;

function samples(): readonly Sample[] {
  const startMs = Date.now();
  return Array.from({ length: COUNT }, (_none, at) => {
    const name = at % 5 === 3 ? `a-service-whose-name-is-much-longer-than-its-column-${at}` : `service-${at}`;
    const first = `https://${name}.share.example.com:443/`;
    return {
      token: `token${at}`,
      name,
      addresses: at % 3 === 0 ? [first, 'https://shop.example.com', 'http://old.example.com'] : [first],
      target: `http://${name}.internal.example.com:${3_000 + at}`,
      access: at % 4 === 0 ? 'Everyone' : 'Signed in with Google or GitHub, only *@example.com, until 12 May',
      requests: (at * 7_919) % 5_000,
      createdAt: new Date(startMs - at * 90 * MINUTE_MS).toISOString(),
    };
  });
}

const COLUMNS: readonly ListColumn<Sample>[] = [
  {
    id: 'state',
    title: 'State',
    width: 7,
    cell: ({ requests }) => (
      <StateBadge tone={requests % 2 === 0 ? 'good' : 'bad'}>
        {requests % 2 === 0 ? 'Healthy' : 'Failing'}
      </StateBadge>
    ),
  },
  { id: 'name', title: 'Name', sort: 'name', isName: true, cell: ({ name }) => <a href="#name">{name}</a> },
  {
    id: 'address',
    title: 'Address',
    share: 2.2,
    cell: ({ addresses }) => <AddressCell addresses={addresses} />,
  },
  { id: 'target', title: 'Target', share: 1.3, cell: ({ target }) => <TargetCell target={target} /> },
  { id: 'access', title: 'Access', share: 1.3, cell: ({ access }) => access },
  {
    id: 'requests',
    title: 'Requests',
    sort: 'requests',
    width: 6,
    isNumber: true,
    cell: ({ requests }) => requests,
  },
  {
    id: 'created',
    title: 'Created',
    sort: 'createdAt',
    width: 8,
    cell: ({ createdAt }) => <TimeAgo at={createdAt} />,
  },
];

/** A list like that of `useList`, over rows of this page. */
function useSampleList(all: readonly Sample[]): List<ListPart<Sample>> {
  const [search, setSearch] = useState<SearchState>({});
  const [field = '', direction] = String(search['sort'] ?? '').split(',');
  const name = String(search['name'] ?? '');
  const read = async (pageNumber: number, pageSize: number): Promise<ListPart<Sample>> => {
    const value = (row: Sample) => row[field as 'name' | 'createdAt'] ?? '';
    const sign = direction === 'desc' ? -1 : 1;
    const found = all
      .filter((row) => row.name.includes(name))
      .toSorted((a, b) => (value(a) < value(b) ? -sign : value(a) > value(b) ? sign : 0));
    return {
      content: found.slice(pageNumber * pageSize, (pageNumber + 1) * pageSize),
      pageable: { pageNumber, pageSize },
      totalElements: found.length,
      totalPages: Math.ceil(found.length / pageSize),
    };
  };
  const page = Number(search['page'] ?? 0);
  const answer = useQuery({
    queryKey: ['samples', all.length, page, field, direction, name],
    queryFn: async () => ({ body: await read(page, PAGE_SIZE) }),
  });
  return {
    name: 'samples',
    answer,
    control: {
      search,
      textOf: (key) => String(search[key] ?? ''),
      change: (changes) => setSearch((before) => Object.assign({}, before, { page: undefined }, changes)),
    },
    filters: [{ name: 'name', label: 'Name contains', by: 'text' }],
    query: { name },
    isFiltered: name !== '',
    clear: () => setSearch({}),
    read,
  };
}

export function ListSamples(): ReactNode {
  const [all] = useState(samples);
  const [none] = useState<readonly Sample[]>([]);
  const [changed, setChanged] = useState<readonly Sample[]>([]);
  return (
    <>
      <ListPanel
        title="List"
        list={useSampleList(all)}
        columns={COLUMNS}
        keyOf={({ token }) => token}
        nameOf={({ name }) => name}
        menuOf={(row) => [
          { label: 'Settings', onSelect: () => undefined },
          { label: 'Delete', isDanger: true, onSelect: () => setChanged([row]) },
        ]}
        bulk={(rows) => (
          <Button size="compact-sm" variant="default" onClick={() => setChanged(rows)}>
            Delete
          </Button>
        )}
      />
      {changed.length === 0 ? null : (
        <BulkDialog
          title="Delete services"
          action="Delete"
          rows={changed}
          keyOf={({ token }) => token}
          nameOf={({ name }) => name}
          typed={String(changed.length)}
          read={async ({ requests }) => requests}
          change={async (_row, requests) => {
            if (requests % 2 === 1) throw new Error('A service that fails cannot be deleted here.');
          }}
          onChanged={() => undefined}
          onClose={() => setChanged([])}
        >
          <p>Every second one fails in this sample.</p>
        </BulkDialog>
      )}
      <ListPanel
        title="Empty list"
        list={useSampleList(none)}
        columns={COLUMNS}
        keyOf={({ token }) => token}
        empty={
          <EmptyList title="No services yet." text="What a service is, in one sentence.">
            <Button>Publish a service</Button>
          </EmptyList>
        }
      />
      <Panel title="Tables of facts">
        <SimpleTable
          label="Frontends"
          head={['Name', 'Address']}
          rows={[
            ['public', 'https://{token}.share.example.com'],
            ['internal', 'https://{token}.internal.example.com'],
          ]}
        />
        <RowTable
          label="Counts"
          rows={all.slice(0, 3)}
          keyOf={({ token }) => token}
          columns={[
            { title: 'Name', cell: ({ name }) => name, isMono: true },
            { title: 'Requests', cell: ({ requests }) => requests, isNumber: true },
          ]}
        />
      </Panel>
    </>
  );
}
