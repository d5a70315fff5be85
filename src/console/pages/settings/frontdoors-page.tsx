/** The frontdoors of an organization: create, rename, delete. */
import { Button, Group } from '@mantine/core';
import { Link, useNavigate } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import type { AnswerOf } from '#contract';
import { useAnswer, useChange, useIdempotencyKey } from '../../api/queries.ts';
import { useSession } from '../../api/session.tsx';
import { AnswerView } from '../../parts/answer-view.tsx';
import { ConfirmDialog } from '../../parts/dialog.tsx';
import { Filters, TextFilter } from '../../parts/filters.tsx';
import { ListTable, PAGE_SIZE } from '../../parts/list-table.tsx';
import { PageTitle, Panel } from '../../parts/page-title.tsx';
import { partsText } from '../../parts/parts-text.ts';
import { RenameDialog } from '../../parts/rename-dialog.tsx';
import { useSearchState } from '../../parts/search-state.tsx';
import { reloadOf } from '../../parts/use-edit.ts';
import { useText } from '../../text/language.tsx';
import { NameDialog } from './name-dialog.tsx';
import { OtherOrganization, useOrganizationId } from './organization-choice.tsx';
import { settingsText } from './settings-text.ts';

type Frontdoor = AnswerOf<'getFrontdoor'>;

type Open =
  | { readonly kind: 'create' }
  | { readonly kind: 'rename' | 'delete'; readonly frontdoor: Frontdoor };

export function FrontdoorsPage(): ReactNode {
  const [text, common] = [useText(settingsText), useText(partsText)];
  const { may } = useSession();
  const control = useSearchState();
  const organizationId = useOrganizationId();
  const [open, setOpen] = useState<Open | undefined>();
  const close = () => setOpen(undefined);
  const list = useAnswer('listFrontdoors', {
    parameters: { organizationId },
    query: { name: control.textOf('name'), page: control.search['page'] ?? 0, size: PAGE_SIZE },
  });
  return (
    <>
      <PageTitle title={text.frontdoors}>
        <Button disabled={!may('createFrontdoor')} onClick={() => setOpen({ kind: 'create' })}>
          {text.newFrontdoor}
        </Button>
      </PageTitle>
      <OtherOrganization />
      <Panel>
        <Filters control={control}>
          <TextFilter control={control} name="name" label={common.filterText} />
        </Filters>
        <AnswerView answer={list}>
          {({ body }) => (
            <ListTable
              label={text.frontdoors}
              page={body}
              control={control}
              keyOf={({ id }) => id}
              empty={<p>{text.noFrontdoors}</p>}
              columns={[
                {
                  title: text.name,
                  cell: ({ id, name }) => (
                    <Link to="/frontdoors/$frontdoorId" params={{ frontdoorId: id }}>
                      {name}
                    </Link>
                  ),
                },
                { title: text.id, cell: ({ id }) => <span className="fd-mono">{id}</span> },
                {
                  title: common.more,
                  cell: (frontdoor) => (
                    <Group gap="xs">
                      <Button
                        size="compact-sm"
                        variant="default"
                        disabled={!may('changeFrontdoor')}
                        onClick={() => setOpen({ kind: 'rename', frontdoor })}
                        aria-label={`${text.rename}: ${frontdoor.name}`}
                      >
                        {text.rename}
                      </Button>
                      <Button
                        size="compact-sm"
                        variant="default"
                        disabled={!may('deleteFrontdoor')}
                        onClick={() => setOpen({ kind: 'delete', frontdoor })}
                        aria-label={`${common.delete}: ${frontdoor.name}`}
                      >
                        {common.delete}
                      </Button>
                    </Group>
                  ),
                },
              ]}
            />
          )}
        </AnswerView>
      </Panel>
      {open?.kind === 'create' ? <CreateFrontdoor organizationId={organizationId} onClose={close} /> : null}
      {open?.kind === 'rename' ? <RenameFrontdoor frontdoor={open.frontdoor} onClose={close} /> : null}
      {open?.kind === 'delete' ? <DeleteFrontdoor frontdoor={open.frontdoor} onClose={close} /> : null}
    </>
  );
}

function CreateFrontdoor(props: {
  readonly organizationId: string;
  readonly onClose: () => void;
}): ReactNode {
  const text = useText(settingsText);
  const navigate = useNavigate();
  const idempotencyKey = useIdempotencyKey();
  const { organizationId, onClose } = props;
  const { mutate, error, isPending } = useChange('createFrontdoor', {
    refreshes: ['frontdoor'],
    onDone: ({ body }) => void navigate({ to: '/frontdoors/$frontdoorId', params: { frontdoorId: body.id } }),
  });
  return (
    <NameDialog
      title={text.newFrontdoor}
      submit={text.create}
      error={error}
      isPending={isPending}
      onClose={onClose}
      onSubmit={(name) => mutate({ body: { name, organizationId }, idempotencyKey })}
    />
  );
}

interface OneProps {
  readonly frontdoor: Frontdoor;
  readonly onClose: () => void;
}

function RenameFrontdoor({ frontdoor: { id }, onClose }: OneProps): ReactNode {
  const text = useText(settingsText);
  const parameters = { frontdoorId: id };
  const answer = useAnswer('getFrontdoor', { parameters });
  const change = useChange('changeFrontdoor', { refreshes: ['frontdoor'], onDone: onClose });
  return (
    <AnswerView answer={answer}>
      {(now) => (
        <RenameDialog
          title={text.rename}
          label={text.name}
          submit={text.rename}
          now={now}
          reload={reloadOf(answer)}
          change={change}
          onClose={onClose}
          onSubmit={(name, ifMatch) => change.mutate({ parameters, body: { name }, ifMatch })}
        />
      )}
    </AnswerView>
  );
}

function DeleteFrontdoor({ frontdoor: { id, name }, onClose }: OneProps): ReactNode {
  const [text, common] = [useText(settingsText), useText(partsText)];
  const { mutate, error, isPending } = useChange('deleteFrontdoor', {
    refreshes: ['frontdoor'],
    onDone: onClose,
  });
  return (
    <ConfirmDialog
      title={text.deleteFrontdoor}
      isOpen
      onClose={onClose}
      action={common.delete}
      typed={name}
      error={error}
      isPending={isPending}
      onConfirm={() => mutate({ parameters: { frontdoorId: id } })}
    >
      <p>{text.deleteFrontdoorText}</p>
    </ConfirmDialog>
  );
}
