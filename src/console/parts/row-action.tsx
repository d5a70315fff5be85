/** What can be done with one row of a list. */
import { Button } from '@mantine/core';
import { useState, type ReactNode } from 'react';
import type { OperationId } from '#contract';
import type { CallInput } from '../api/call.ts';
import { useChange } from '../api/queries.ts';
import { ConfirmDialog } from './dialog.tsx';

interface RowButtonProps {
  readonly label: string;
  /** The label with the name of the row, for people who do not see it. */
  readonly full: string;
  readonly isDisabled?: boolean;
}

export function RowButton(
  props: RowButtonProps & { readonly isPending?: boolean; readonly onClick: () => void },
): ReactNode {
  return (
    <Button
      size="compact-sm"
      variant="default"
      disabled={props.isDisabled === true}
      loading={props.isPending === true}
      aria-label={props.full}
      onClick={props.onClick}
    >
      {props.label}
    </Button>
  );
}

/** Changes the row after a question. */
export function ConfirmedRowAction<Id extends OperationId>(
  props: RowButtonProps & {
    readonly operation: Id;
    readonly input: CallInput<Id>;
    /** Kinds of resources that the change concerns. */
    readonly refreshes: readonly string[];
    readonly title: string;
    /** A name that has to be typed, for what cannot be undone. */
    readonly typed?: string;
    /** Explains the effects. */
    readonly children: ReactNode;
  },
): ReactNode {
  const { operation, input, refreshes, title, label } = props;
  const [isAsking, setAsking] = useState(false);
  const close = () => setAsking(false);
  const { mutate, error, isPending } = useChange(operation, { refreshes, onDone: close });
  return (
    <>
      <RowButton
        label={label}
        full={props.full}
        isDisabled={props.isDisabled === true}
        onClick={() => setAsking(true)}
      />
      {isAsking ? (
        <ConfirmDialog
          title={title}
          isOpen
          onClose={close}
          action={label}
          typed={props.typed}
          error={error}
          isPending={isPending}
          onConfirm={() => mutate(input)}
        >
          {props.children}
        </ConfirmDialog>
      ) : null}
    </>
  );
}
