/** The routers of the mesh. */
import { Button } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { useAnswer, useChange, useIdempotencyKey } from '../../api/queries.ts';
import { AnswerView } from '../../parts/answer-view.tsx';
import { Filters, TextFilter } from '../../parts/filters.tsx';
import { ListTable, PAGE_SIZE } from '../../parts/list-table.tsx';
import { PageTitle, Panel } from '../../parts/page-title.tsx';
import { partsText } from '../../parts/parts-text.ts';
import { useSearchState } from '../../parts/search-state.tsx';
import { useText } from '../../text/language.tsx';
import { meshText } from './mesh-text.ts';
import { CreateNode, EnrollDialog, NodeState } from './node-list.tsx';

export function RoutersPage(): ReactNode {
  const [text, common] = [useText(meshText), useText(partsText)];
  const control = useSearchState();
  const [isCreating, setCreating] = useState(false);
  const [made, setMade] = useState<{ readonly name: string; readonly token: string } | undefined>();
  const { page, ...filters } = control.search;
  const list = useAnswer('listRouters', { query: { ...filters, page: page ?? 0, size: PAGE_SIZE } });
  return (
    <>
      <PageTitle title={text.routers}>
        <Button onClick={() => setCreating(true)}>{text.newRouter}</Button>
      </PageTitle>
      <Panel>
        <Filters control={control}>
          <TextFilter control={control} name="name" label={common.filterText} />
        </Filters>
        <AnswerView answer={list}>
          {({ body }) => (
            <ListTable
              label={text.routers}
              page={body}
              control={control}
              keyOf={({ id }) => id}
              columns={[
                {
                  title: text.name,
                  sort: 'name',
                  cell: ({ id, name }) => (
                    <Link to="/mesh/routers/$routerId" params={{ routerId: id }}>
                      {name}
                    </Link>
                  ),
                },
                { title: text.state, cell: (router) => <NodeState node={router} /> },
                { title: text.version, cell: ({ version }) => version ?? common.notKnown },
                {
                  title: text.edgeAddress,
                  cell: ({ edgeAddress }) => <span className="fd-mono">{edgeAddress}</span>,
                },
              ]}
            />
          )}
        </AnswerView>
      </Panel>
      {isCreating ? (
        <CreateRouter
          onClose={() => setCreating(false)}
          onMade={(router) => {
            setCreating(false);
            setMade(router);
          }}
        />
      ) : null}
      <EnrollDialog
        token={made?.token}
        command={`frontdoor router enroll router.yml --jwt router.jwt`}
        onClose={() => setMade(undefined)}
      />
    </>
  );
}

function CreateRouter(props: {
  readonly onClose: () => void;
  readonly onMade: (router: { readonly name: string; readonly token: string }) => void;
}): ReactNode {
  const text = useText(meshText);
  const idempotencyKey = useIdempotencyKey();
  const { mutate, error, isPending } = useChange('createRouter', {
    refreshes: ['router'],
    onDone: ({ body }) => props.onMade(body),
  });
  return (
    <CreateNode
      title={text.newRouter}
      error={error}
      isPending={isPending}
      onClose={props.onClose}
      onSubmit={(name) => mutate({ body: { name }, idempotencyKey })}
    />
  );
}
