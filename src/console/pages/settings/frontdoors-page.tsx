/** The frontdoors of an organization: create, rename, delete. */
import { Button } from '@mantine/core';
import { Link, useNavigate } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import type { AnswerOf } from '#contract';
import { useAnswer, useChange, useIdempotencyKey } from '../../api/queries.ts';
import { useSession } from '../../api/session.tsx';
import { ConfirmedDialog } from '../../parts/action-button.tsx';
import { AnswerView } from '../../parts/answer-view.tsx';
import { useNameFilter } from '../../parts/filters.tsx';
import { useFormInAddress } from '../../parts/form-in-address.ts';
import { ListPage } from '../../parts/list-page.tsx';
import type { ListColumn } from '../../parts/list-table.tsx';
import { partsText } from '../../parts/parts-text.ts';
import { RenameDialog } from '../../parts/rename-dialog.tsx';
import { reloadOf } from '../../parts/use-edit.ts';
import { useList } from '../../parts/use-list.ts';
import { useText } from '../../text/language.tsx';
import { NameDialog } from './name-dialog.tsx';
import { OtherOrganization, useOrganizationId } from './organization-choice.tsx';
import { settingsText } from './settings-text.ts';

type Frontdoor = AnswerOf<'getFrontdoor'>;

export function FrontdoorsPage(): ReactNode {
  const [text, common] = [useText(settingsText), useText(partsText)];
  const { may } = useSession();
  const organizationId = useOrganizationId();
  const form = useFormInAddress();
  const [renamed, setRenamed] = useState<Frontdoor | undefined>();
  const [deleted, setDeleted] = useState<Frontdoor | undefined>();
  const parameters = { organizationId };
  return (
    <ListPage
      title={text.frontdoors}
      actions={
        <Button disabled={!may('createFrontdoor')} onClick={form.open}>
          {text.newFrontdoor}
        </Button>
      }
      intro={<OtherOrganization />}
      list={useList('listFrontdoors', { parameters }, { filters: [useNameFilter()] })}
      columns={useColumns()}
      keyOf={({ id }) => id}
      nameOf={({ name }) => name}
      menuOf={(frontdoor) => [
        {
          label: text.rename,
          isDisabled: !may('changeFrontdoor'),
          onSelect: () => setRenamed(frontdoor),
        },
        {
          label: common.delete,
          isDanger: true,
          isDisabled: !may('deleteFrontdoor'),
          onSelect: () => setDeleted(frontdoor),
        },
      ]}
      empty={<p>{text.noFrontdoors}</p>}
    >
      {deleted === undefined ? null : (
        <ConfirmedDialog
          operation="deleteFrontdoor"
          input={{ parameters: { frontdoorId: deleted.id } }}
          refreshes={['frontdoor']}
          title={text.deleteFrontdoor}
          action={common.delete}
          typed={deleted.name}
          onClose={() => setDeleted(undefined)}
        >
          <p>{text.deleteFrontdoorText}</p>
        </ConfirmedDialog>
      )}
      {form.isOpen ? <CreateFrontdoor organizationId={organizationId} onClose={form.close} /> : null}
      {renamed === undefined ? null : (
        <RenameFrontdoor frontdoor={renamed} onClose={() => setRenamed(undefined)} />
      )}
    </ListPage>
  );
}

function useColumns(): readonly ListColumn<Frontdoor>[] {
  const text = useText(settingsText);
  return [
    {
      id: 'name',
      title: text.name,
      isName: true,
      share: 1.4,
      cell: ({ id, name }) => (
        <Link to="/frontdoors/$frontdoorId" params={{ frontdoorId: id }}>
          {name}
        </Link>
      ),
    },
    { id: 'id', title: text.id, cell: ({ id }) => <span className="fd-mono">{id}</span> },
  ];
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

function RenameFrontdoor({
  frontdoor: { id },
  onClose,
}: {
  readonly frontdoor: Frontdoor;
  readonly onClose: () => void;
}): ReactNode {
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
