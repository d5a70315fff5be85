/** The gateways of the installation. */
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
import { TimeAgo } from '../../parts/time-ago.tsx';
import { useText } from '../../text/language.tsx';
import { meshText } from './mesh-text.ts';
import { CreateNode, EnrollDialog, NodeState } from './node-list.tsx';

export function GatewaysPage(): ReactNode {
  const [text, common] = [useText(meshText), useText(partsText)];
  const control = useSearchState();
  const [isCreating, setCreating] = useState(false);
  const [token, setToken] = useState<string | undefined>();
  const { page, ...filters } = control.search;
  const list = useAnswer('listGateways', { query: { ...filters, page: page ?? 0, size: PAGE_SIZE } });
  return (
    <>
      <PageTitle title={text.gateways}>
        <Button onClick={() => setCreating(true)}>{text.newGateway}</Button>
      </PageTitle>
      <Panel>
        <Filters control={control}>
          <TextFilter control={control} name="name" label={common.filterText} />
        </Filters>
        <AnswerView answer={list}>
          {({ body }) => (
            <ListTable
              label={text.gateways}
              page={body}
              control={control}
              keyOf={({ id }) => id}
              columns={[
                {
                  title: text.name,
                  sort: 'name',
                  cell: ({ id, name }) => (
                    <Link to="/mesh/gateways/$gatewayId" params={{ gatewayId: id }}>
                      {name}
                    </Link>
                  ),
                },
                { title: text.state, cell: (gateway) => <NodeState node={gateway} /> },
                { title: text.version, cell: ({ version }) => version ?? common.notKnown },
                { title: text.created, cell: ({ createdAt }) => <TimeAgo at={createdAt} /> },
              ]}
            />
          )}
        </AnswerView>
      </Panel>
      {isCreating ? (
        <CreateGateway
          onClose={() => setCreating(false)}
          onMade={(made) => {
            setCreating(false);
            setToken(made);
          }}
        />
      ) : null}
      <EnrollDialog
        token={token}
        command="frontdoor gateway --enrollment-jwt gateway.jwt"
        onClose={() => setToken(undefined)}
      />
    </>
  );
}

function CreateGateway(props: {
  readonly onClose: () => void;
  readonly onMade: (token: string) => void;
}): ReactNode {
  const text = useText(meshText);
  const idempotencyKey = useIdempotencyKey();
  const { mutate, error, isPending } = useChange('createGateway', {
    refreshes: ['gateway'],
    onDone: ({ body }) => props.onMade(body.token),
  });
  return (
    <CreateNode
      title={text.newGateway}
      error={error}
      isPending={isPending}
      onClose={props.onClose}
      onSubmit={(name) => mutate({ body: { name }, idempotencyKey })}
    />
  );
}
