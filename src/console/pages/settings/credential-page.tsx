/** One API account or OAuth client: rename, rotate with an overlap, revoke. */
import { Button, Group, NativeSelect } from '@mantine/core';
import { Link, useNavigate } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { useIdempotencyKey } from '../../api/queries.ts';
import { AnswerView } from '../../parts/answer-view.tsx';
import { CopyText } from '../../parts/copy-text.tsx';
import { ConfirmDialog, Dialog } from '../../parts/dialog.tsx';
import { Form } from '../../parts/form.tsx';
import { Facts, PageTitle, Panel } from '../../parts/page-title.tsx';
import { RenameDialog } from '../../parts/rename-dialog.tsx';
import { SecretOnceDialog } from '../../parts/secret-once.tsx';
import { ExactTime, TimeAgo } from '../../parts/time-ago.tsx';
import { reloadOf, type Editable } from '../../parts/use-edit.ts';
import { useText } from '../../text/language.tsx';
import type { CredentialEntry, CredentialKind, ShownSecret } from './credential-kind.ts';
import { ScopeNames } from './credential-list.tsx';
import { settingsText } from './settings-text.ts';

const OVERLAP_SECONDS = [0, 3_600, 86_400, 604_800] as const;

type Act = 'rename' | 'rotate' | 'endPrevious' | 'revoke';

export function CredentialPage({
  kind,
  id,
}: {
  readonly kind: CredentialKind;
  readonly id: string;
}): ReactNode {
  const text = useText(settingsText);
  const [act, setAct] = useState<Act | undefined>();
  const [shown, setShown] = useState<ShownSecret | undefined>();
  const answer = kind.useOne(id);
  const close = () => setAct(undefined);
  const isAccount = kind.path === 'accounts';
  return (
    <AnswerView answer={answer}>
      {({ body, etag }) => {
        const until = kind.previousUntil(body);
        return (
          <>
            <PageTitle title={body.name} above={<Link to={`/settings/${kind.path}`}>{text[kind.path]}</Link>}>
              <Group gap="xs">
                <Button variant="default" onClick={() => setAct('rename')}>
                  {text.rename}
                </Button>
                <Button variant="default" onClick={() => setAct('rotate')}>
                  {text.rotate}
                </Button>
                <Button color="red" onClick={() => setAct('revoke')}>
                  {text.revoke}
                </Button>
              </Group>
            </PageTitle>
            <Panel>
              <Facts
                facts={[
                  [text.id, <CopyText key="id" value={body.id} />],
                  [text.scopes, <ScopeNames key="scopes" scopes={body.scopes} />],
                  [text.lastUsed, <TimeAgo key="used" at={body.lastUsedAt} />],
                  [text.created, <ExactTime key="created" at={body.createdAt} />],
                  ...(until === undefined
                    ? []
                    : [[text.previousUntil, <ExactTime key="until" at={until} />] as const]),
                ]}
              />
              {until === undefined ? null : (
                <Button mt="md" variant="default" onClick={() => setAct('endPrevious')}>
                  {text.endPrevious}
                </Button>
              )}
            </Panel>
            {act === 'rename' ? (
              <Rename kind={kind} now={{ body, etag }} reload={reloadOf(answer)} onClose={close} />
            ) : null}
            {act === 'rotate' ? (
              <Rotate
                kind={kind}
                id={id}
                onClose={close}
                onSecret={(made) => {
                  close();
                  setShown(made);
                }}
              />
            ) : null}
            {act === 'endPrevious' ? <EndPrevious kind={kind} id={id} onClose={close} /> : null}
            {act === 'revoke' ? <Revoke kind={kind} entry={body} onClose={close} /> : null}
            <SecretOnceDialog
              title={text.rotated}
              facts={
                shown && [
                  [text.id, shown.id],
                  [isAccount ? text.token : text.secret, shown.secret],
                ]
              }
              onClose={() => setShown(undefined)}
            />
          </>
        );
      }}
    </AnswerView>
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
  const change = kind.useRename(onClose);
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

function Rotate(props: {
  readonly kind: CredentialKind;
  readonly id: string;
  readonly onClose: () => void;
  readonly onSecret: (shown: ShownSecret) => void;
}): ReactNode {
  const text = useText(settingsText);
  const { kind, id, onClose, onSecret } = props;
  const [overlapSeconds, setOverlap] = useState(0);
  const idempotencyKey = useIdempotencyKey();
  const { mutate, error, isPending } = kind.useRotate(onSecret);
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

function EndPrevious(props: {
  readonly kind: CredentialKind;
  readonly id: string;
  readonly onClose: () => void;
}): ReactNode {
  const text = useText(settingsText);
  const { mutate, error, isPending } = props.kind.useEndPrevious(props.onClose);
  return (
    <ConfirmDialog
      title={text.endPrevious}
      isOpen
      onClose={props.onClose}
      action={text.end}
      error={error}
      isPending={isPending}
      onConfirm={() => mutate({ parameters: { id: props.id } })}
    >
      <p>{text.endPreviousText}</p>
    </ConfirmDialog>
  );
}

function Revoke(props: {
  readonly kind: CredentialKind;
  readonly entry: CredentialEntry;
  readonly onClose: () => void;
}): ReactNode {
  const text = useText(settingsText);
  const navigate = useNavigate();
  const { kind, entry, onClose } = props;
  const { mutate, error, isPending } = kind.useRevoke(() => void navigate({ to: `/settings/${kind.path}` }));
  return (
    <ConfirmDialog
      title={kind.path === 'accounts' ? text.revokeAccount : text.revokeClient}
      isOpen
      onClose={onClose}
      action={text.revoke}
      typed={entry.name}
      error={error}
      isPending={isPending}
      onConfirm={() => mutate({ parameters: { id: entry.id } })}
    >
      <p>{text.revokeText}</p>
    </ConfirmDialog>
  );
}
