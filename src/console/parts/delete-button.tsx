/** Deletes a resource on its page, after a question, and leaves the page. Lists are refreshed when it is left. */
import { Button } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import type { OperationId } from '#contract';
import type { CallInput } from '../api/call.ts';
import { refreshKind, useChange } from '../api/queries.ts';
import { useRefreshOnLeave } from '../api/refresh-on-leave.ts';
import { ConfirmDialog } from './dialog.tsx';

export function DeleteButton<Id extends OperationId>(props: {
  readonly operation: Id;
  readonly input: CallInput<Id>;
  /** The kind of the resource, as the stream of changes names it. */
  readonly kind: string;
  readonly label: string;
  readonly title: string;
  /** A name that has to be typed, for what cannot be undone. */
  readonly typed?: string | undefined;
  readonly variant?: 'filled' | 'outline';
  readonly isDisabled?: boolean;
  /** The label of the button in the dialog; by default the same. */
  readonly action?: string;
  /** Leads to another page. */
  readonly onDeleted: () => void;
  /** Explains the effects of the deletion. */
  readonly children: ReactNode;
}): ReactNode {
  const { operation, input, kind, label, onDeleted } = props;
  const [isAsking, setAsking] = useState(false);
  const client = useQueryClient();
  const noteDeletion = useRefreshOnLeave(kind);
  const { mutate, error, isPending, reset } = useChange(operation, {
    onDone: () => {
      noteDeletion();
      onDeleted();
    },
  });
  return (
    <>
      <Button
        color="red"
        variant={props.variant ?? 'filled'}
        disabled={props.isDisabled === true}
        onClick={() => {
          reset();
          setAsking(true);
        }}
      >
        {label}
      </Button>
      <ConfirmDialog
        title={props.title}
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        action={props.action ?? label}
        typed={props.typed}
        error={error}
        isPending={isPending}
        onStale={() => {
          refreshKind(client, kind);
          reset();
        }}
        onConfirm={() => mutate(input)}
      >
        {props.children}
      </ConfirmDialog>
    </>
  );
}
