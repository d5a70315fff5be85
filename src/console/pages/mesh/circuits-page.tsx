/** Circuits: where they go, follow one, end one. */
import { Button, Group } from '@mantine/core';
import { useState, type ReactNode } from 'react';
import type { FabricCircuitAnswer } from '#contract';
import { useAnswer, useChange } from '../../api/queries.ts';
import { AnswerView } from '../../parts/answer-view.tsx';
import { ConfirmDialog, Dialog } from '../../parts/dialog.tsx';
import { ListTable, PAGE_SIZE } from '../../parts/list-table.tsx';
import { PageTitle, Panel } from '../../parts/page-title.tsx';
import { useSearchState } from '../../parts/search-state.tsx';
import { TimeAgo } from '../../parts/time-ago.tsx';
import { useFormat, useText } from '../../text/language.tsx';
import { Inspection } from './inspection.tsx';
import { MeshFilters } from './mesh-filters.tsx';
import { meshText } from './mesh-text.ts';

export function CircuitsPage(): ReactNode {
  const [text, format] = [useText(meshText), useFormat()];
  const control = useSearchState();
  const [act, setAct] = useState<
    { readonly kind: 'end' | 'follow'; readonly circuit: FabricCircuitAnswer } | undefined
  >();
  const close = () => setAct(undefined);
  const { page, ...filters } = control.search;
  const list = useAnswer('listCircuits', { query: { ...filters, page: page ?? 0, size: PAGE_SIZE } });
  const end = useChange('endCircuit', { refreshes: ['circuit'], onDone: close });
  return (
    <>
      <PageTitle title={text.circuits} />
      <Panel>
        <MeshFilters control={control} />
        <AnswerView answer={list}>
          {({ body }) => (
            <ListTable
              label={text.circuits}
              page={body}
              control={control}
              keyOf={({ id }) => id}
              empty={<p>{text.noCircuits}</p>}
              columns={[
                { title: text.id, sort: 'id', cell: ({ id }) => <span className="fd-mono">{id}</span> },
                { title: text.service, cell: ({ serviceName }) => serviceName },
                { title: text.path, cell: ({ routerNames }) => routerNames.join(' → ') },
                { title: text.cost, cell: ({ cost }) => format.number(cost), isNumber: true },
                { title: text.began, sort: 'createdAt', cell: ({ createdAt }) => <TimeAgo at={createdAt} /> },
                {
                  title: text.change,
                  cell: (circuit) => (
                    <Group gap="xs" wrap="nowrap">
                      <Button
                        size="compact-sm"
                        variant="default"
                        onClick={() => setAct({ kind: 'follow', circuit })}
                        aria-label={`${text.follow}: ${circuit.id}`}
                      >
                        {text.follow}
                      </Button>
                      <Button
                        size="compact-sm"
                        variant="default"
                        onClick={() => setAct({ kind: 'end', circuit })}
                        aria-label={`${text.endCircuit}: ${circuit.id}`}
                      >
                        {text.endCircuit}
                      </Button>
                    </Group>
                  ),
                },
              ]}
            />
          )}
        </AnswerView>
      </Panel>
      {act?.kind === 'follow' ? (
        <Dialog title={text.followed} isOpen onClose={close} size="xl" closesOutside>
          <Inspection names={[`circuit:${act.circuit.id}`]} routerId={undefined} />
        </Dialog>
      ) : null}
      {act?.kind === 'end' ? (
        <ConfirmDialog
          title={text.endCircuitTitle}
          isOpen
          onClose={close}
          action={text.endCircuit}
          error={end.error}
          isPending={end.isPending}
          onConfirm={() => end.mutate({ parameters: { id: act.circuit.id } })}
        >
          <p>{text.endCircuitText}</p>
        </ConfirmDialog>
      ) : null}
    </>
  );
}
