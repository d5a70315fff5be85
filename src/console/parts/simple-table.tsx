/** Tables that are neither sorted nor divided into pages. */
import { Table } from '@mantine/core';
import type { ReactNode } from 'react';

export function SimpleTable(props: {
  readonly label: string;
  readonly head: readonly string[];
  readonly rows: readonly (readonly ReactNode[])[];
}): ReactNode {
  return (
    <div className="fd-scroll" tabIndex={0} role="region" aria-label={props.label}>
      <Table>
        <Table.Thead>
          <Table.Tr>
            {props.head.map((title) => (
              <Table.Th key={title}>{title}</Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {props.rows.map((row, at) => (
            // Rows of facts have no other name than their place.
            <Table.Tr key={at}>
              {row.map((cell, column) => (
                <Table.Td key={props.head[column]}>{cell}</Table.Td>
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </div>
  );
}

export interface RowColumn<Row> {
  readonly title: string;
  readonly cell: (row: Row) => ReactNode;
  readonly isNumber?: boolean | undefined;
  readonly isMono?: boolean | undefined;
}

/** A table of things that have a key. */
export function RowTable<Row>(props: {
  readonly label: string;
  readonly columns: readonly RowColumn<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
  /** Whether it scrolls when it is high. */
  readonly isLow?: boolean;
}): ReactNode {
  const { label, columns, rows, keyOf, isLow = false } = props;
  const alignOf = ({ isNumber }: RowColumn<Row>) => (isNumber === true ? { ta: 'right' as const } : {});
  return (
    <div className={isLow ? 'fd-scroll fd-low' : 'fd-scroll'} tabIndex={0} role="region" aria-label={label}>
      <Table verticalSpacing="xs">
        <Table.Thead>
          <Table.Tr>
            {columns.map((column) => (
              <Table.Th key={column.title} {...alignOf(column)}>
                {column.title}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map((row) => (
            <Table.Tr key={keyOf(row)}>
              {columns.map((column) => (
                <Table.Td
                  key={column.title}
                  {...alignOf(column)}
                  {...(column.isMono === true ? { className: 'fd-mono' } : {})}
                >
                  {column.cell(row)}
                </Table.Td>
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </div>
  );
}
