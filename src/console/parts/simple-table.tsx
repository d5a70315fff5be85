/** A table of facts that is neither sorted nor divided into pages. */
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
