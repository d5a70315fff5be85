/** A page of a list: columns that sort, at most 100 rows, and a way to the other pages. */
import { Pagination, Table, UnstyledButton } from '@mantine/core';
import type { ReactNode } from 'react';
import { useFormat, useText } from '../text/language.tsx';
import { Icon } from './icon.tsx';
import { partsText } from './parts-text.ts';
import type { SearchControl } from './search-state.tsx';
import type { RowColumn } from './simple-table.tsx';
import type { ListPart } from './use-list.ts';

export interface ListColumn<Row> extends Omit<RowColumn<Row>, 'isMono'> {
  /** The field of the API's `sort`, if the list sorts by this column. */
  readonly sort?: string | undefined;
}

export function ListTable<Row>(props: {
  /** Names the list, for people who do not see it. */
  readonly label: string;
  readonly page: ListPart<Row>;
  readonly columns: readonly ListColumn<Row>[];
  readonly keyOf: (row: Row) => string;
  readonly control: SearchControl;
  /** Shown instead of an empty list. */
  readonly empty?: ReactNode;
}): ReactNode {
  const [text, format] = [useText(partsText), useFormat()];
  const { page, columns, control } = props;
  const { pageNumber, pageSize } = page.pageable;
  const pages = page.totalPages ?? pageNumber + (page.content.length < pageSize ? 1 : 2);
  if (page.content.length === 0 && pageNumber === 0)
    return props.empty ?? <p className="fd-soft">{text.empty}</p>;
  return (
    <>
      <div className="fd-scroll" tabIndex={0} role="region" aria-label={props.label}>
        <Table verticalSpacing="xs" highlightOnHover>
          <Table.Thead>
            <Table.Tr>
              {columns.map((column) => (
                <HeadCell key={column.title} column={column} control={control} />
              ))}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {page.content.map((row) => (
              <Table.Tr key={props.keyOf(row)}>
                {columns.map(({ title, cell, isNumber }) => (
                  <Table.Td key={title} {...(isNumber === true ? { ta: 'right' } : {})}>
                    {cell(row)}
                  </Table.Td>
                ))}
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </div>
      <div className="fd-foot">
        <span className="fd-soft fd-small">
          {page.totalElements === undefined
            ? null
            : text.entries(page.totalElements, format.number(page.totalElements))}
        </span>
        {pages <= 1 ? null : (
          <Pagination
            total={pages}
            value={pageNumber + 1}
            onChange={(next) => control.change({ page: next - 1 })}
            getItemProps={(number) => ({ 'aria-label': `${text.page} ${format.number(number)}` })}
            getControlProps={(which) => ({ 'aria-label': which === 'next' ? text.next : text.back })}
          />
        )}
      </div>
    </>
  );
}

function HeadCell<Row>({
  column,
  control,
}: {
  readonly column: ListColumn<Row>;
  readonly control: SearchControl;
}): ReactNode {
  const text = useText(partsText);
  const { title, sort, isNumber } = column;
  const align = isNumber === true ? { ta: 'right' as const } : {};
  if (sort === undefined) return <Table.Th {...align}>{title}</Table.Th>;
  const [field, direction = 'asc'] = control.textOf('sort').split(',');
  const isSorted = field === sort;
  const isUp = direction === 'asc';
  const next = isSorted && isUp ? `${sort},desc` : `${sort},asc`;
  return (
    <Table.Th {...align} aria-sort={isSorted ? (isUp ? 'ascending' : 'descending') : 'none'}>
      <UnstyledButton
        fw={600}
        fz="inherit"
        title={text.sortBy(title)}
        onClick={() => control.change({ sort: next })}
      >
        {title} {isSorted ? <Icon name={isUp ? 'up' : 'down'} size={12} /> : null}
      </UnstyledButton>
    </Table.Th>
  );
}
