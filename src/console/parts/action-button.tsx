/** A change that is asked about first, and the buttons of the rows of a list. */
import { Button } from '@mantine/core';
import { useState, type ReactNode } from 'react';
import type { OperationId } from '#contract';
import type { AnsweredCall, CallInput } from '../api/call.ts';
import { useChange } from '../api/queries.ts';
import { ConfirmDialog } from './dialog.tsx';

interface ActionButtonProps {
  readonly label: string;
  /** The label with the name of the row, for people who do not see it. */
  readonly full?: string;
  readonly isDisabled?: boolean;
  /** By default that of a row of a list. */
  readonly size?: 'compact-sm' | 'sm';
}

export function ActionButton(
  props: ActionButtonProps & { readonly isPending?: boolean; readonly onClick: () => void },
): ReactNode {
  return (
    <Button
      size={props.size ?? 'compact-sm'}
      variant="default"
      disabled={props.isDisabled === true}
      loading={props.isPending === true}
      aria-label={props.full ?? props.label}
      onClick={props.onClick}
    >
      {props.label}
    </Button>
  );
}

interface ConfirmedChange<Id extends OperationId> {
  readonly operation: Id;
  readonly input: CallInput<Id>;
  /** Kinds of resources that the change concerns. */
  readonly refreshes: readonly string[];
  readonly title: string;
  /** A name that has to be typed, for what cannot be undone. */
  readonly typed?: string;
  readonly onDone?: (answer: AnsweredCall<Id>) => void;
  /** Explains the effects. */
  readonly children: ReactNode;
}

/** A button that sends a change after a question. */
export function ConfirmedAction<Id extends OperationId>(
  props: ActionButtonProps &
    ConfirmedChange<Id> & {
      /** The label of the button in the dialog; by default the same. */
      readonly action?: string;
    },
): ReactNode {
  const { label, full = label, isDisabled = false, size = 'compact-sm', action = label, ...change } = props;
  const [isAsking, setAsking] = useState(false);
  return (
    <>
      <ActionButton
        label={label}
        full={full}
        isDisabled={isDisabled}
        size={size}
        onClick={() => setAsking(true)}
      />
      {isAsking ? <ConfirmedDialog {...change} action={action} onClose={() => setAsking(false)} /> : null}
    </>
  );
}

/** The question of a change that an entry of a menu begins. */
export function ConfirmedDialog<Id extends OperationId>(
  props: ConfirmedChange<Id> & { readonly action: string; readonly onClose: () => void },
): ReactNode {
  const { operation, input, refreshes, title, action, typed, onClose } = props;
  const { mutate, error, isPending } = useChange(operation, {
    refreshes,
    onDone: (answer) => {
      onClose();
      props.onDone?.(answer);
    },
  });
  return (
    <ConfirmDialog
      title={title}
      isOpen
      onClose={onClose}
      action={action}
      typed={typed}
      error={error}
      isPending={isPending}
      onConfirm={() => mutate(input)}
    >
      {props.children}
    </ConfirmDialog>
  );
}
