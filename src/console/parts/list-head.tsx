/** The head of a list, whose titles sort it. A narrow screen shows cards without a head, and a choice of the order instead. */
import { Checkbox, NativeSelect, UnstyledButton } from '@mantine/core';
import type { ReactNode } from 'react';
import { useText } from '../text/language.tsx';
import { Icon } from './icon.tsx';
import { columnId, type ListColumn } from './list-column.ts';
import { partsText } from './parts-text.ts';
import type { SearchControl } from './search-state.tsx';
import { tablesText } from './tables-text.ts';
import type { RowSelection } from './use-selection.ts';

export function ListHead<Row>(props: {
  readonly columns: readonly ListColumn<Row>[];
  readonly control: SearchControl;
  readonly shown: readonly Row[];
  readonly boxes: RowSelection<Row> | undefined;
  readonly hasMenus: boolean;
}): ReactNode {
  const text = useText(tablesText);
  const { columns, control, shown, boxes, hasMenus } = props;
  const selected = boxes === undefined ? 0 : shown.filter((row) => boxes.has(row)).length;
  return (
    <thead role="rowgroup">
      <tr role="row">
        {boxes === undefined ? null : (
          <th role="columnheader" scope="col" className="fd-box">
            <Checkbox
              size="xs"
              aria-label={text.selectAll}
              checked={selected === shown.length}
              indeterminate={selected > 0 && selected < shown.length}
              onChange={({ currentTarget }) => boxes.set(shown, currentTarget.checked)}
            />
          </th>
        )}
        {columns.map((column) => (
          <HeadCell key={columnId(column)} column={column} control={control} />
        ))}
        {hasMenus ? (
          <th role="columnheader" scope="col">
            <span className="fd-unseen">{text.actions}</span>
          </th>
        ) : null}
      </tr>
    </thead>
  );
}

interface Order {
  readonly field: string;
  readonly isUp: boolean;
}

function orderOf(control: SearchControl): Order {
  const [field = '', direction = 'asc'] = control.textOf('sort').split(',');
  return { field, isUp: direction === 'asc' };
}

function HeadCell<Row>(props: {
  readonly column: ListColumn<Row>;
  readonly control: SearchControl;
}): ReactNode {
  const text = useText(partsText);
  const { title, sort, isNumber = false } = props.column;
  const { field, isUp } = orderOf(props.control);
  const isSorted = field === sort;
  const className = isNumber ? 'fd-number' : '';
  if (sort === undefined)
    return (
      <th role="columnheader" scope="col" className={className}>
        <span className="fd-cell">{title}</span>
      </th>
    );
  const next = isSorted && isUp ? `${sort},desc` : `${sort},asc`;
  return (
    <th
      role="columnheader"
      scope="col"
      className={className}
      aria-sort={isSorted ? (isUp ? 'ascending' : 'descending') : 'none'}
    >
      <UnstyledButton
        className="fd-sort"
        title={text.sortBy(title)}
        onClick={() => props.control.change({ sort: next })}
      >
        <span className="fd-cell">{title}</span>
        {isSorted ? <Icon name={isUp ? 'up' : 'down'} size={12} /> : null}
      </UnstyledButton>
    </th>
  );
}

/** Shown where rows are cards. */
export function ListOrder<Row>(props: {
  readonly columns: readonly ListColumn<Row>[];
  readonly control: SearchControl;
}): ReactNode {
  const text = useText(tablesText);
  const { columns, control } = props;
  const sorted = columns.flatMap(({ title, sort }) => (sort === undefined ? [] : [{ title, sort }]));
  if (sorted.length === 0) return null;
  const { field, isUp } = orderOf(control);
  return (
    <NativeSelect
      className="fd-order"
      size="xs"
      label={text.order}
      value={field === '' ? '' : `${field},${isUp ? 'asc' : 'desc'}`}
      onChange={({ currentTarget }) => control.change({ sort: currentTarget.value })}
      data={[
        { value: '', label: text.defaultOrder },
        ...sorted.flatMap(({ title, sort }) => [
          { value: `${sort},asc`, label: text.ascending(title) },
          { value: `${sort},desc`, label: text.descending(title) },
        ]),
      ]}
    />
  );
}
