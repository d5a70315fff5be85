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

/** Sends a change after a question. */
export function ConfirmedAction<Id extends OperationId>(
  props: ActionButtonProps & {
    readonly operation: Id;
    readonly input: CallInput<Id>;
    /** Kinds of resources that the change concerns. */
    readonly refreshes: readonly string[];
    readonly title: string;
    /** The label of the button in the dialog; by default the same. */
    readonly action?: string;
    /** A name that has to be typed, for what cannot be undone. */
    readonly typed?: string;
    readonly onDone?: (answer: AnsweredCall<Id>) => void;
    /** Explains the effects. */
    readonly children: ReactNode;
  },
): ReactNode {
  const { operation, input, refreshes, title, label } = props;
  const [isAsking, setAsking] = useState(false);
  const close = () => setAsking(false);
  const { mutate, error, isPending } = useChange(operation, {
    refreshes,
    onDone: (answer) => {
      close();
      props.onDone?.(answer);
    },
  });
  return (
    <>
      <ActionButton
        label={label}
        full={props.full ?? label}
        isDisabled={props.isDisabled === true}
        size={props.size ?? 'compact-sm'}
        onClick={() => setAsking(true)}
      />
      {isAsking ? (
        <ConfirmDialog
          title={title}
          isOpen
          onClose={close}
          action={props.action ?? label}
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
