/** One API account or OAuth client: rename, rotate with an overlap, revoke. */
import { Button, Group, NativeSelect } from '@mantine/core';
import { Link, useNavigate } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { useAnswer, useChange, useIdempotencyKey } from '../../api/queries.ts';
import { ConfirmedAction } from '../../parts/action-button.tsx';
import { AnswerView } from '../../parts/answer-view.tsx';
import { CopyText } from '../../parts/copy-text.tsx';
import { DeleteButton } from '../../parts/delete-button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Form } from '../../parts/form.tsx';
import { Facts, PageTitle, Panel } from '../../parts/page-title.tsx';
import { RenameDialog } from '../../parts/rename-dialog.tsx';
import { SecretOnceDialog } from '../../parts/secret-once.tsx';
import { ExactTime, TimeAgo } from '../../parts/time-ago.tsx';
import { reloadOf, type Editable } from '../../parts/use-edit.ts';
import { useText } from '../../text/language.tsx';
import {
  previousUntil,
  secretIn,
  type CredentialEntry,
  type CredentialKind,
  type ShownSecret,
} from './credential-kind.ts';
import { ScopeNames } from './credential-list.tsx';
import { settingsText } from './settings-text.ts';
import { UseLines } from './use-lines.tsx';

const OVERLAP_SECONDS = [0, 3_600, 86_400, 604_800] as const;

interface CredentialProps {
  readonly kind: CredentialKind;
  readonly id: string;
}

export function CredentialPage({ kind, id }: CredentialProps): ReactNode {
  const text = useText(settingsText);
  const navigate = useNavigate();
  const [isRenaming, setRenaming] = useState(false);
  const answer = useAnswer(kind.get, { parameters: { id } });
  return (
    <AnswerView answer={answer}>
      {({ body, etag }) => (
        <>
          <PageTitle title={body.name} above={<Link to={`/settings/${kind.path}`}>{text[kind.path]}</Link>}>
            <Group gap="xs">
              <Button variant="default" onClick={() => setRenaming(true)}>
                {text.rename}
              </Button>
              <Rotation kind={kind} id={id} />
              <DeleteButton
                operation={kind.revoke}
                input={{ parameters: { id } }}
                kind={kind.kind}
                label={text.revoke}
                title={kind.path === 'accounts' ? text.revokeAccount : text.revokeClient}
                typed={body.name}
                onDeleted={() => void navigate({ to: `/settings/${kind.path}` })}
              >
                <p>{text.revokeText}</p>
              </DeleteButton>
            </Group>
          </PageTitle>
          <CredentialFacts kind={kind} entry={body} />
          {isRenaming ? (
            <Rename
              kind={kind}
              now={{ body, etag }}
              reload={reloadOf(answer)}
              onClose={() => setRenaming(false)}
            />
          ) : null}
        </>
      )}
    </AnswerView>
  );
}

function CredentialFacts(props: {
  readonly kind: CredentialKind;
  readonly entry: CredentialEntry;
}): ReactNode {
  const text = useText(settingsText);
  const { kind, entry } = props;
  const until = previousUntil(entry);
  const facts: (readonly [string, ReactNode])[] = [
    [text.id, <CopyText key="id" value={entry.id} />],
    [text.scopes, <ScopeNames key="scopes" scopes={entry.scopes} />],
    [text.lastUsed, <TimeAgo key="used" at={entry.lastUsedAt} />],
    [text.created, <ExactTime key="created" at={entry.createdAt} />],
  ];
  if (until !== undefined) facts.push([text.previousUntil, <ExactTime key="until" at={until} />]);
  return (
    <Panel>
      <Facts facts={facts} />
      {until === undefined ? null : (
        <ConfirmedAction
          operation={kind.endPrevious}
          input={{ parameters: { id: entry.id } }}
          refreshes={[kind.kind]}
          label={text.endPrevious}
          action={text.revoke}
          title={text.endPrevious}
          size="sm"
        >
          <p>{text.endPreviousText}</p>
        </ConfirmedAction>
      )}
    </Panel>
  );
}

function Rename(
  props: Editable<CredentialEntry> & {
    readonly kind: CredentialKind;
    readonly onClose: () => void;
  },
): ReactNode {
  const text = useText(settingsText);
  const { kind, now, reload, onClose } = props;
  const change = useChange(kind.rename, { refreshes: [kind.kind], onDone: onClose });
  return (
    <RenameDialog
      title={text.rename}
      label={text.name}
      submit={text.rename}
      now={now}
      reload={reload}
      change={change}
      onClose={onClose}
      onSubmit={(name, ifMatch) =>
        change.mutate({ parameters: { id: now.body.id }, body: { name }, ifMatch })
      }
    />
  );
}

/** Makes another secret, which is shown once. */
function Rotation({ kind, id }: CredentialProps): ReactNode {
  const text = useText(settingsText);
  const [isOpen, setOpen] = useState(false);
  const [shown, setShown] = useState<ShownSecret | undefined>();
  return (
    <>
      <Button variant="default" onClick={() => setOpen(true)}>
        {text.rotate}
      </Button>
      {isOpen ? (
        <RotateDialog
          kind={kind}
          id={id}
          onClose={() => setOpen(false)}
          onSecret={(made) => {
            setOpen(false);
            setShown(made);
          }}
        />
      ) : null}
      <SecretOnceDialog
        title={text.rotated}
        facts={
          shown && [
            [text.id, shown.id],
            [kind.path === 'accounts' ? text.token : text.secret, shown.secret],
          ]
        }
        onClose={() => setShown(undefined)}
      >
        <UseLines kind={kind} shown={shown} />
      </SecretOnceDialog>
    </>
  );
}

function RotateDialog(
  props: CredentialProps & {
    readonly onClose: () => void;
    readonly onSecret: (shown: ShownSecret) => void;
  },
): ReactNode {
  const text = useText(settingsText);
  const { kind, id, onClose, onSecret } = props;
  const [overlapSeconds, setOverlap] = useState(0);
  const idempotencyKey = useIdempotencyKey();
  const { mutate, error, isPending } = useChange(kind.rotate, {
    refreshes: [kind.kind],
    onDone: ({ body }) => onSecret(secretIn(body)),
  });
  return (
    <Dialog title={text.rotate} isOpen onClose={onClose} size="md">
      <Form
        fields={[]}
        error={error}
        isPending={isPending}
        submit={text.rotate}
        onCancel={onClose}
        onSubmit={() => mutate({ parameters: { id }, body: { overlapSeconds }, idempotencyKey })}
      >
        <p>{text.rotateText}</p>
        <NativeSelect
          label={text.overlap}
          value={String(overlapSeconds)}
          onChange={({ currentTarget }) => setOverlap(Number(currentTarget.value))}
          data={OVERLAP_SECONDS.map((seconds) => ({
            value: String(seconds),
            label: text.overlapChoices(seconds),
          }))}
        />
      </Form>
    </Dialog>
  );
}
