/** Exports the whole list as its filters narrow it, up to a bound, in a file. */
import { Button, Menu } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useFormat, useText } from '../text/language.tsx';
import { csvOf } from './csv.ts';
import { Problem } from './problem.tsx';
import { saveFile } from './save-file.ts';
import { tablesText } from './tables-text.ts';
import type { List, ListPart } from './use-list.ts';

/** The largest that the API has. */
const PAGE_SIZE = 1_000;
const MOST_ROWS = 10_000;

type Kind = 'csv' | 'json';

const TYPES: Readonly<Record<Kind, string>> = { csv: 'text/csv;charset=utf-8', json: 'application/json' };

export function TableExport<Row extends object>({ list }: { readonly list: List<ListPart<Row>> }): ReactNode {
  const [text, format] = [useText(tablesText), useFormat()];
  const { mutate, data, error, isPending } = useMutation({
    mutationFn: async (kind: Kind) => {
      const { rows, total } = await allRows(list);
      const content = kind === 'csv' ? csvOf(rows) : `${JSON.stringify(rows, undefined, 2)}\n`;
      saveFile(new Blob([content], { type: TYPES[kind] }), `frontdoor-${list.name}.${kind}`);
      return { count: rows.length, total };
    },
  });
  const result =
    data === undefined
      ? ''
      : data.total > data.count
        ? text.exportedFirst(format.number(data.count), format.number(data.total))
        : text.exported(data.count, format.number(data.count));
  return (
    <>
      {error === null ? null : <Problem error={error} />}
      <span role="status" className="fd-soft fd-small">
        {isPending ? text.exporting : result}
      </span>
      <Menu position="bottom-end" transitionProps={{ duration: 0 }}>
        <Menu.Target>
          <Button variant="default" size="xs" loading={isPending}>
            {text.export}
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item onClick={() => mutate('csv')}>{text.exportCsv}</Menu.Item>
          <Menu.Item onClick={() => mutate('json')}>{text.exportJson}</Menu.Item>
        </Menu.Dropdown>
      </Menu>
    </>
  );
}

async function allRows<Row>(
  list: List<ListPart<Row>>,
): Promise<{ readonly rows: Row[]; readonly total: number }> {
  const rows: Row[] = [];
  let total = 0;
  while (rows.length < MOST_ROWS) {
    const { content, totalElements = 0 } = await list.read(rows.length / PAGE_SIZE, PAGE_SIZE);
    rows.push(...content);
    total = Math.max(totalElements, rows.length);
    if (content.length < PAGE_SIZE) break;
  }
  return { rows, total };
}
